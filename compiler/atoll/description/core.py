# SPDX-License-Identifier: Apache-2.0
"""The description of a core: what it runs, its interrupts, its start-up code and its RTL."""

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.energy import Area, DeviceEnergy
from atoll.description.fields import (
    MAX_ENTRIES,
    Address,
    Alignment,
    BandOf,
    Described,
    FileName,
    Name,
    ParameterName,
    PositiveSize,
    SourceText,
    Version,
    decimal,
    must_be,
    number,
    text,
)
from atoll.description.function_unit import Style
from atoll.description.rtl import RtlFiles
from atoll.description.vocabulary import Isa

FACTS = ("reset_address", "local_address", "hart", "has_m", "has_c", "has_e", "has_b")
"""What a parameter of the RTL can be told about one core of a chip."""

LINES = 32
"""Interrupt inputs of an adapter."""

NVIC_LINES = 240
"""Lines that an NVIC can have."""

LOCAL_SIZE = 64 * 2**10
"""Bytes of the registers that a core keeps to itself."""

_SIGNAL = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(\.[A-Za-z_][A-Za-z0-9_$]*)*")


def _value(given: object) -> str:
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if given in FACTS:
        return str(given)
    raise must_be(f"a whole number or one of {', '.join(FACTS)}")


Controller = Literal["picorv32", "fast", "vexriscv", "nvic"]
CycleClass = Literal[
    "other", "load", "store", "branch", "jump", "multiply", "divide", "taken", "shifted"
]
"""Classes of instructions. ``taken`` is what a jump that is taken takes in addition, ``shifted``
what a shift takes for each bit beyond the first; one by a register counts as one by 10 bits."""

EXTRAS: tuple[CycleClass, ...] = ("taken", "shifted")
"""Of these, what comes on top of another class: nothing if a core does not say."""

_MOST_CYCLES = 1000
_CYCLES = {"minimum": 0, "maximum": _MOST_CYCLES, "examples": [2]}
Cycles = Annotated[int, number(0, _MOST_CYCLES)[0], WithJsonSchema({"type": "integer", **_CYCLES})]
MeanCycles = Annotated[
    float, decimal(0, _MOST_CYCLES)[0], WithJsonSchema({"type": "number", **_CYCLES})
]
Line = Annotated[int, *number(0, NVIC_LINES - 1)]
Word = Annotated[int, *number(0, 2**32 - 1)]
Bits = Annotated[int, *number(1, 1024)]
ProtectionRegions = Annotated[int, *number(1, 64)]
SignalName = Annotated[str, *text(_SIGNAL, "a signal below the module such as u_core.pc")]
ParameterValue = Annotated[
    str,
    BeforeValidator(_value),
    WithJsonSchema({"anyOf": [{"enum": list(FACTS)}, {"type": "integer"}]}),
]


class Interrupts(Described):
    """The interrupt lines of the core."""

    first: Line = Field(description="First line for devices.", examples=["3"])
    last: Line = Field(description="Last line for devices.", examples=["31"])
    bus_error: Line = Field(
        description="Line that tells a host of accesses that firewalls kept back.", examples=["2"]
    )
    controller: Controller | None = Field(
        default=None,
        description="How the core sees its lines: 'picorv32', by that core's own instructions; "
        "'fast', line n is bit n + 14 of mip and mie; 'vexriscv', line n is bit n of the registers "
        "0xBC0 (mask) and 0xFC0 (pending); 'nvic', line n is external interrupt n of a Cortex-M. "
        "An instruction-set simulator needs it.",
        examples=["fast"],
    )


class Reset(Described):
    """Where the core begins to run."""

    offset: Word = Field(
        default=0,
        description="Bytes from the begin of the code region to the first instruction.",
        examples=["0x80"],
    )
    alignment: Alignment = Field(
        default=16, description="Alignment of the code region in bytes.", examples=["256"]
    )


class ProtectionUnit(Described):
    """The hardware that holds each access of the core against a table of regions."""

    unit: Literal["pmp", "mpu_v7", "mpu_v8"] = Field(
        description="'pmp', the physical memory protection of RISC-V, locked in machine mode; "
        "'mpu_v7', regions of powers of two with eight subregions, as Armv6-M and Armv7-M have; "
        "'mpu_v8', regions from base to limit, as Armv8-M has.",
        examples=["pmp"],
    )
    regions: ProtectionRegions = Field(description="Entries of its table.", examples=["16"])
    granule: Alignment = Field(
        description="Bytes whose multiples regions begin and end at.", examples=["4"]
    )


class InstructionCache(Described):
    """What a core fetches from memory once, and has at hand until something else takes its place.

    Each line has one place, as its address says. A core without a cache may keep the word that it
    fetched last, for two instructions that share it: its size and line are 4.
    """

    size: PositiveSize = Field(description="Its bytes.", examples=["2 KiB"])
    line: PositiveSize = Field(description="Bytes that are fetched together.", examples=["32"])
    cycles: MeanCycles = Field(
        description="What a line takes to come from memory that answers in the next cycle.",
        examples=[26],
    )
    waits: MeanCycles = Field(
        description="What a line takes longer for each further cycle of the latency of the memory "
        "that holds instructions.",
        examples=[8],
    )


class BesideCode(Described):
    """What a load takes less whose data is in the memory that holds instructions.

    Before the core asks another memory, it awaits all that it asked of this one.
    """

    cycles: MeanCycles = Field(
        description="With memories that answer in the next cycle.", examples=[1.5]
    )
    waits: MeanCycles = Field(
        description="And for each further cycle of that memory's latency.", examples=[1.3]
    )


class Timing(Described):
    """What instructions take on the core itself, from which kernels are estimated."""

    basis: Literal["measured", "published"] = Field(
        description="Where the numbers come from: 'measured', runs of the core's RTL; 'published', "
        "its maker's tables.",
        examples=["published"],
    )
    source: SourceText = Field(
        description="The command that measured them, or the document and its table.",
        examples=["Arm 100166_0001_00, table 3-1"],
    )
    cycles: dict[CycleClass, MeanCycles] = Field(
        description="Mean cycles of an instruction of each class, as in 'cycles', with memories "
        "that answer in the next cycle; 1 where none are given, and nothing more for a jump that "
        "is taken or a bit that is 'shifted'.",
        examples=["{load: 2, taken: 2}"],
    )
    waits: dict[CycleClass, MeanCycles] = Field(
        default={},
        description="What an instruction of each class takes longer for each further cycle of the "
        "latency of the memory that holds instructions; nothing where none are given.",
        examples=["{load: 1, taken: 1}"],
    )
    instruction_cache: InstructionCache | None = Field(
        default=None,
        description="The core's instruction cache; with one, only its lines wait for the memory "
        "that holds instructions.",
        examples=["{size: 2 KiB, line: 32, cycles: 26, waits: 8}"],
    )
    data_waits: dict[Literal["load", "store"], MeanCycles] = Field(
        default={"load": 1.0},
        description="What a load and a store take longer for each further cycle of the latency of "
        "the memory of their data.",
        examples=["{load: 1, store: 1}"],
    )
    beside_code: BesideCode | None = Field(
        default=None,
        description="What a load takes less whose data is in the memory that holds instructions; "
        "nothing where none is given.",
        examples=["{cycles: 1.5, waits: 1.3}"],
    )
    band: BandOf | None = Field(
        default=None,
        description="How far operators may be off whose cycles rest on this: of 95 in 100 that "
        "were measured and to which nothing was fitted; of published tables, by the least and the "
        "most that they allow for what ran. Without it, that is not known.",
        examples=["{low: 0.2, high: 0.3}"],
    )
    simulated_band: BandOf | None = Field(
        default=None,
        description="Likewise of operators whose instructions ran on the instruction-set "
        "simulator, as with 'atoll estimate --iss'.",
        examples=["{low: 0.1, high: 0.1}"],
    )


class CoreRtl(RtlFiles):
    """The hardware: a module with the ports of docs/extending.md around the core itself."""

    parameters: dict[ParameterName, ParameterValue] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the module."
    )
    waves: dict[SignalName, Bits] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Signals below the module that waveforms show, and their bits.",
    )


class Core(Described):
    """What all instances of a core have in common."""

    core: Name = Field(description="Name of the core.", examples=["picorv32"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    isas: tuple[Isa, ...] = Field(
        min_length=1,
        max_length=MAX_ENTRIES,
        description="Instruction sets that a chip may give it.",
        examples=["[rv32imc]"],
    )
    interrupts: Interrupts = Field(
        default=Interrupts(first=3, last=31, bus_error=2),
        examples=["{first: 3, last: 31, bus_error: 2}"],
    )
    reset: Reset = Field(default=Reset(), examples=["{offset: 0x80, alignment: 256}"])
    local: Address | None = Field(
        default=None,
        description="Address of 64 KiB of registers that the core keeps to itself: its timer. They "
        "never reach the bus.",
        examples=["0x0200_0000"],
    )
    bus_errors: Literal["ignored", "traps"] = Field(
        default="ignored",
        description="What a failed load or store does: one reads 0, the other is lost; or the core "
        "traps.",
        examples=["traps"],
    )
    misaligned: Literal["works", "traps"] | None = Field(
        default=None,
        description="What a load or store does whose address is not a multiple of its size: it "
        "works, or the core traps. Of a Cortex-M, those of single values; several at once trap "
        "always. An instruction-set simulator lets it work where this is not said, and reports so.",
        examples=["traps"],
    )
    cycles: dict[CycleClass, Cycles] = Field(
        default={},
        description="Cycles that an instruction of each class takes on an instruction-set "
        "simulator; 1 where none are given, and nothing more for a jump that is 'taken', or for "
        "each bit beyond the first by which a shift moves ('shifted').",
        examples=["{load: 5, taken: 2}"],
    )
    timing: Timing | None = Field(
        default=None,
        description="What instructions take on the core itself, for estimates. Without it, "
        "estimates count the core as PicoRV32, and say so.",
        examples=["{basis: published, source: Arm 100166_0001_00, cycles: {load: 2, taken: 2}}"],
    )
    energy: DeviceEnergy | None = Field(
        default=None,
        description="What instances take of energy, with their caches and function units.",
        examples=["{source: own measurement, active_pj_per_cycle: 8.5}"],
    )
    area: Area | None = Field(
        default=None,
        description="What an instance takes of the chip.",
        examples=["{source: own synthesis, um2: 21500}"],
    )
    cache: Literal["scb", "zicbom"] | None = Field(
        default=None,
        description="How its data cache is maintained by line, if it can have one: 'scb', by the "
        "registers DCCMVAC and DCIMVAC of a Cortex-M; 'zicbom', by cbo.clean and cbo.inval.",
        examples=["scb"],
    )
    function_unit: Style | None = Field(
        default=None,
        description="Its port for a unit that executes instructions of its own, if it has one: "
        "'cfu' or 'cvxif'.",
        examples=["cfu"],
    )
    uncached: Address | None = Field(
        default=None,
        description="First address of those that its data cache leaves alone, which reach to the "
        "end; all that it loads and stores has to lie there. Without it the core has no such "
        "cache.",
        examples=["0x8000_0000"],
    )
    startup: FileName | None = Field(
        default=None,
        description="Assembly of reset, interrupts and waiting: a file that Atoll ships, or with a "
        "'/' a path relative to this file. Without it there are objects, and no firmware.",
        examples=["picorv32.S"],
    )
    protection: ProtectionUnit | None = Field(
        default=None,
        description="Its memory protection; a chip turns it on with 'protection: true'.",
        examples=["{unit: pmp, regions: 16, granule: 4}"],
    )
    asleep: tuple[Word, ...] = Field(
        default=(),
        max_length=4 * MAX_ENTRIES,
        description="Words of a program that does nothing, for a core without firmware.",
        examples=["[0x0800_400B, 0xFFDF_F06F]"],
    )
    rtl: CoreRtl | None = Field(
        default=None,
        description="The hardware; a chip with a core without it has no RTL simulation.",
        examples=["{module: mine, sources: [./mine.sv]}"],
    )
