# SPDX-License-Identifier: Apache-2.0
"""The devices of a SoC description, field for field: cores, accelerators, DMA engines."""

from typing import Annotated, Literal

from pydantic import Field

from atoll.description.energy import Area, DeviceEnergy
from atoll.description.fields import (
    MAX_ENTRIES,
    Access,
    Address,
    CacheLine,
    CacheWays,
    ChipName,
    CompileCommand,
    Described,
    DeviceCount,
    Frequency,
    Hart,
    Integer,
    IrqLine,
    Label,
    LinkCommand,
    Mailbox,
    Mask,
    Name,
    Pair,
    PositiveSize,
    SignalLine,
    Size,
    StepValue,
    Views,
)
from atoll.description.vocabulary import (
    AcceleratorName,
    CoreName,
    EngineName,
    FunctionUnitPath,
    Isa,
    OperatorName,
)


class RegisterStep(Described):
    """A step of a sequence: a register of 32 bits that is written, or waited for."""

    write: Address | None = Field(
        default=None, description="Address of the register that is written."
    )
    wait: Address | None = Field(
        default=None, description="Address of the register that is read until it has 'value'."
    )
    value: StepValue = Field(
        description="What is written, or waited for: a word; or the name of an address or size"
        " that is written (docs/platform.md).",
        examples=["0x1"],
    )
    mask: Mask | None = Field(
        default=None, description="The bits of 'value'; all others stay, or do not matter."
    )


Steps = Annotated[tuple[RegisterStep, ...], Field(min_length=1, max_length=MAX_ENTRIES)]


class Signal(Described):
    """How a core interrupts another one, through registers that each of them has."""

    send: Steps = Field(
        description="What the sender does so that the other one's line rises, and stays high.",
        examples=["[{write: 0x4000_0180, value: 0x1}]"],
    )
    clear: Steps = Field(
        description="What the other one does so that it falls.",
        examples=["[{write: 0x4000_0188, value: 0x1}]"],
    )


class HostSignal(Signal):
    """How a core interrupts its host."""

    line: Literal["software"] | None = Field(
        default=None,
        description="The software interrupt of a RISC-V host; 'irq' is the line without.",
        examples=["software"],
    )


class CoreSignal(Signal):
    """How a host interrupts another core."""

    line: SignalLine = Field(
        description="Interrupt line at the core; or its software interrupt, of RISC-V: 'software'.",
        examples=["26"],
    )


class Signals(Described):
    """What tells a core, or its host, that there is something new in a mailbox in memory."""

    event: bool = Field(
        default=False, strict=True, description="Both send each other an event: SEV and WFE of Arm."
    )
    core: CoreSignal | None = Field(
        default=None,
        description="How the host interrupts the core, which looks again and again without.",
        examples=[
            "{line: 26, send: [{write: 0x4000_0180, value: 0x1}],"
            " clear: [{write: 0x4000_0188, value: 0x1}]}"
        ],
    )
    host: HostSignal | None = Field(
        default=None,
        description="How the core interrupts the host at line 'irq'; the host looks without.",
        examples=[
            "{send: [{write: 0x4000_0184, value: 0x1}], clear: [{write: 0x4000_018C, value: 0x1}]}"
        ],
    )


class CacheSteps(Described):
    """How registers maintain a data cache.

    A core writes those of its own cache, the host those of an accelerator's.
    """

    clean: Steps = Field(
        description="Writes back what was stored to lines, which may stay.",
        examples=["[{write: 0x6003_1400, value: line}]"],
    )
    invalidate: Steps = Field(
        description="Forgets lines, and what was stored to them.",
        examples=["[{write: 0x6003_1404, value: line}]"],
    )


class Cache(Described):
    """The data cache of a core."""

    line: CacheLine = Field(description="Bytes of a line, a power of two.", examples=["32"])
    write_back: bool = Field(
        default=True,
        strict=True,
        description="Stores stay in the cache until their line is cleaned or evicted.",
    )
    size: PositiveSize | None = Field(
        default=None,
        description="Its bytes: a power of two of sets, each of 'ways' lines. With it, estimates "
        "count the lines that come and go.",
        examples=["16 KiB"],
    )
    ways: CacheWays | None = Field(
        default=None,
        description="Lines of each set, of which the one used longest ago makes room.",
        examples=["4"],
    )
    shared: Name | None = Field(
        default=None,
        description="Name of the cache, where other cores have the same one: all of them bear it,"
        " and say all else alike.",
        examples=["l1"],
    )
    maintenance: CacheSteps | None = Field(
        default=None,
        description="Registers that maintain it; by default the core does, as its file says.",
        examples=[
            "{clean: [{write: 0x6003_1400, value: line}],"
            " invalidate: [{write: 0x6003_1404, value: line}]}"
        ],
    )


class NpuCache(Described):
    """The data cache of an accelerator, which the host maintains by registers."""

    line: CacheLine = Field(description="Bytes of a line, a power of two.", examples=["32"])
    write_back: bool = Field(
        default=True,
        strict=True,
        description="What it writes stays in the cache until its line is cleaned or evicted.",
    )
    memories: tuple[Name, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_ENTRIES,
        description="The memories that it keeps lines of; by default all but those of 'cached:"
        " false'.",
        examples=["[psram]"],
    )
    maintenance: CacheSteps = Field(
        description="Registers by which the host maintains it.",
        examples=[
            "{clean: [{write: 0x4008_0000, value: line}],"
            " invalidate: [{write: 0x4008_0004, value: line}]}"
        ],
    )


class InstructionCache(Described):
    """The instruction cache of a core."""

    line: CacheLine = Field(description="Bytes of a line, a power of two.", examples=["32"])
    size: PositiveSize = Field(description="Its bytes.", examples=["16 KiB"])


CLOCK = 100_000_000
_REACH = "What it may do with each pool that does not say so itself."
_LABEL = (
    "What people read in the place of its name: in tables, at run time, in devicetrees. By default"
    " its name as it is written, with '-' and '.'."
)
Loader = Literal["xip", "copy", "host", "external", "none"]
Optimise = Literal["speed", "size"]
Generator = Literal["llvm", "c"]
_LOADER = (
    "What brings its code to where it runs: xip, nothing does, it runs in ROM; copy, its start-up"
    " code; host, the host's image; external, what is no part of any image; none, it has no code."
)
_ENERGY = "What it takes of energy; in place of all that the description of its part states."
_AREA = "What it takes of the chip; in place of what the description of its part states."
_COUNT = "How many such devices there are: 'name' stands for 'name_0', 'name_1' and so on."
_VIEWS = "Address of its registers at each core that sees them elsewhere."


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

    threads: dict[ChipName, Limits] = Field(
        default={}, max_length=MAX_ENTRIES, description="Limits on the stack of a thread."
    )


class Span(Described):
    """A part of a memory; what is left out is chosen by resolution."""

    memory: ChipName | None = Field(default=None, description="The memory that holds it.")
    size: PositiveSize | None = Field(default=None, description="Bytes it takes.")


class Stack(Described):
    """The stacks of a core: the main one, and one for each other thread."""

    memory: ChipName = Field(description="The memory that holds it.", examples=["sram"])
    size: PositiveSize = Field(description="Bytes it takes.", examples=["8 KiB"])
    interrupts: Size = Field(default=512, description="Bytes kept for interrupt handlers.")
    threads: dict[ChipName, PositiveSize] = Field(
        default={}, max_length=MAX_ENTRIES, description="Size of the stack of each other thread."
    )
    runs: ChipName | None = Field(
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


class CodeTarget(Described):
    """A further way to make code for a core; what is left out is as in the core's own."""

    isa: Isa | None = Field(
        default=None,
        description="Instruction set, all of which the core's own has.",
        examples=["rv32imc"],
    )
    abi: str | None = Field(
        default=None,
        max_length=16,
        description="Calling convention, which may pass floats otherwise than the core's; by "
        "default the core's, or the usual one of 'isa' if that lacks it.",
        examples=["ilp32"],
    )
    optimise: Optimise = Field(
        default="speed", description="What the compiler strives for.", examples=["size"]
    )
    generator: Generator | None = Field(
        default=None,
        description="What makes the code: LLVM, or C for the core's compiler; by default as all "
        "other code of the build.",
        examples=["c"],
    )
    function_unit: bool = Field(
        default=True,
        strict=True,
        description="Whether the code may use instructions of the core's function unit.",
        examples=["false"],
    )


class Cpu(Described):
    """A core that runs compiled operators; a ``dsp`` is the host only where it is named so."""

    kind: Literal["cpu", "dsp"]
    label: Label | None = Field(default=None, description=_LABEL)
    count: DeviceCount | None = Field(default=None, description=_COUNT, examples=["4"])
    loader: Loader | None = Field(default=None, description=_LOADER, examples=["external"])
    isa: Isa = Field(description="Instruction set such as rv32imc.", examples=["rv32imc"])
    abi: str | None = Field(
        default=None,
        max_length=16,
        description="Calling convention such as ilp32; by default the usual one of 'isa'.",
    )
    targets: dict[ChipName, CodeTarget] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Further ways to make code for it, by name, for operators that ask for one.",
        examples=[{"scalar": {"isa": "rv32imc"}}],
    )
    core: CoreName = Field(
        default="picorv32",
        description="The core: the name of an installed one, or a path relative to this file.",
    )
    function_unit: FunctionUnitPath | None = Field(
        default=None,
        description="The unit that executes instructions of its own: a path relative to this file.",
        examples=["./dot4.yaml"],
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
    load: Span | None = Field(
        default=None,
        description="Of 'loader: copy': where start-up code, and what it copies, lie until then.",
        examples=["{memory: flash, size: 64 KiB}"],
    )
    data: Span = Field(default=Span(), description=".data and .bss.")
    mailbox: Mailbox | None = Field(
        default=None,
        description="Address of the registers through which the host has it run operators; or the"
        " memory in which they leave each other word.",
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
    signals: Signals | None = Field(
        default=None,
        description="What tells core and host to look into a mailbox in memory; by default nothing"
        " does, and both look again and again.",
        examples=["{event: true}"],
    )
    release: Steps | None = Field(
        default=None,
        description="What the host does to registers so that the core begins; by default it begins"
        " by itself, or the application lets it.",
        examples=["[{write: 0x6000_0800, value: 0x1}]"],
    )
    hart: Hart = Field(
        default=0,
        description="Which comparator is its own in the core-local interruptor of RISC-V cores.",
        examples=["1"],
    )
    world: Literal["secure", "non_secure"] | None = Field(
        default=None,
        description="The security state of Armv8-M that its image runs in; by default that of"
        " reset, which other code may have changed.",
        examples=["non_secure"],
    )
    cache: Cache | None = Field(
        default=None,
        description="Its data cache, which devices do not see; none by default.",
        examples=["{line: 32}"],
    )
    instruction_cache: InstructionCache | None = Field(
        default=None,
        description="Its instruction cache, if its core's file has none: estimates count the lines"
        " that come.",
        examples=["{line: 32, size: 16 KiB}"],
    )
    reach: Access | None = Field(default=None, description=_REACH)
    energy: DeviceEnergy | None = Field(
        default=None, description=_ENERGY, examples=["{source: own measurement}"]
    )
    area: Area | None = Field(
        default=None, description=_AREA, examples=["{source: own synthesis, um2: 21500}"]
    )
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
    label: Label | None = Field(default=None, description=_LABEL)
    count: DeviceCount | None = Field(default=None, description=_COUNT, examples=["4"])
    loader: Loader | None = Field(default=None, description=_LOADER, examples=["external"])
    accelerator: AcceleratorName = Field(
        description="The name of an installed one (reef, ripple), or a path relative to this file.",
        examples=["reef"],
    )
    params: dict[Name, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the instance."
    )
    registers: Address = Field(description="Address of the control port.", examples=["0x4000_0000"])
    irq: IrqLine | None = Field(
        default=None,
        description="Interrupt line at the host; none if the accelerator has no interrupt.",
        examples=["3"],
    )
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    reach: Access | None = Field(default=None, description=_REACH)
    energy: DeviceEnergy | None = Field(
        default=None, description=_ENERGY, examples=["{source: own measurement}"]
    )
    area: Area | None = Field(
        default=None, description=_AREA, examples=["{source: own synthesis, um2: 21500}"]
    )
    views: Views = Field(default={}, max_length=MAX_ENTRIES, description=_VIEWS)
    cache: NpuCache | None = Field(
        default=None,
        description="Its data cache, between it and memories, which nobody else sees; none by"
        " default.",
        examples=[
            "{line: 64, maintenance: {clean: [{write: 0x4008_0000, value: line}],"
            " invalidate: [{write: 0x4008_0004, value: line}]}}"
        ],
    )
    runs: tuple[OperatorName, ...] | None = Field(
        default=None,
        min_length=1,
        max_length=MAX_ENTRIES,
        description="Operators it may run, such as CONV_2D; by default all it can.",
    )


class Dma(Described):
    """An engine that copies between memories."""

    kind: Literal["dma"]
    label: Label | None = Field(default=None, description=_LABEL)
    count: DeviceCount | None = Field(default=None, description=_COUNT, examples=["4"])
    loader: Loader | None = Field(default=None, description=_LOADER, examples=["external"])
    engine: EngineName = Field(
        description="The name of an installed one (reef, ripple), or a path relative to this file.",
        examples=["ripple"],
    )
    params: dict[Name, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the instance."
    )
    registers: Address = Field(description="Address of the control port.", examples=["0x4001_0000"])
    irq: IrqLine | None = Field(
        default=None,
        description="Interrupt line at the host; none if the accelerator has no interrupt.",
        examples=["3"],
    )
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    reach: Access | None = Field(default=None, description=_REACH)
    energy: DeviceEnergy | None = Field(
        default=None, description=_ENERGY, examples=["{source: own measurement}"]
    )
    area: Area | None = Field(
        default=None, description=_AREA, examples=["{source: own synthesis, um2: 21500}"]
    )
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


class Master(Described):
    """A bus master that Atoll neither programs nor simulates: a camera's DMA, an Ethernet MAC."""

    kind: Literal["master"]
    label: Label | None = Field(default=None, description=_LABEL)
    count: DeviceCount | None = Field(default=None, description=_COUNT, examples=["4"])
    loader: Loader | None = Field(default=None, description=_LOADER, examples=["external"])
    clock: Frequency = Field(default=CLOCK, description="Clock frequency.")
    reach: Access | None = Field(default=None, description=_REACH)
    area: Area | None = Field(
        default=None, description=_AREA, examples=["{source: own synthesis, um2: 21500}"]
    )


Engine = Npu | Dma


Device = Annotated[Cpu | Npu | Dma | Master, Field(discriminator="kind")]
