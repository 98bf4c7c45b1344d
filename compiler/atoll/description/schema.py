"""The SoC description, field for field. Nothing here is derived; see `atoll.resolve`."""

from typing import Annotated, Literal

from pydantic import Field

from atoll.description.cache import Cache
from atoll.description.fields import (
    MAX_ENTRIES,
    Address,
    Alignment,
    Bandwidth,
    Banks,
    CompileCommand,
    Delay,
    Described,
    Frequency,
    Integer,
    IrqLine,
    Latency,
    LinkCommand,
    MachineName,
    Name,
    Pair,
    PositiveSize,
    Preference,
    Size,
    Version,
    Width,
)
from atoll.description.vocabulary import AcceleratorName, CoreName, EngineName, Isa, OperatorName

CLOCK = 100_000_000
Access = Literal["rw", "ro", "none"]
_REACH = "What it may do with each pool that does not say so itself."
_VIEWS = "Address of its registers at each core that sees them elsewhere."
CONSOLE = 0xF000_0000
Views = dict[Name, Address]


class Limits(Described):
    """How much of a stack compiled operators may use; a core's limits win over the chip's."""

    max_stack_alloca_size: Size | None = Field(
        default=None, description="Largest kernel-local allocation that may live on the stack."
    )
    max_stack_size: Size | None = Field(
        default=None, description="Most that one run may use; the size of the stack by default."
    )
    use_backend_alloc_workspace: bool | None = Field(
        default=None, strict=True, description="True keeps all allocations off the stack."
    )


class CoreLimits(Limits):
    """Limits of a core, and of its threads: those of the thread that models run on win."""

    threads: dict[Name, Limits] = Field(
        default={}, max_length=MAX_ENTRIES, description="Limits on the stack of a thread."
    )


class Span(Described):
    """A part of a memory; what is left out is chosen by resolution."""

    memory: Name | None = Field(default=None, description="The memory that holds it.")
    size: PositiveSize | None = Field(default=None, description="Bytes it takes.")


class Stack(Described):
    """The stacks of a core: the main one, and one for each other thread."""

    memory: Name = Field(description="The memory that holds it.", examples=["sram"])
    size: PositiveSize = Field(description="Bytes it takes.", examples=["8 KiB"])
    interrupts: Size = Field(default=512, description="Bytes kept for interrupt handlers.")
    threads: dict[Name, PositiveSize] = Field(
        default={}, max_length=MAX_ENTRIES, description="Size of the stack of each other thread."
    )
    runs: Name | None = Field(
        default=None, description="The thread that models run on; the main stack by default."
    )


class Commands(Described):
    """Command lines, run without a shell in the build folder; names in braces are filled in."""

    compile: CompileCommand = Field(
        description="Makes {object} of the C or assembly file {source}; {flags} are those of GCC"
        " with macros, {definitions} the macros alone.",
        examples=["armclang --target=arm-arm-none-eabi {flags} -c {source} -o {object}"],
    )
    link: LinkCommand = Field(
        description="Makes {elf} of {objects} by the linker script {script}; {map} is the map,"
        " {flags} are those of GNU ld.",
        examples=["ld.lld {flags} -T {script} -Map={map} -o {elf} {objects}"],
    )


class Cpu(Described):
    """A core that runs compiled operators; a ``dsp`` is the host only where it is named so."""

    kind: Literal["cpu", "dsp"]
    isa: Isa = Field(description="Instruction set such as rv32imc.", examples=["rv32imc"])
    abi: str | None = Field(
        default=None,
        max_length=16,
        description="Calling convention such as ilp32; by default the usual one of 'isa'.",
    )
    core: CoreName = Field(
        default="picorv32",
        description="The core: the name of an installed one, or a path relative to this file.",
    )
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    toolchain: Literal["zig", "gcc", "clang"] = Field(
        default="zig", description="What compiles C and links firmware."
    )
    commands: Commands | None = Field(
        default=None, description="Your own compiler and linker, instead of 'toolchain'."
    )
    stack: Stack = Field(examples=["{memory: sram, size: 8 KiB}"])
    code: Span = Field(default=Span(), description="Instructions and read-only data.")
    data: Span = Field(default=Span(), description=".data and .bss.")
    mailbox: Address | None = Field(
        default=None,
        description="Address of the registers through which the host has it run operators.",
        examples=["0x4002_0000"],
    )
    views: Views = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Address of its mailbox at each core that sees it elsewhere.",
        examples=[{"cpu": "0x5002_0000"}],
    )
    irq: IrqLine | None = Field(
        default=None, description="Interrupt line of the mailbox at the host.", examples=["5"]
    )
    cache: Cache | None = Field(
        default=None,
        description="Its data cache, which devices do not see; none by default.",
        examples=["{line: 32}"],
    )
    reach: Access | None = Field(default=None, description=_REACH)
    limits: CoreLimits = CoreLimits()
    protection: bool = Field(
        default=False,
        strict=True,
        description="The core's protection unit keeps it in its pools, and off what lies below its "
        "stacks.",
    )


class Npu(Described):
    """An instance of an accelerator."""

    kind: Literal["npu"]
    accelerator: AcceleratorName = Field(
        description="The name of an installed one (reef, ripple), or a path relative to this file.",
        examples=["reef"],
    )
    params: dict[Name, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the instance."
    )
    registers: Address = Field(description="Address of the control port.", examples=["0x4000_0000"])
    irq: IrqLine = Field(description="Interrupt line at the host.", examples=["3"])
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    reach: Access | None = Field(default=None, description=_REACH)
    views: Views = Field(default={}, max_length=MAX_ENTRIES, description=_VIEWS)
    runs: tuple[OperatorName, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_ENTRIES,
        description="Operators it may run, such as CONV_2D; by default all it can.",
    )


class Dma(Described):
    """An engine that copies between memories."""

    kind: Literal["dma"]
    engine: EngineName = Field(
        description="The name of an installed one (reef, ripple), or a path relative to this file.",
        examples=["ripple"],
    )
    params: dict[Name, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the instance."
    )
    registers: Address = Field(description="Address of the control port.", examples=["0x4001_0000"])
    irq: IrqLine = Field(description="Interrupt line at the host.", examples=["4"])
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    reach: Access | None = Field(default=None, description=_REACH)
    views: Views = Field(default={}, max_length=MAX_ENTRIES, description=_VIEWS)
    moves: tuple[Pair, ...] = Field(
        min_length=1,
        max_length=MAX_ENTRIES,
        description="Pairs [from memory, to memory] that it can copy between.",
        examples=["[[flash, sram]]"],
    )

    @property
    def accelerator(self) -> str:
        """What describes the engine."""
        return self.engine

    @property
    def runs(self) -> tuple[str, ...]:
        """Operators that it may run."""
        return ("COPY",)


Engine = Npu | Dma


Device = Annotated[Cpu | Npu | Dma, Field(discriminator="kind")]


class Memory(Described):
    """One physical memory on the bus."""

    origin: Address = Field(description="Address of the first byte.", examples=["0x2000_0000"])
    size: PositiveSize = Field(description="Bytes it holds.", examples=["256 KiB"])
    kind: Literal["rom", "ram"] = Field(description="rom or ram.", examples=["ram"])
    width: Width = Field(default=4, description="Bytes moved per cycle.")
    banks: Banks = Field(default=1, description="Interleaved banks that work in one cycle.")
    read_latency: Latency = Field(default=1, description="Cycles from a read to its data.")
    cached: bool = Field(
        default=True, strict=True, description="Cores with a data cache keep lines of it."
    )
    reach: Access | None = Field(
        default=None, description="What devices may do with its pools where nothing else says so."
    )
    views: Views = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Address of the first byte at each device that sees it elsewhere.",
        examples=[{"npu": "0x3000_0000"}],
    )


class Pool(Described):
    """A window of one memory in which the planner may place buffers."""

    memory: Name = Field(description="The memory that holds it.", examples=["sram"])
    role: Literal["constants", "workspace", "both"] = Field(
        description="Weights and tables, activations, or both.", examples=["workspace"]
    )
    reach: dict[Name, Access] = Field(
        default={}, max_length=MAX_ENTRIES, description="What each device may do with it."
    )
    others: Access | None = Field(
        default=None, description="What each device may do with it that 'reach' does not name."
    )
    offset: Size | None = Field(
        default=None, description="First byte, counted from the memory's origin."
    )
    size: PositiveSize | None = Field(default=None, description="All that is left by default.")
    alignment: Alignment = Field(default=16, description="Every buffer starts at a multiple.")
    preference: Preference = Field(default=0, description="Smaller numbers are tried first.")
    read_bandwidth: Bandwidth | None = Field(
        default=None, description="Bytes read per cycle; the memory's width by default."
    )
    write_bandwidth: Bandwidth | None = Field(
        default=None, description="Bytes written per cycle; the memory's width by default."
    )
    latency: Delay | None = Field(
        default=None,
        description="Cycles from a burst's request to its first data; the memory's by default.",
    )
    burst: PositiveSize | None = Field(
        default=None, description="Most bytes of one burst; no limit by default."
    )
    clock: Frequency | None = Field(
        default=None, description="Clock of bandwidth and latency; the host's by default."
    )
    heap: Size = Field(
        default=0, description="Bytes at its end for buffers that are sized at run time."
    )
    provided: Literal["internal", "application"] = Field(
        default="internal",
        description="Who defines its bytes: the image, or the application that calls the model.",
    )


class Interface(Described):
    """How compiled models meet the application."""

    map_inputs: bool = Field(
        default=False, strict=True, description="Inputs are written where the plan put them."
    )
    map_outputs: bool = Field(
        default=False, strict=True, description="Outputs are read where the plan put them."
    )


class Qemu(Described):
    """The machine of QEMU that the chip is, for `--cpu qemu`."""

    machine: MachineName = Field(
        description="What `qemu-system-... -machine help` calls it. The chip's memories lie where "
        "the machine has memory; its console is a page of the machine's RAM outside of them.",
        examples=["mps2-an385"],
    )


class Soc(Described):
    """A whole chip."""

    soc: Name = Field(description="Name of the chip.", examples=["my_chip"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    extends: str | None = Field(default=None, description="A description to start from.")
    devices: dict[Name, Device] = Field(
        min_length=1, max_length=MAX_ENTRIES, description="Cores, accelerators, DMA engines."
    )
    memories: dict[Name, Memory] = Field(min_length=1, max_length=MAX_ENTRIES)
    pools: dict[Name, Pool] = Field(min_length=1, max_length=MAX_ENTRIES)
    host: Name | None = Field(
        default=None, description="The core that starts everything; the first CPU by default."
    )
    default_device: Name | None = Field(
        default=None, description="Where operators go that nothing constrains."
    )
    console: Address = Field(default=CONSOLE, description="Address of the bench's registers.")
    limits: Limits = Limits()
    interface: Interface = Interface()
    qemu: Qemu | None = Field(default=None, examples=["{machine: mps2-an385}"])
