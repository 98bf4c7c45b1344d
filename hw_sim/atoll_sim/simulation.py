"""What goes into a simulation of firmware, and what comes out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from atoll.report.result import Violation
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.shadow_table import ShadowTable


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes of one memory with a name."""

    name: str
    address: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The buffers of one of several models that the firmware runs in turn; see `SimRequest`."""

    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    snapshots: Mapping[int, tuple[Buffer, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimRequest:
    """A simulation to run.

    Attributes:
        executable: the model, from `atoll_sim.build`.
        elf: the firmware.
        run_dir: folder for this run's files; made if missing, its files are overwritten.
        samples: for each sample the bytes of every input buffer, by its name.
        inputs: where the bench writes a sample before it asks for a run.
        outputs: what it reads after each run.
        snapshots: what it reads at the end of each operator, by the operator's number.
        table: what accesses are held against; None watches nothing.
        more: models that run in turn after the first; sample k is for model k modulo their number.
        max_cycles: the simulation stops here at the latest.
        stall_cycles: it stops after so many cycles without an event of the firmware.
        max_seconds: wall-clock limit of the whole process.
        waves: write ``waves.vcd``; the executable must be built for it.
    """

    executable: Path
    elf: Path
    soc: ResolvedSoc
    run_dir: Path
    samples: tuple[Mapping[str, bytes], ...]
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    snapshots: Mapping[int, tuple[Buffer, ...]] = field(default_factory=dict)
    table: ShadowTable | None = None
    more: tuple[Turn, ...] = ()
    max_cycles: int = 10**10
    stall_cycles: int = 10**8
    max_seconds: float = 3600.0
    waves: bool = False

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All models, in the order in which they run."""
        first = Turn(inputs=self.inputs, outputs=self.outputs, snapshots=self.snapshots)
        return (first, *self.more)


class Stop(StrEnum):
    """Why a simulation ended."""

    EXIT = "exit"
    TRAP = "trap"
    STALL = "stall"
    LIMIT = "limit"


class AccessKind(StrEnum):
    """What a master did with the bytes it touched."""

    READ = "read"
    WRITE = "write"
    FETCH = "fetch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What one master did to memory in one phase.

    Attributes:
        accesses: requests that the bus accepted.
        transferred: bytes that they moved, repetitions included.
        spans: the bytes touched, as addresses; in order, apart from each other.
    """

    master: str
    kind: AccessKind
    accesses: int
    transferred: int
    spans: tuple[range, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """The time between two TRACE events.

    Attributes:
        sample: number of the run it belongs to, or None outside of any run.
        operators: numbers of the operators under way, in the order in which they began.
        begin, end: cycles of the two events; the first phase begins at 0.
    """

    sample: int | None
    operators: tuple[int, ...]
    begin: int
    end: int
    touched: tuple[Touched, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An access that the plan does not allow.

    Attributes:
        model: number of the model among those that run in turn; None before the first run.
    """

    violation: Violation
    model: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SimResult:
    """What a simulation did.

    Attributes:
        stop: why it ended; only `Stop.EXIT` is the firmware's own end.
        exit_status: what the firmware wrote to EXIT, or None.
        results: what it wrote to RESULT, in order: one per run.
        outputs: for each finished run the bytes of every output buffer.
        layers: for each run begun, by operator number, the bytes of its snapshot buffers.
        phases: all phases, in order.
        findings: what broke the plan, in the order of the first access of each; at most 1,000.
        findings_total: accesses that broke it.
        stacks: the bytes of each core's stack at the end, lowest address first.
        text: what the firmware printed.
        trapped: the core that met an illegal instruction or address, or None.
        cycles: clock cycles simulated.
        wall_seconds: from the release of reset to the end.
    """

    stop: Stop
    exit_status: int | None
    results: tuple[int, ...]
    outputs: tuple[Mapping[str, bytes], ...]
    layers: tuple[Mapping[int, Mapping[str, bytes]], ...]
    phases: tuple[Phase, ...]
    findings: tuple[Finding, ...]
    findings_total: int
    stacks: Mapping[str, bytes]
    text: str
    trapped: str | None
    cycles: int
    wall_seconds: float

    @property
    def cycles_per_second(self) -> float:
        """Simulated cycles for each second of wall-clock time."""
        return self.cycles / self.wall_seconds if self.wall_seconds else 0.0
