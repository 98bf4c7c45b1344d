"""What a chip is made of: memories, regions, pools and devices. Plain data, no rules.

Addresses are the bus's (of a chip `as_seen_by` a device: the device's), sizes bytes, clocks hertz.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from atoll.errors import SourceLoc
from atoll.isa.function_unit import DOT4, FunctionUnit
from atoll.isa.instruction_set import Arithmetic, InstructionSet, Vectors
from atoll.resolve.commands import Commands
from atoll.resolve.data_cache import Cache
from atoll.resolve.pool_speed import PoolSpeed
from atoll.resolve.specs import AcceleratorSpec, CoreSpec


class Access(StrEnum):
    """What a device may do with the bytes of a region."""

    NONE = "none"
    READ = "ro"
    WRITE = "rw"


class RegionKind(StrEnum):
    """What a span of a memory is for."""

    CODE = "code"
    DATA = "data"
    STACK = "stack"
    POOL = "pool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A span of the bus that devices may see elsewhere.

    Attributes:
        views: where devices see the first byte that do not see it at `origin`, by device.
    """

    origin: int
    size: int
    views: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def end(self) -> int:
        """First address past it."""
        return self.origin + self.size

    def seen_at(self, device: str) -> range:
        """Return the addresses at which `device` sees it."""
        origin = self.views.get(device, self.origin)
        return range(origin, origin + self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Placed):
    """One physical memory.

    Attributes:
        kind: ``rom`` or ``ram``.
        width: bytes moved per cycle.
        banks: word-interleaved banks that serve different masters in one cycle.
        read_latency: cycles from an accepted read to its data, at least 1.
        cached: cores with a data cache keep lines of it.
        sector: bytes of flash that are erased at once; 0 if debuggers do not program it.
    """

    name: str
    kind: str
    width: int
    banks: int
    read_latency: int
    cached: bool = True
    sector: int = 0
    at: SourceLoc | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A span of one memory with one purpose; regions of a memory never overlap.

    Attributes:
        name: the pool's name, or ``<device>.code``, ``<device>.data``, ``<device>.stack``,
            ``<device>.<thread>.stack``.
    """

    name: str
    kind: RegionKind
    memory: str
    origin: int
    size: int

    @property
    def end(self) -> int:
        """First address past the region."""
        return self.origin + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """A window of one memory in which the planner may place buffers.

    Attributes:
        role: ``constants``, ``workspace``, ``both`` of them, or ``state``, which outlives a run.
        alignment: bytes; every buffer in the pool starts at a multiple of it.
        preference: the planner tries pools with smaller numbers first.
        reach: access of every device of the chip, by device name.
        provided: ``internal``, or ``application``: the application defines the bytes, and hands
            their address to the run function.
        speed: None as if it were the memory's width without latency.
        heap: bytes at its end that the workspace allocator gives out; planners leave them alone.
    """

    name: str
    region: Region
    role: str
    alignment: int
    preference: int
    reach: Mapping[str, Access]
    provided: str = "internal"
    speed: PoolSpeed | None = None
    heap: int = 0
    at: SourceLoc | None = None

    @property
    def holds_constants(self) -> bool:
        """Constants may lie in it."""
        return self.role in ("constants", "both")

    @property
    def heap_origin(self) -> int:
        """First byte of the heap: a multiple of 16, and the end of what is planned."""
        return (self.region.end - self.heap) & ~15 if self.heap else self.region.end

    @property
    def room(self) -> int:
        """Bytes in which buffers are planned."""
        return self.heap_origin - self.region.origin


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimit:
    """A limit and the layer that set it, such as ``built-in`` or ``socs/lagoon.yaml:9:5``."""

    value: int
    layer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers(Placed):
    """A block of memory-mapped registers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What every device has. Its name is the same word in YAML, Python, C, RTL and reports.

    Attributes:
        kind: ``cpu``, ``dsp``, ``npu``, ``dma`` or ``master``.
        device_type: DLPack device type (kDLCPU = 1; kDLExtDev = 12 for others).
        device_id: number among the devices of its type.
        ordinal: number among all devices of the chip: its place in the one enumeration.
        clock: hertz.
    """

    name: str
    kind: str
    device_type: int
    device_id: int
    ordinal: int
    clock: int
    at: SourceLoc | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu(Device):
    """A core that runs compiled operators.

    Attributes:
        instructions: instruction set and calling convention.
        spec: what kind of core it is.
        toolchain: ``zig``, ``gcc`` or ``clang``.
        commands: what compiles and links instead of `toolchain`.
        code: region of instructions and read-only data; its origin is the reset address.
        data: region of .data and .bss.
        stack: region of the main stack; it grows down from its end.
        threads: stacks of the other threads, each named ``<device>.<thread>.stack``.
        run_thread: the thread that models run on, "" for the main stack.
        interrupt_reserve: bytes of every stack kept for interrupt handlers.
        max_stack_alloca_size: largest kernel-local allocation that may live on the stack.
        max_stack_size: most that one run may use, callees and reserve included.
        mailbox: registers through which the host has this core run operators, at one address for
            both (`atoll.resolve.mailbox`); None for the host.
        irq: interrupt line of the mailbox at the host; None without a mailbox.
        protected: its start-up code has its protection unit let through what it may touch alone.
        cache: its data cache; None without one.
        unit: what executes instructions of its own; None without one.
    """

    instructions: InstructionSet
    spec: CoreSpec
    toolchain: str
    commands: Commands | None = None
    code: Region
    data: Region
    stack: Region
    threads: tuple[Region, ...] = ()
    run_thread: str = ""
    interrupt_reserve: int
    max_stack_alloca_size: StackLimit
    max_stack_size: StackLimit
    mailbox: Registers | None = None
    irq: int | None = None
    protected: bool = False
    cache: Cache | None = None
    unit: FunctionUnit | None = None

    @property
    def vectors(self) -> Vectors:
        """What multiplies several int8 numbers at once."""
        if self.unit and self.unit.meaning(DOT4):
            return Vectors.UNIT
        return self.instructions.vectors

    @property
    def arithmetic(self) -> Arithmetic:
        """What makes sums of products."""
        kind = self.instructions
        return Arithmetic(self.vectors, kind.registers, kind.multiplies)

    @property
    def isa(self) -> str:
        """Name of the instruction set, such as ``rv32imc``."""
        return self.instructions.name

    @property
    def reset_address(self) -> int:
        """Address of the first instruction."""
        return self.code.origin + self.spec.reset_offset

    @property
    def stacks(self) -> tuple[Region, ...]:
        """The main stack, then those of the other threads."""
        return (self.stack, *self.threads)

    @property
    def run_stack(self) -> Region:
        """The stack that models run on."""
        name = f"{self.name}.{self.run_thread}.{RegionKind.STACK}"
        return next((stack for stack in self.threads if stack.name == name), self.stack)


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Device):
    """A device that runs lists of commands from memory: an accelerator or a DMA engine.

    Attributes:
        spec: what kind of engine it is.
        params: every parameter of the instance by name, defaults included.
        registers: its control port.
        irq: interrupt line at the host; None if it has no interrupt.
        runs: operator kinds this instance may run, sorted; a subset of the spec's.
        constants_width: bytes per cycle of its clock from the memory of its constants; 0: unknown.
        constants_latency: cycles of its clock until that memory answers.
        constants_wait: likewise that changing to it and back takes; 0: it works in one alone.
        workspace_width: as `constants_width`, of the narrowest memory that it writes.
        pool_memories: of each pool of activations, its memory and such a width. These five are for
            estimates.
    """

    spec: AcceleratorSpec
    params: Mapping[str, int]
    registers: Registers
    irq: int | None
    runs: tuple[str, ...]
    constants_width: int = 0
    constants_latency: int = 0
    constants_wait: int = 0
    workspace_width: int = 0
    pool_memories: Mapping[str, tuple[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Npu(Engine):
    """An accelerator instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dma(Engine):
    """A DMA engine.

    Attributes:
        moves: (from memory, to memory) pairs it can copy between.
    """

    moves: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Master(Device):
    """A bus master that is neither programmed nor simulated: it has its reach alone."""
