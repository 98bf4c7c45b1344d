"""`ResolvedSoc`: the one value that every later stage reads. Plain data, no rules.

All addresses are absolute byte addresses on the system bus, all sizes bytes, all clocks hertz.
Sequences are in canonical order (docs/description.md), never in the order of the YAML's keys.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from atoll.errors import SourceLoc


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
class Memory:
    """One physical memory.

    Attributes:
        kind: ``rom`` or ``ram``.
        width: bytes moved per cycle.
        banks: word-interleaved banks that serve different masters in one cycle.
        read_latency: cycles from an accepted read to its data, at least 1.
    """

    name: str
    origin: int
    size: int
    kind: str
    width: int
    banks: int
    read_latency: int
    at: SourceLoc | None = None

    @property
    def end(self) -> int:
        """First address past the memory."""
        return self.origin + self.size


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
        role: ``constants``, ``workspace`` or ``both``.
        alignment: bytes; every buffer in the pool starts at a multiple of it.
        preference: the planner tries pools with smaller numbers first.
        reach: access of every device of the chip, by device name.
        provided: ``internal``, or ``application``: the application defines the bytes, and hands
            their address to the run function.
    """

    name: str
    region: Region
    role: str
    alignment: int
    preference: int
    reach: Mapping[str, Access]
    provided: str = "internal"
    at: SourceLoc | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimit:
    """A limit and the layer that set it, such as ``built-in`` or ``socs/lagoon.yaml:9:5``."""

    value: int
    layer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """A block of memory-mapped registers."""

    origin: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What every device has. Its name is the same word in YAML, Python, C, RTL and reports.

    Attributes:
        kind: ``cpu``, ``npu`` or ``dma``.
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
        isa: such as ``rv32imc``.
        rtl: core adapter of the simulator, such as ``picorv32``.
        toolchain: ``zig`` or ``gcc``.
        code: region of instructions and read-only data; its origin is the reset address.
        data: region of .data and .bss.
        stack: region of the main stack; it grows down from its end.
        threads: stacks of the other threads, each named ``<device>.<thread>.stack``.
        interrupt_reserve: bytes of every stack kept for interrupt handlers.
        max_stack_alloca_size: largest kernel-local allocation that may live on the stack.
        max_stack_size: most that one run may use, callees and reserve included.
    """

    isa: str
    rtl: str
    toolchain: str
    code: Region
    data: Region
    stack: Region
    threads: tuple[Region, ...] = ()
    interrupt_reserve: int
    max_stack_alloca_size: StackLimit
    max_stack_size: StackLimit

    @property
    def stacks(self) -> tuple[Region, ...]:
        """The main stack, then those of the other threads."""
        return (self.stack, *self.threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSupport:
    """An operator kind that an accelerator runs.

    Attributes:
        limits: feature name (see `atoll.ops.registry`) to the inclusive (min, max) it may have.
    """

    kind: str
    limits: Mapping[str, tuple[int | None, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorSpec:
    """What an accelerator's own YAML says, the same for all its instances.

    Attributes:
        name: such as ``reef``.
        operators: what it runs, sorted by kind.
        registers: register offsets in bytes by name.
        rtl_module: SystemVerilog module with the ports of docs/platform.md.
        rtl_sources: file names below `atoll_sim/rtl`, in compile order.
        emitter: entry point ``module:Class`` that makes its commands.
        model: entry point ``module:Class`` of its bit-exact software model.
        driver: name of its C driver in the BSP.
        asynchronous: it moves data and computes while the CPU does other work.
    """

    name: str
    operators: tuple[OperatorSupport, ...]
    registers: Mapping[str, int]
    rtl_module: str
    rtl_sources: tuple[str, ...]
    emitter: str
    model: str
    driver: str
    asynchronous: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Device):
    """A device that runs lists of commands from memory: an accelerator or a DMA engine.

    Attributes:
        spec: what kind of engine it is.
        params: every parameter of the instance by name, defaults included.
        registers: its control port.
        irq: interrupt line at the host.
        runs: operator kinds this instance may run, sorted; a subset of the spec's.
    """

    spec: AcceleratorSpec
    params: Mapping[str, int]
    registers: Registers
    irq: int
    runs: tuple[str, ...]


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
class CInterface:
    """How a compiled model meets the application.

    Attributes:
        map_inputs: the application writes the inputs where the plan put them.
        map_outputs: it reads the outputs there.
    """

    map_inputs: bool = False
    map_outputs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSoc:
    """A whole chip, complete and consistent.

    Attributes:
        host: name of the core that runs the entry point and starts everything else.
        default_device: where operators go that nothing constrains.
        console: UART, exit, trace and request registers of the test bench (docs/platform.md).
        layers: where each resolved value came from, by dotted key.
        interface: of every model that is compiled for the chip.
    """

    name: str
    devices: tuple[Device, ...]
    memories: tuple[Memory, ...]
    pools: tuple[Pool, ...]
    host: str
    default_device: str
    console: Registers
    layers: Mapping[str, str]
    interface: CInterface = CInterface()

    def device(self, name: str) -> Device:
        """Look a device up by name."""
        return next(device for device in self.devices if device.name == name)

    def memory(self, name: str) -> Memory:
        """Look a memory up by name."""
        return next(memory for memory in self.memories if memory.name == name)

    def pool(self, name: str) -> Pool:
        """Look a pool up by name."""
        return next(pool for pool in self.pools if pool.name == name)

    @property
    def host_cpu(self) -> Cpu:
        """The host as a core."""
        host = self.device(self.host)
        assert isinstance(host, Cpu)
        return host

    @property
    def cpus(self) -> tuple[Cpu, ...]:
        """All cores."""
        return tuple(device for device in self.devices if isinstance(device, Cpu))

    @property
    def npus(self) -> tuple[Npu, ...]:
        """All accelerator instances."""
        return tuple(device for device in self.devices if isinstance(device, Npu))

    @property
    def dmas(self) -> tuple[Dma, ...]:
        """All DMA engines."""
        return tuple(device for device in self.devices if isinstance(device, Dma))

    @property
    def engines(self) -> tuple[Engine, ...]:
        """All devices that run lists of commands."""
        return tuple(device for device in self.devices if isinstance(device, Engine))

    def regions(self) -> Iterator[Region]:
        """Yield every region of the chip: pools, then the cores' code, data and stack."""
        yield from (pool.region for pool in self.pools)
        for cpu in self.cpus:
            yield from (cpu.code, cpu.data, *cpu.stacks)

    def windows(self, device: Device) -> Iterator[tuple[Region | Registers, Access]]:
        """Yield all that `device` may touch: what the firewall lets through, nothing more.

        Pools by reach; a core also its own code (read), data and stack; the host also every
        register block.
        """
        for pool in self.pools:
            if pool.reach[device.name] is not Access.NONE:
                yield pool.region, pool.reach[device.name]
        if isinstance(device, Cpu):
            yield device.code, Access.READ
            yield device.data, Access.WRITE
            yield from ((stack, Access.WRITE) for stack in device.stacks)
        if device.name == self.host:
            for other in self.devices:
                if isinstance(other, Engine):
                    yield other.registers, Access.WRITE
            yield self.console, Access.WRITE
