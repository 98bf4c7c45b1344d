# SPDX-License-Identifier: Apache-2.0
"""What is done to the data cache of a core around the steps of other devices."""

from enum import StrEnum

from atoll.records import dataclass


class Operation(StrEnum):
    """What is done to the lines of a buffer."""

    CLEAN = "clean"
    """Write back what the core stored there."""
    INVALIDATE = "invalidate"
    """Forget them: the next load takes them from memory."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """An operation on all lines of a buffer, in the cache of a core, by that core."""

    core: str
    operation: Operation
    buffer: str

    def __str__(self) -> str:
        return f"{self.core} {self.operation} {self.buffer}"
