# SPDX-License-Identifier: Apache-2.0
"""What goes into a simulation of firmware, and what comes out."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.records import dataclass
from atoll_sim.protocol.records import AccessKind

if TYPE_CHECKING:  # the bench inside the simulator reads this, and waits for each import
    from atoll.report.result import Violation
    from atoll.resolve.soc import ResolvedSoc
    from atoll_sim.shadow.table import ShadowTable


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
    states: tuple[Buffer, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnBench:
    """A user's cocotb test that runs beside the firmware.

    Attributes:
        environment: of the model's process, over that of Atoll's bench.
        folder: takes the log, and what the test leaves.
    """

    environment: Mapping[str, str]
    folder: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """How a simulation records waveforms; see `waves.recording`.

    Attributes:
        file: where to, in the format that the executable is built for.
        settings: lines for recorder.cpp.
        watch: called about once a second while the simulation runs.
    """

    file: Path
    settings: str
    watch: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was recorded.

    Attributes:
        first: first cycle in the file.
        last: last cycle in the file; 0 if there is none.
        full: recording ended early, at the limit of the file's size.
    """

    path: Path
    size: int
    first: int
    last: int
    full: bool

    def __str__(self) -> str:
        size = f"{self.path}, {self.size / 10**6:,.1f} MB"
        if not self.last:
            return f"waves: {size}, no cycle: the run has none of those asked for"
        stopped = "; stopped at the limit of its size" if self.full else ""
        return f"waves: {size}, cycles {self.first:,} to {self.last:,}{stopped}"


MAX_CYCLES = 10**10
STALL_CYCLES = 10**8
START_SEED = 1
"""Decides what begins with random values, unless a run has another seed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a description leaves open, and RTL must work with.

    Attributes:
        seed: decides the values with which registers and memories begin.
        hold: share of the bus's cycles, drawn at random, in which it takes no new request of an
            accelerator: only of those that a native host drives.
    """

    seed: int = START_SEED
    hold: float = 0


USUAL = Conditions()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimRequest:
    """A simulation to run.

    Attributes:
        executable: the model, from `atoll_sim.build.model`.
        elves: the firmware: one file for each core that has any, the host's first.
        run_dir: folder for this run's files; made if missing, its files are overwritten.
        samples: for each sample the bytes of every input buffer, by its name.
        inputs: where the bench writes a sample before it asks for a run.
        outputs: what it reads after each run.
        snapshots: what it reads at the end of each operator, by the operator's number.
        states: what nobody but operators and the reset function may touch.
        table: what accesses are held against; None watches nothing.
        more: models that run in turn after the first; sample k is for model k modulo their number.
        max_cycles: the simulation stops here at the latest.
        stall_cycles: it stops after so many cycles without an event of the firmware.
        max_seconds: wall-clock limit of the whole process.
        windows: what the memory map has wrong on purpose; see `chip.memory_map`.
        waves: record waveforms; the executable must be built for it.
        watch: called about twice a second while the simulation runs.
        stand_ins: file descriptor over which models of accelerators are asked; -1 without any.
        start_seed: decides the values with which registers and memories of RTL begin.
        bench: a user's test; the executable must be built for it.
    """

    executable: Path
    elves: tuple[Path, ...]
    soc: "ResolvedSoc"
    run_dir: Path
    samples: tuple[Mapping[str, bytes], ...]
    inputs: tuple[Buffer, ...]
    outputs: tuple[Buffer, ...]
    snapshots: Mapping[int, tuple[Buffer, ...]] = field(default_factory=dict)
    states: tuple[Buffer, ...] = ()
    table: "ShadowTable | None" = None
    more: tuple[Turn, ...] = ()
    max_cycles: int = MAX_CYCLES
    stall_cycles: int = STALL_CYCLES
    max_seconds: float = 3600.0
    windows: Mapping[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    waves: Recording | None = None
    watch: Callable[[], None] = lambda: None
    stand_ins: int = -1
    start_seed: int = START_SEED
    bench: OwnBench | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All models, in the order in which they run."""
        first = Turn(
            inputs=self.inputs,
            outputs=self.outputs,
            snapshots=self.snapshots,
            states=self.states,
        )
        return (first, *self.more)


class Stop(StrEnum):
    """Why a simulation ended."""

    EXIT = "exit"
    TRAP = "trap"
    STALL = "stall"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """What one master did to memory in one phase.

    Attributes:
        accesses: requests that the bus accepted.
        transferred: bytes that they moved, repetitions included.
        last: cycle of the last of them, 0 where no clock ran.
        spans: the bytes touched, as addresses; in order, apart from each other.
        by_memory: `transferred` by the first address of each memory; None where nobody counted it.
    """

    master: str
    kind: AccessKind
    accesses: int
    transferred: int
    spans: tuple[range, ...]
    last: int = 0
    by_memory: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """The time between two TRACE events.

    Attributes:
        sample: number of the run it belongs to, or None outside of any run.
        operators: numbers of the operators under way, in the order in which they began.
        begin, end: cycles of the two events; the first phase begins at 0.
        instructions: that all cores ran in it; None where they were not counted.
    """

    sample: int | None
    operators: tuple[int, ...]
    begin: int
    end: int
    touched: tuple[Touched, ...]
    instructions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An interrupt line in a run.

    Attributes:
        source: the device that raises it, or the guard.
        core: where it leads.
        number: of the line there.
        pulses: the cycles at which it rose and fell; None for a fall that did not come.
    """

    source: str
    core: str
    number: int
    pulses: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """An access that the plan does not allow.

    Attributes:
        model: number of the model among those that run in turn; None before the first run.
    """

    violation: "Violation"
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
        stacks: the bytes at the end of each stack of the cores with firmware, lowest address first,
            by `stack_name`; and the record of a trap of cores with memory protection.
        unpainted: how many bytes of a stack its core has not written, by `stack_name`: a watermark
            counts where it is 0.
        text: what the firmware printed.
        trapped: the core that met an illegal instruction or address, or None.
        cycles: clock cycles simulated.
        wall_seconds: from the release of reset to the end.
        lines: the interrupt lines of the chip; None where nobody saw them.
        heat: for the first run of each model the bytes read and written at an address and behind
            it, see `HEAT_BYTES`; empty where nobody counted.
        occasions: how often an accelerator could have broken a rule of its ports, by its name and
            the rule's number; what no such rule watches is not here.
        recorded: the waveforms, if any were asked for.
        notes: what Verilator warned of in the RTL, and what the RTL printed.
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
    lines: tuple[Line, ...] | None = None
    heat: tuple[Mapping[int, tuple[int, int]], ...] = ()
    occasions: Mapping[tuple[str, int], int] = field(default_factory=dict)
    recorded: Recorded | None = None
    unpainted: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def cycles_per_second(self) -> float:
        """Simulated cycles for each second of wall-clock time."""
        return self.cycles / self.wall_seconds if self.wall_seconds else 0.0
