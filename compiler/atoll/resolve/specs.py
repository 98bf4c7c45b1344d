# SPDX-License-Identifier: Apache-2.0
"""What the description of a core or an accelerator says of all its instances. Plain data."""

from collections.abc import Mapping
from dataclasses import field

from atoll.description.patterns import PatternStep
from atoll.diagnostics.errors import SourceLoc
from atoll.program.steps import Program
from atoll.records import dataclass
from atoll.resolve.data_cache import Cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """Numbers of whoever describes a chip; each is None if it is not stated.

    Attributes:
        source: where they come from.
        basis: ``measured``, ``published`` or ``told``.
    """

    source: str
    basis: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceEnergy(Stated):
    """What a device takes.

    Attributes:
        active_pj_per_cycle: of its clock, in which it works.
        idle_pj_per_cycle: in which it waits.
        pj_per_mac: of a multiply-accumulate beside that; None if cycles have all.
        leakage_mw: static power.
    """

    active_pj_per_cycle: float | None
    idle_pj_per_cycle: float | None
    pj_per_mac: float | None
    leakage_mw: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEnergy(Stated):
    """What accesses of a memory take, and its static power."""

    read_pj_per_byte: float | None
    write_pj_per_byte: float | None
    leakage_mw: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Area(Stated):
    """What a device or a memory takes of the chip, in square micrometres."""

    um2: float
    library: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtectionUnit:
    """What holds each access of a core against a table of regions.

    Attributes:
        unit: ``pmp``, ``mpu_v7`` or ``mpu_v8``.
        regions: entries of its table.
        granule: bytes whose multiples regions begin and end at.
    """

    unit: str
    regions: int
    granule: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionCache:
    """What a core keeps of its instructions: see `atoll.description.core.InstructionCache`.

    Attributes:
        size, line: in bytes.
        cycles: that a line takes to come from memory that answers in the next cycle; None: as long
            as the memory moves it.
        waits: what it takes longer for each further cycle of latency of the code's memory.
    """

    size: int
    line: int
    cycles: float | None = None
    waits: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideCode:
    """What a load takes less whose data is in the memory of instructions.

    Attributes:
        cycles: with memories that answer in the next cycle.
        waits: and for each further cycle of that memory's latency.
    """

    cycles: float
    waits: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """What instructions take on a core, by class: see `atoll.description.core.Timing`.

    Attributes:
        basis: ``measured`` or ``published``.
        cycles: of an instruction, with memories that answer in the next cycle.
        waits: what it takes longer for each further cycle of latency of the code's memory.
        data_waits: likewise of the memory of the data that it loads or stores.
        cache: of instructions; None without one.
        beside_code: what loads from the memory of instructions take less; None if nothing.
        band: how far operators may be below and above their estimate, as shares; None if nobody
            said.
        simulated_band: likewise where their instructions ran on the instruction-set simulator.
    """

    basis: str
    cycles: Mapping[str, float]
    waits: Mapping[str, float]
    data_waits: Mapping[str, float] = field(default_factory=lambda: {"load": 1.0})
    cache: InstructionCache | None = None
    beside_code: BesideCode | None = None
    band: tuple[float, float] | None = None
    simulated_band: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class DataLines:
    """Lines of a data cache, where these and the addresses of buffers are so.

    Attributes:
        cache: which.
        places: addresses of buffers of which it may keep lines.
        moved: by ``in`` or ``out`` and one of these buffers, or "" of other memory; those that
            became dirty count as out, though they leave later.
    """

    cache: Cache
    places: Mapping[str, int]
    moved: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class KernelRun:
    """What one core ran for a kernel, or for its part of one, on the instruction-set simulator.

    Attributes:
        classes: instructions of each class, in the order of `atoll.description.core.CycleClass`.
        accesses: of buffers, by ``load`` or ``store`` and buffer; "" is memory of its own.
        lines: that its instruction cache took from memory; 0 without one.
        instructions: all of them.
        data: lines of its data cache; None without one whose size is known.
    """

    classes: tuple[int, ...]
    accesses: Mapping[tuple[str, str], int]
    lines: int
    instructions: int
    data: DataLines | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreSpec:
    """What a core's own YAML says, the same for all its instances.

    Attributes:
        name: such as ``picorv32``.
        isas: instruction sets that an instance may have.
        first_line, last_line: interrupt lines for devices, inclusive.
        bus_error_line: where a host learns of accesses that firewalls kept back.
        controller: how the core sees its lines, see `atoll.description.core`; None if not said.
        cycles: that instructions take on an instruction-set simulator, by class.
        timing: what instructions take on the core itself; None if not said.
        reset_offset: bytes from the begin of the code region to the first instruction.
        code_alignment: least alignment of the code region in bytes.
        local: where the 64 KiB of registers begin that the core answers itself, if it has any.
        cache: how its data cache is maintained, ``scb`` or ``zicbom``; None if it has none.
        traps: a load or store that a firewall or the bus fails is an exception.
        misaligned: what a load or store across its size does, ``works`` or ``traps``; None if not
            said.
        protection: its memory protection, if it has any.
        unit_port: style of its port for a function unit; "" if it has none.
        uncached: address from which on its data cache leaves all alone; None without such a cache.
        startup: assembly of reset, interrupts and waiting: a file that the BSP ships, or an
            absolute path; "" if the core has none, and so no firmware.
        asleep: 32-bit words of a program that does nothing, for a core without firmware.
        rtl_module: SystemVerilog module with the ports of docs/extending.md; "" if there is no RTL.
        rtl_packages: sources of the core itself, by the Python package that brings them.
        rtl_sources: file names that Atoll ships, or absolute paths, in compile order: sources,
            folders of what they include (with a '/' at the end), lists of files (``.f``).
        rtl_defines: macros and their values.
        rtl_keywords: of sources that end in .v, such as ``1364-2001``; "" for SystemVerilog's.
        rtl_parameters: of the module: a number, or a fact such as ``reset_address``.
        waves: signals below the module that waveforms show, with their bits.
        places: where the description says so, by key such as ``rtl.module``; for messages.
    """

    name: str
    isas: tuple[str, ...]
    first_line: int
    last_line: int
    bus_error_line: int
    controller: str | None = None
    cycles: Mapping[str, int] = field(default_factory=dict)
    timing: Timing | None = None
    reset_offset: int
    code_alignment: int
    local: int | None
    cache: str | None = None
    traps: bool
    misaligned: str | None = None
    protection: ProtectionUnit | None = None
    unit_port: str = ""
    uncached: int | None = None
    startup: str
    asleep: tuple[int, ...]
    rtl_module: str
    rtl_packages: Mapping[str, tuple[str, ...]]
    rtl_sources: tuple[str, ...]
    rtl_defines: Mapping[str, str] = field(default_factory=dict)
    rtl_keywords: str = ""
    rtl_parameters: Mapping[str, str]
    waves: Mapping[str, int]
    places: Mapping[str, SourceLoc] = field(default_factory=dict, compare=False, repr=False)

    @property
    def lines(self) -> range:
        """Interrupt lines that devices may use."""
        return range(self.first_line, self.last_line + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedConstant:
    """A constant that an accelerator's own code makes for an operator.

    Attributes:
        name: as formulas and steps call it.
        pack: entry point of the function that makes its bytes.
        layout: what lies where, for people.
        alignment: bytes that it starts at a multiple of.
    """

    name: str
    pack: str
    layout: str = ""
    alignment: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutRule:
    """How an operand lies; see `atoll.ir.layouts.Layout`.

    Attributes:
        order: axes from the outermost to the innermost, ``c`` a block of channels.
        block, row: formulas.
        patches: the windows of the operator are laid out, and not the image.
    """

    order: str
    block: str = "1"
    row: str = "1"
    patches: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSupport:
    """An operator kind that an accelerator runs.

    Attributes:
        limits: feature name (see `atoll.ops.registry`) to the inclusive (min, max) it may have.
        pattern: the operators that it takes as one, if `kind` is its own name for them.
        cost: formula of its cycles, of the accelerator's clock; "" if an emitter estimates them.
        values: formulas by the names that others use, in the order in which they need each other.
        constants: what is packed for it.
        layouts: how operands lie that are not in row-major order, by what formulas call them.
        reference: entry point of what it computes; "" where that is Atoll's exact reference.
        model: entry point of what plays it without RTL; "" where its reference does.
    """

    kind: str
    limits: Mapping[str, tuple[int | None, int | None]]
    cost: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    constants: tuple[PackedConstant, ...] = ()
    layouts: Mapping[str, LayoutRule] = field(default_factory=dict)
    reference: str = ""
    model: str = ""
    pattern: tuple[PatternStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPort:
    """A port to memory.

    Attributes:
        name: how the names of its signals begin.
        protocol: ``axi4``, ``axi4_lite``, ``obi`` or ``wishbone``.
        bytes: formula of the bytes of a beat, of parameters; "" for the parameter ``data_bytes``,
            or 8 if there is none.
    """

    name: str
    protocol: str
    bytes: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """What joins an accelerator to the chip.

    Attributes:
        control: protocol of its registers: ``axi4_lite``, ``apb``, ``obi`` or ``wishbone``.
        data: its ports to memory; none if the host brings and takes the data.
        interrupt: ``level``, ``edge`` or ``none``.
    """

    control: str
    data: tuple[DataPort, ...]
    interrupt: str


USUAL_PORTS = Ports(
    control="axi4_lite",
    data=(DataPort(name="m", protocol="axi4", bytes=""),),
    interrupt="level",
)
"""Those of an accelerator whose description says nothing of ports."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What makes measured cycles of an operator of those that its emitter or formula gives.

    Attributes:
        factor: of them.
        offset: cycles that are added.
        band: how far operators may be below and above, as shares; None if nobody said.
    """

    factor: float
    offset: int
    band: tuple[float, float] | None = None

    def cycles(self, expected: int) -> int:
        """Return what an operator takes."""
        return max(0, round(self.factor * expected) + self.offset)


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorSpec:
    """What an accelerator's own YAML says, the same for all its instances.

    Attributes:
        name: such as ``reef``.
        operators: what it runs, sorted by kind.
        registers: register offsets in bytes by name.
        macs_per_cycle: formula of its most multiply-accumulates in a cycle, of parameters; "" if
            not said.
        ports: what joins it to the chip.
        program: how the host drives it by its registers; None if it runs lists of commands.
        rtl_module: SystemVerilog module with the ports of docs/accelerators.md; "" if there is no
            RTL.
        rtl_sources: file names that Atoll ships, or absolute paths, in compile order: sources,
            folders of what they include (with a '/' at the end), lists of files (``.f``).
        rtl_packages: further sources, before these, by the Python package that brings them.
        rtl_defines: macros and their values.
        rtl_keywords: of sources that end in .v, such as ``1364-2001``; "" for SystemVerilog's.
        rtl_ports: what the module calls ports, by the names of docs/accelerators.md; a '!' before
            it inverts, and None says that it has no such port.
        rtl_ties: further ports of the module: the value of an input, or ``open``.
        rtl_parameters: formulas of the module's parameters; None for one for each of an instance.
        emitter: entry point ``module:Class`` that makes its commands.
        model: entry point ``module:Class`` that plays lists of commands; "" if the models of the
            operators play it.
        driver: name of its C driver in the BSP.
        driver_path: absolute path of the driver's C, "" if the BSP has it.
        undriven: nothing of its description says how it is driven: registers and driver are those
            that the stand-in of a simulation has.
        asynchronous: it moves data and computes while the CPU does other work.
        timing: by kind of operator, what was measured.
        timed_params: parameters of the instance of which that was measured.
        addresses: bytes of a command at which an address of 32 bits lies; none if not said.
        places: where the description says so, by key such as ``rtl.module``; for messages.
    """

    name: str
    operators: tuple[OperatorSupport, ...]
    registers: Mapping[str, int]
    macs_per_cycle: str = ""
    ports: Ports = USUAL_PORTS
    program: Program | None = None
    rtl_module: str
    rtl_sources: tuple[str, ...]
    rtl_packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rtl_defines: Mapping[str, str] = field(default_factory=dict)
    rtl_keywords: str = ""
    rtl_ports: Mapping[str, str | None] = field(default_factory=dict)
    rtl_ties: Mapping[str, str] = field(default_factory=dict)
    rtl_parameters: Mapping[str, str] | None = None
    emitter: str
    model: str
    driver: str
    driver_path: str = ""
    undriven: bool = False
    asynchronous: bool
    timing: Mapping[str, Tuning] = field(default_factory=dict)
    timed_params: Mapping[str, int] = field(default_factory=dict)
    addresses: tuple[int, ...] = ()
    places: Mapping[str, SourceLoc] = field(default_factory=dict)

    @property
    def fed(self) -> bool:
        """Whether the host brings and takes its data: it has no port to memory."""
        return not self.ports.data

    def support(self, kind: str) -> OperatorSupport:
        """Return what it says of an operator kind that it runs."""
        return next(each for each in self.operators if each.kind == kind)
