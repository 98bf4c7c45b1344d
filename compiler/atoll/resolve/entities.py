# SPDX-License-Identifier: Apache-2.0
"""What a chip is made of besides its memories: devices. Plain data, no rules.

Addresses are the bus's (of a chip `as_seen_by` a device: the device's), sizes bytes, clocks hertz.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar

from atoll.diagnostics.errors import SourceLoc
from atoll.isa.code_target import CodeTarget, Optimise
from atoll.isa.function_unit import DOT4, FunctionUnit
from atoll.isa.instruction_set import Arithmetic, InstructionSet, Vectors
from atoll.records import dataclass
from atoll.resolve.commands import Commands
from atoll.resolve.data_cache import REGISTERS, Cache
from atoll.resolve.marks import SPEED, TOLD
from atoll.resolve.places import Placed, Region, RegionKind
from atoll.resolve.register_steps import Signals, Steps
from atoll.resolve.specs import AcceleratorSpec, Area, CoreSpec, DeviceEnergy, KernelRun, Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class StackLimit:
    """A limit and where it came from.

    Attributes:
        layer: that set it, such as ``built-in`` or ``socs/lagoon.yaml:9:5``.
        key: with which another value has its effect, such as ``devices.cpu.limits.max_stack_size``.
    """

    value: int
    layer: str
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLimits:
    """What models may use of the stack of one thread.

    Attributes:
        thread: its name, "" for the main one.
        alloca: largest kernel-local allocation.
        total: most of one run.
    """

    thread: str
    alloca: StackLimit
    total: StackLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers(Placed):
    """A block of memory-mapped registers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What every device has. Its name is the same word in Python, C, RTL and reports.

    Attributes:
        kind: ``cpu``, ``dsp``, ``npu``, ``dma`` or ``master``.
        device_type: DLPack device type (kDLCPU = 1; kDLExtDev = 12 for others).
        device_id: number among the devices of its type.
        ordinal: number among all devices of the chip: its place in the one enumeration.
        clock: hertz.
        label: its name as the YAML has it, which may have '-' and '.', or its own ``label``.
        loader: ``xip``, its code runs in place, in a ROM; ``copy``, start-up code of its own copies
            it from a ROM to RAM; ``host``, the host's image has it and writes it to RAM, then lets
            the core begin; ``external``, its code lies in RAM, and what is no part of any image
            writes it there before it runs; ``none``, it has no code.
        energy: what it takes, and `area` of the chip, with what its part states; None if not said.
    """

    name: str
    kind: str
    device_type: int
    device_id: int
    ordinal: int
    clock: int = field(metadata=SPEED)
    at: SourceLoc | None = field(default=None, metadata=TOLD)
    label: str = ""
    loader: str = "none"
    energy: DeviceEnergy | None = field(default=None, metadata=TOLD)
    area: Area | None = field(default=None, metadata=TOLD)

    @property
    def shown(self) -> str:
        """What people read in the place of its name."""
        return self.label or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu(Device):
    """A core that runs compiled operators.

    Attributes:
        instructions: instruction set and calling convention.
        targets: further ways to make code for it, for operators that ask for one.
        compact: whether its code shall be small; of the core as a target sees it alone.
        spec: what kind of core it is.
        toolchain: ``zig``, ``gcc`` or ``clang``.
        commands: what compiles and links instead of `toolchain`.
        code: region of instructions and read-only data.
        load: region of start-up code and of all that it copies at start; None where code is not
            copied.
        data: region of .data and .bss.
        stack: region of the main stack; it grows down from its end.
        threads: stacks of the other threads, each named ``<device>.<thread>.stack``.
        run_thread: the thread that models run on, "" for the main stack.
        interrupt_reserve: bytes of every stack kept for interrupt handlers.
        max_stack_alloca_size: largest kernel-local allocation that may live on the stack.
        max_stack_size: most that one run may use, callees and reserve included.
        thread_limits: both limits on each of its stacks; those on `run_stack` are the two above.
        mailbox: registers through which the host has this core run operators, at one address for
            both (`atoll.resolve.mailbox`); None for the host.
        shared_mailbox: memory through which it does so instead (docs/cores.md).
        release: what the host does so that it begins, by the host's addresses; empty if nothing.
        signals: what tells both sides of such a memory to look; None if nothing does.
        irq: interrupt line of the mailbox at the host; None without one.
        hart: which comparator of the core-local interruptor is its own.
        protected: its start-up code has its protection unit let through what it may touch alone.
        world: ``secure`` or ``non_secure``, the security state that its image runs in; "" that of
            reset.
        cache: its data cache; None without one.
        unit: what executes instructions of its own; None without one.
        ran: kernels that ran on the instruction-set simulator, by `atoll.cost.kernel_runs.key_of`:
            what each core ran that made a part of one, itself the first.
    """

    instructions: InstructionSet
    spec: CoreSpec
    toolchain: str
    commands: Commands | None = None
    code: Region
    load: Region | None = None
    data: Region
    stack: Region
    threads: tuple[Region, ...] = ()
    run_thread: str = ""
    interrupt_reserve: int
    max_stack_alloca_size: StackLimit
    max_stack_size: StackLimit
    thread_limits: tuple[ThreadLimits, ...] = ()
    mailbox: Registers | None = None
    shared_mailbox: Region | None = None
    signals: Signals | None = None
    release: Steps = ()
    irq: int | None = None
    hart: int = 0
    protected: bool = False
    world: str = ""
    cache: Cache | None = None
    unit: FunctionUnit | None = None
    targets: tuple[CodeTarget, ...] = ()
    compact: bool = field(default=False, compare=False)
    ran: Mapping[Hashable, tuple[KernelRun, ...]] = field(
        default_factory=dict, repr=False, metadata=TOLD
    )

    def for_target(self, name: str) -> "Cpu":
        """Return the core as code for one of its targets sees it; as it is for ""."""
        (found,) = (each for each in self.targets if each.name == name) if name else (None,)
        if found is None:
            return self
        unit = self.unit if found.unit else None
        compact = found.optimise is Optimise.SIZE
        return replace(self, instructions=found.instructions, unit=unit, compact=compact)

    @property
    def has_mailbox(self) -> bool:
        """Whether the host can have it run operators, though it is not the host."""
        return self.mailbox is not None or self.shared_mailbox is not None

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
        usual = Arithmetic(self.vectors, kind.registers, kind.multiplies)
        return usual.compact() if self.compact else usual

    @property
    def isa(self) -> str:
        """Name of the instruction set, such as ``rv32imc``."""
        return self.instructions.name

    @property
    def boot(self) -> Region:
        """The region that the core begins in: its origin is that of the vectors."""
        return self.load or self.code

    @property
    def reset_address(self) -> int:
        """Address of the first instruction."""
        return self.boot.origin + self.spec.reset_offset

    @property
    def code_regions(self) -> tuple[Region, ...]:
        """Where it has instructions, the region that it begins in first."""
        return (self.load, self.code) if self.load else (self.code,)

    @property
    def maintained_by(self) -> str:
        """What maintains its data cache: ``scb``, ``zicbom`` or ``registers``; "" without one."""
        if self.cache is None:
            return ""
        return REGISTERS if self.cache.maintenance else self.spec.cache or ""

    @property
    def begins(self) -> bool:
        """Whether it begins when the chip does; otherwise its host lets it."""
        return not (self.is_held or self.release)

    @property
    def is_held(self) -> bool:
        """Whether it stays in reset until its host has written its code."""
        return self.loader == "host"

    @property
    def stacks(self) -> tuple[Region, ...]:
        """The main stack, then those of the other threads."""
        return (self.stack, *self.threads)

    @property
    def run_stack(self) -> Region:
        """The stack that models run on."""
        return self.stack_of(self.run_thread)

    def stack_of(self, thread: str) -> Region:
        """Return the stack of a thread, the main one for ""."""
        name = f"{self.name}.{thread}.{RegionKind.STACK}"
        return next((stack for stack in self.threads if stack.name == name), self.stack)

    def on_thread(self, thread: str) -> "Cpu":
        """Return the core as a model finds it that runs on a thread, on the main one for ""."""
        limits = next((each for each in self.thread_limits if each.thread == thread), None)
        if thread == self.run_thread or limits is None:
            return self
        return replace(
            self,
            run_thread=thread,
            max_stack_alloca_size=limits.alloca,
            max_stack_size=limits.total,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolMemory:
    """Where an engine finds a pool of activations.

    Attributes:
        memory: its name.
        width: bytes in a cycle of the engine's clock, no whole number where that is not the bus's.
        latency: cycles of that clock until the memory answers.
    """

    memory: str
    width: Fraction
    latency: int


class Known(dict[Hashable, Any]):
    """What was asked of a value; its copies begin without it."""

    def __reduce__(self) -> tuple[type["Known"], tuple[()]]:
        """Leave out of pickles what is found again."""
        return Known, ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Device):
    """A device that runs lists of commands from memory: an accelerator or a DMA engine.

    Attributes:
        spec: what kind of engine it is.
        params: every parameter of the instance by name, defaults included.
        registers: its control port.
        irq: interrupt line at the host; None if it has no interrupt.
        cache: its data cache, which the host maintains; None without one.
        runs: operator kinds this instance may run, sorted; a subset of the spec's.
        bus_cycles: cycles of its clock in one of the bus.
        constants_width: bytes per cycle of its clock from the memory of its constants; 0: unknown.
        constants_latency: cycles of its clock until that memory answers.
        constants_wait: likewise that changing to it and back takes; 0: it works in one alone.
        workspace_width: as `constants_width`, of the narrowest memory that it writes.
        pool_memories: of each pool of activations, where it lies. These six are for estimates.
        known: what was asked of it; who asks adds it.
    """

    spec: AcceleratorSpec
    params: Mapping[str, int]
    registers: Registers
    irq: int | None
    runs: tuple[str, ...]
    cache: Cache | None = None
    bus_cycles: Fraction = field(default=Fraction(1), metadata=SPEED)
    constants_width: Fraction = field(default=Fraction(0), metadata=SPEED)
    constants_latency: int = field(default=0, metadata=SPEED)
    constants_wait: int = field(default=0, metadata=SPEED)
    workspace_width: Fraction = field(default=Fraction(0), metadata=SPEED)
    pool_memories: Mapping[str, PoolMemory] = field(default_factory=dict, metadata=SPEED)
    known: Known = field(default_factory=Known, init=False, repr=False, compare=False)

    @property
    def timing(self) -> Mapping[str, Tuning]:
        """What was measured of an instance with these parameters, by kind of operator."""
        if "timing" not in self.known:
            same = dict(self.params) == dict(self.spec.timed_params)
            self.known["timing"] = self.spec.timing if same else {}
        found: Mapping[str, Tuning] = self.known["timing"]
        return found


Found = TypeVar("Found")


def once_per_engine(function: Callable[[Engine], Found]) -> Callable[[Engine], Found]:
    """Decorate what follows from an engine alone: of each it is found once."""

    @wraps(function)
    def finding(engine: Engine) -> Found:
        if function not in engine.known:
            engine.known[function] = function(engine)
        found: Found = engine.known[function]
        return found

    return finding


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
