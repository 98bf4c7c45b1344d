"""`Execution`: what a run did, whichever simulator did it. Checks and reports read only this."""

from collections.abc import Mapping
from dataclasses import dataclass, field

BETWEEN = -1
"""Operator number of what happens between operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """Bytes that one master touched during one phase.

    Attributes:
        master: the device.
        kind: ``read``, ``write`` or ``fetch``.
        spans: merged half-open address ranges, ascending; reads cover whole bus words.
        accesses: bus beats.
    """

    master: str
    kind: str
    spans: tuple[tuple[int, int], ...]
    accesses: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseTrace:
    """One operator, or the time between two.

    Attributes:
        operator: number of the operator, or `BETWEEN`.
        device: ordinal of the device that ran it, or -1.
        begin, end: cycles; 0 where no clock runs.
    """

    operator: int
    device: int
    begin: int
    end: int
    touches: tuple[Touch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """An access that a firewall refused."""

    master: str
    operator: int
    address: int
    write: bool
    cycle: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRun:
    """What one sample left behind.

    Attributes:
        status: return value of the run function, 0 if all is well.
        outputs: bytes of each output buffer.
        layers: bytes of each written buffer, by operator number, at the end of that operator.
    """

    status: int
    outputs: Mapping[str, bytes]
    layers: Mapping[int, Mapping[str, bytes]]
    phases: tuple[PhaseTrace, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A whole run.

    Attributes:
        start: phases before the first sample and after the last.
        stack: bytes of each core's stack region at the end, by device; painted at the start.
        total_cycles: from reset to exit; 0 where no clock ran.
        wall: seconds by part.
    """

    samples: tuple[SampleRun, ...]
    start: tuple[PhaseTrace, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    stack: Mapping[str, bytes] = field(default_factory=dict)
    total_cycles: int = 0
    uart: str = ""
    wall: Mapping[str, float] = field(default_factory=dict)
