# SPDX-License-Identifier: Apache-2.0
"""What a core with memory protection leaves behind after a trap.

Three words begin its data region: the cause, the address that the failed access was to, and that
of the instruction.
"""

from atoll.records import dataclass
from atoll.resolve.soc import Cpu, Region, RegionKind

RECORD_SIZE = 16


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """What a trap was about.

    Attributes:
        cause: in the core's own numbers.
        address: that the access was to.
        instruction: where it is.
    """

    cause: int
    address: int
    instruction: int


def record_of(cpu: Cpu) -> Region:
    """Return where a core with memory protection keeps its record."""
    return Region(
        name=f"{cpu.name}.fault",
        kind=RegionKind.DATA,
        memory=cpu.data.memory,
        origin=cpu.data.origin,
        size=RECORD_SIZE,
    )


def read_record(data: bytes) -> FaultRecord:
    """Return what the bytes of a record say."""
    words = (int.from_bytes(data[offset : offset + 4], "little") for offset in (0, 4, 8))
    return FaultRecord(*words)
