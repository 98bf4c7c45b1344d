# SPDX-License-Identifier: Apache-2.0
"""What is done to the data cache of a device around the steps of others."""

from enum import StrEnum

from atoll.records import dataclass


class Operation(StrEnum):
    """What is done to the lines of a buffer."""

    CLEAN = "clean"
    """Write back what the device stored there."""
    INVALIDATE = "invalidate"
    """Forget them: the next load takes them from memory."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """An operation on all lines of a buffer, in the cache of a device.

    A core does it itself; for an accelerator the host does.
    """

    device: str
    operation: Operation
    buffer: str

    def __str__(self) -> str:
        return f"{self.device} {self.operation} {self.buffer}"
