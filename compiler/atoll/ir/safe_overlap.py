# SPDX-License-Identifier: Apache-2.0
"""How far a result may lie over an operand within one step."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, order=True)
class SafeOverlap:
    """The step writes no byte of `written` over a byte of `read` that it still needs.

    That holds as soon as `read` starts `distance` bytes or more above the start of `written`;
    it says nothing of other distances. The two may then share bytes in this step, provided that
    `read` is not needed later and `written` held nothing before.

    Attributes:
        written: a buffer that the step writes.
        read: a buffer that it reads.
        distance: bytes, 0 or more.
    """

    written: str
    read: str
    distance: int

    def __str__(self) -> str:
        return f"{self.written} + {self.distance} <= {self.read}"
