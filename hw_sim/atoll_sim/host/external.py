# SPDX-License-Identifier: Apache-2.0
"""What the process of a native host and the model with its accelerators tell each other."""

from collections.abc import Mapping

from atoll.records import dataclass

SOCKET = "ATOLL_HOST_SOCKET"
"""Environment variable with the file descriptor of the model's end of their socket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Do:
    """One thing that the host does with a register or window.

    Attributes:
        address: where.
        value: what is written; None: it is read.
        mask, equals: it is read until its bits under `mask` are `equals`.
    """

    address: int
    value: int | None = None
    mask: int = 0
    equals: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command list for one accelerator, or what its program does for one operator.

    Attributes:
        look: addresses of registers to read before anything is done with the accelerator.
        before: bytes to put into the memories first, by address.
        start: what the host does; for a list it ends by starting it.
        irq: line that rises when the list has ended; None: it ends with `start`.
        read: addresses of the registers to read then.
        finish: register writes that take the interrupt back.
        after: (address, size) of the bytes to bring back.
        reset: cycles after its begin at which the chip is reset, wherever `start` has come to;
            nothing else follows then. None: it is not.
        max_cycles: give up after so long.
        cycle_time: picoseconds of a clock cycle.
    """

    look: tuple[int, ...]
    before: Mapping[int, bytes]
    start: tuple[Do, ...]
    irq: int | None
    read: tuple[int, ...]
    finish: tuple[tuple[int, int], ...]
    after: tuple[tuple[int, int], ...]
    max_cycles: int
    cycle_time: int
    reset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a job.

    Attributes:
        ended: the interrupt came, and all that was waited for.
        awaited: what did not come, if it is a register, and what was read there at last.
        taken: what reads of `start` without a mask returned.
        registers: values read, in the job's order.
        memory: bytes brought back, by address.
        counts, spans: the chip's whole log; see `monitors`.
        findings: what broke a rule of ports so far; see `shadow.records.FINDING`.
        cycles: from the start of the list to its end.
    """

    ended: bool
    awaited: tuple[Do, int] | None
    taken: tuple[int, ...]
    registers: tuple[int, ...]
    memory: Mapping[int, bytes]
    counts: bytes
    spans: bytes
    findings: bytes
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What the model says when there are no more jobs.

    Attributes:
        findings: records of all that broke a rule of ports.
        occasions: records of how often each such rule could have been broken.
    """

    findings: bytes
    occasions: bytes
