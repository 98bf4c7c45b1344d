# SPDX-License-Identifier: Apache-2.0
"""A chip as it is simulated: what `plan` decides and `generate` writes down."""

from collections.abc import Mapping, Sequence

from atoll.isa.function_unit import FunctionUnit
from atoll.records import dataclass
from atoll.resolve.soc import CoreSpec, Engine, ResolvedSoc

PICOSECONDS = 10**12
FEW_WINDOWS = 4
"""Each firewall has room for so many windows at least."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one master reaches at the addresses `span`: a port of a memory, or a register block.

    Attributes:
        index: selects the port of a memory's signals, such as ``[1]``, else empty.
        span: empty if the master reaches nothing of it.
        alias: of a view, the master sees the same bytes elsewhere too.
    """

    signal: str
    index: str
    span: range
    alias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltMemory:
    """A memory as it is built.

    Attributes:
        room: bytes of its banks; no less than it has.
        word_bytes: bytes that each bank moves per cycle: the memory's width, at most a beat.
        ports: signals of the masters.
    """

    name: str
    signal: str
    span: range
    room: int
    word_bytes: int
    banks: int
    read_latency: int
    writable: bool
    ports: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mailbox:
    """The mailbox of a core as it is built.

    Attributes:
        name: the core.
        host: signals of the host's port.
        core: signals of the core's port.
        line: interrupt line at the core.
        holds: it keeps the core in reset until the host has loaded it.
    """

    name: str
    host: str
    core: str
    line: int
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareInterrupts:
    """The registers ``msip`` of a chip, by which cores interrupt each other.

    Attributes:
        span: addresses, from the word of hart 0 to that of the last one that is interrupted.
        ports: cores that write them, in the order of their ports.
        harts: number of each core that is interrupted.
    """

    span: range
    ports: tuple[str, ...]
    harts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupt:
    """An interrupt line.

    Attributes:
        source: the device that raises it, or the guard.
        core: where it leads.
        line: its number there.
        signal: as the core has it.
    """

    source: str
    core: str
    line: int
    signal: str


@dataclass(frozen=True, slots=True)
class Strap:
    """An input of the top level that takes addresses when the simulation begins.

    Attributes:
        signal: the input, without ``_i``.
        spans: what it takes; it has room for `count`.
    """

    signal: str
    spans: tuple[range, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock of the top level.

    Attributes:
        signal: its input, without ``_i``.
        hertz: its frequency.
    """

    signal: str
    hertz: int

    @property
    def half_period(self) -> int:
        """Return the picoseconds of half a cycle."""
        return PICOSECONDS // (2 * self.hertz)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPort:
    """A port of an accelerator to memory.

    Attributes:
        name: how the names of its signals begin.
        protocol: see `atoll.resolve.specs.DataPort`.
        bytes: of a beat.
    """

    name: str
    protocol: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """A core or an accelerator as it is built; beside an external host no core is.

    Attributes:
        index: its number in the monitors.
        readable: addresses it may read, in order, apart from each other.
        writable: likewise for writing.
        parameters: SystemVerilog parameters of its module, with their values.
        views: where it sees memories and registers that it does not see where the bus has them.
        unit: the function unit beside a core, if it has one.
        ports: an accelerator's ports to memory.
        interrupts: signal with the interrupt lines of a core.
        clock: the input, without ``_i``, of a clock of its own; "" if it has the host's.
        stand_in: a software model plays it.
        held: a core that stays in reset until its host has loaded it.
    """

    name: str
    signal: str
    index: int
    readable: tuple[range, ...]
    writable: tuple[range, ...]
    targets: tuple[Target, ...]
    views: tuple[Target, ...]
    core: CoreSpec | None
    npu: Engine | None
    unit: FunctionUnit | None = None
    parameters: Mapping[str, str]
    ports: tuple[DataPort, ...]
    interrupts: str
    clock: str = ""
    stand_in: bool = False
    held: bool = False

    @property
    def port(self) -> str:
        """Return the signals at its module: those of the bus, or beyond a crossing to it."""
        return f"own_{self.name}" if self.clock else self.signal

    @property
    def reset(self) -> str:
        """Return the reset of its module."""
        return f"{self.port}_rst_n" if self.clock else self.bus_reset

    @property
    def bus_reset(self) -> str:
        """Return its reset at the clock of the bus."""
        return f"{self.signal}_run_rst_n" if self.held else "rst_n"

    @property
    def straps(self) -> tuple[Strap, ...]:
        """Return what it may read and write, where its targets lie, and where it sees memories."""
        targets = tuple(target.span for target in self.targets)
        views = tuple(view.span for view in self.views)
        return (
            _windows(f"{self.signal}_readable", self.readable),
            _windows(f"{self.signal}_writable", self.writable),
            Strap(f"{self.signal}_targets", targets, len(targets)),
            *([Strap(f"{self.signal}_views", views, len(views))] if views else ()),
        )


def _windows(signal: str, spans: Sequence[range]) -> Strap:
    """Return a strap with room for a few windows more, so that one model serves many plans."""
    return Strap(signal, tuple(spans), max(FEW_WINDOWS, 1 << (len(spans) - 1).bit_length()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A whole chip as it is built.

    Attributes:
        data_bytes: bytes of a bus beat.
        software: None if no core is interrupted by software.
        blocks: addresses of the register blocks at the host, by their signal, and of those that
            cores share.
        aliases: bytes of memories on the bus that masters see elsewhere too, by a name.
        slaves: signals of the register blocks' ports.
        lines: signal of each interrupt line at the host, by its number.
        interrupts: these and those at other cores.
        external_host: the test bench makes the host's accesses; there is no core.
        waves: waveforms show the operators by name.
        faults: the top level has ports through which a bench makes hardware faults.
        exported: for other tools: nothing in it is for the simulator, and the top level has ports
            of the console's registers.
        bench: for a user's bench: the top level has ports through which it holds up requests, and
            hears of findings.
        proven: for a proof of who reaches what: in the place of each device stands whatever asks
            for anything; exported, too.
    """

    soc: ResolvedSoc
    data_bytes: int
    masters: tuple[Master, ...]
    memories: tuple[BuiltMemory, ...]
    mailboxes: tuple[Mailbox, ...]
    software: SoftwareInterrupts | None
    blocks: Mapping[str, range]
    slaves: tuple[str, ...]
    lines: Mapping[int, str]
    interrupts: tuple[Interrupt, ...]
    external_host: bool
    aliases: Mapping[str, range]
    waves: bool = False
    faults: bool = False
    exported: bool = False
    bench: bool = False
    proven: bool = False

    @property
    def watched(self) -> bool:
        """Tell whether monitors look at its devices."""
        return not (self.faults or self.exported)

    @property
    def throttled(self) -> bool:
        """Tell whether a bench can hold up requests."""
        return self.bench or (self.external_host and not (self.faults or self.exported))

    @property
    def clocks(self) -> tuple[Clock, ...]:
        """Return the host's clock, which is the bus's, then those of devices with another one."""
        others = (Clock(m.clock, self.soc.device(m.name).clock) for m in self.masters if m.clock)
        return (Clock("clk", self.soc.host_cpu.clock), *others)

    @property
    def places(self) -> Mapping[str, int]:
        """Return the number in the memory map of each memory, register block and alias."""
        names = (*(memory.signal for memory in self.memories), *self.blocks, *self.aliases)
        return {name: number for number, name in enumerate(names)}

    def offset(self, block: str, master: str = "", bits: int = 12) -> str:
        """Return the expression for where in a register block a master's request is; the host's."""
        asks = f"dev_{master or self.soc.host}_addr"
        return f"{bits}'({asks} - map_q[{self.places[block]}].first)"

    @property
    def straps(self) -> tuple[Strap, ...]:
        """Return all inputs that take addresses: the memory map, then those of each master."""
        memories = (memory.span for memory in self.memories)
        spans = (*memories, *self.blocks.values(), *self.aliases.values())
        own = (strap for master in self.masters for strap in master.straps)
        return (Strap("map", spans, len(spans)), *own)
