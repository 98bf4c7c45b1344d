"""What the process of a native host and the model with its accelerators tell each other."""

from collections.abc import Mapping
from dataclasses import dataclass

SOCKET = "ATOLL_HOST_SOCKET"
"""Environment variable with the file descriptor of the model's end of their socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command list for one accelerator.

    Attributes:
        before: bytes to put into the memories first, by address.
        start: register writes (address, value) that end by starting the list.
        irq: line that rises when the list has ended.
        read: addresses of the registers to read then.
        finish: register writes that take the interrupt back.
        after: (address, size) of the bytes to bring back.
        max_cycles: give up after so long.
        cycle_time: picoseconds of a clock cycle.
    """

    before: Mapping[int, bytes]
    start: tuple[tuple[int, int], ...]
    irq: int
    read: tuple[int, ...]
    finish: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    max_cycles: int
    cycle_time: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a job.

    Attributes:
        ended: the interrupt came.
        registers: values read, in the job's order.
        memory: bytes brought back, by address.
        counts, spans: the chip's whole log; see `monitors`.
        cycles: from the start of the list to its end.
    """

    ended: bool
    registers: tuple[int, ...]
    memory: Mapping[int, bytes]
    counts: bytes
    spans: bytes
    cycles: int
