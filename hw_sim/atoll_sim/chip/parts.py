"""A chip as it is simulated: what `platform` decides and `generate` writes down."""

from collections.abc import Mapping
from dataclasses import dataclass

from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.chip.cores import Core


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What one master reaches at the addresses `span`: a port of a memory, or a register block.

    Attributes:
        index: selects the port of a memory's signals, such as ``[1]``, else empty.
    """

    signal: str
    index: str
    span: range


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltMemory:
    """A memory as it is built.

    Attributes:
        word_bytes: bytes that each bank moves per cycle: the memory's width, at most a beat.
        ports: signals of the masters that reach it.
    """

    name: str
    signal: str
    origin: int
    size: int
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
    """

    name: str
    host: str
    core: str
    origin: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Master:
    """A core or an accelerator as it is built; beside an external host no core is.

    Attributes:
        index: its number in the monitors.
        readable: addresses it may read, in order, apart from each other.
        writable: likewise for writing.
        parameters: SystemVerilog parameters of its module, with their values.
        axi_bytes: bytes of an accelerator's data port.
        interrupts: signal with the interrupt lines of a core.
    """

    name: str
    signal: str
    index: int
    readable: tuple[range, ...]
    writable: tuple[range, ...]
    targets: tuple[Target, ...]
    core: Core | None
    npu: Engine | None
    parameters: Mapping[str, str]
    axi_bytes: int
    interrupts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A whole chip as it is built.

    Attributes:
        data_bytes: bytes of a bus beat.
        half_period: picoseconds of half a clock cycle.
        slaves: signals of the register blocks' ports.
        guard: addresses of the registers that tell what firewalls kept back.
        lines: signal of each interrupt line at the host, by its number.
        external_host: the test bench makes the host's accesses; there is no core.
        waves: waveforms show the operators by name.
        faults: the top level has ports through which a bench makes hardware faults.
        loadable: the simulation may exchange the windows of the firewalls.
    """

    soc: ResolvedSoc
    data_bytes: int
    half_period: int
    masters: tuple[Master, ...]
    memories: tuple[BuiltMemory, ...]
    mailboxes: tuple[Mailbox, ...]
    slaves: tuple[str, ...]
    guard: range
    lines: Mapping[int, str]
    external_host: bool
    waves: bool = False
    faults: bool = False
    loadable: bool = False
