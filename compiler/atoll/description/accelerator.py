# SPDX-License-Identifier: Apache-2.0
"""The description of an accelerator: what it runs, its parameters and its registers."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from atoll.description.energy import AcceleratorArea, AcceleratorEnergy
from atoll.description.fields import (
    MAX_ENTRIES,
    Alignment,
    BandOf,
    Bits,
    ConstantName,
    Described,
    DriverName,
    EntryPointName,
    FileName,
    Integer,
    KnownPorts,
    LayoutOrder,
    ModuleName,
    Name,
    ParameterName,
    PortNames,
    PortTie,
    PositiveSize,
    Size,
    SourceText,
    Version,
    decimal,
    number,
)
from atoll.description.patterns import StepText
from atoll.description.programs import Formula, Program, Steps
from atoll.description.rtl import RtlFiles

Control = Literal["axi4_lite", "apb", "obi", "wishbone"]
Data = Literal["axi4", "axi4_lite", "obi", "wishbone"]


class DataPort(Described):
    """A port through which the accelerator reads and writes memory."""

    protocol: Data = Field(default="axi4", description="The protocol that it speaks.")
    bytes: Formula | None = Field(
        default=None,
        description="Bytes of a beat, of parameters; parameter 'data_bytes', or 8, if not said.",
    )


USUAL_DATA = {"m": DataPort()}


class Ports(Described):
    """What joins an accelerator to the chip."""

    control: Control = Field(default="axi4_lite", description="The protocol of its registers.")
    data: dict[Name, DataPort] = Field(
        default=USUAL_DATA,
        max_length=8,
        description="Its ports to memory; none if the host brings and takes the data.",
        examples=["{m: {protocol: axi4, bytes: data_bytes}}"],
    )
    interrupt: Literal["level", "edge", "none"] = Field(
        default="level", description="How it says that it has ended; 'none': the host asks."
    )


MAX_STEPS = 16
"""Operators of a pattern."""


class Parameter(Described):
    """One parameter of an accelerator and the values that an instance may give it."""

    default: Integer = Field(examples=["8"])
    choices: tuple[Integer, ...] | None = Field(default=None, min_length=1, max_length=MAX_ENTRIES)
    min: Integer | None = None
    max: Integer | None = None
    power_of_two: bool = Field(default=False, strict=True)
    at_least: tuple[Name, ...] = Field(
        default=(), max_length=MAX_ENTRIES, description="Parameters that it may not be less than."
    )

    def objection(self, value: int, params: Mapping[str, int]) -> str | None:
        """Say what `value` must be if it is not allowed beside the other `params`."""
        if self.choices is not None and value not in self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if self.min is not None and value < self.min:
            return f"at least {self.min}"
        if self.max is not None and value > self.max:
            return f"at most {self.max}"
        if self.power_of_two and (value < 1 or value.bit_count() != 1):
            return "a power of two"
        floor = max(self.at_least, key=lambda name: params.get(name, 0), default=None)
        if floor is not None and value < params.get(floor, 0):
            return f"at least {params[floor]}, which is '{floor}'"
        return None


class FeatureLimit(Described):
    """The values that a feature of an operator may have, inclusive."""

    min: Integer | None = None
    max: Integer | None = None


class Packed(Described):
    """A constant that is made for an operator, such as weights in the order that it reads."""

    pack: EntryPointName = Field(
        description="Called with operator, graph and instance; returns its bytes or an array.",
        examples=["./mine.py:pack_weights"],
    )
    layout: str = Field(default="", max_length=400, description="What lies where, for readers.")
    alignment: Alignment = Field(default=16, description="Bytes that it starts at a multiple of.")


class OperandLayout(Described):
    """How an operand lies in memory."""

    order: LayoutOrder = Field(
        default="NHWC",
        description="Axes, outermost first; a last c is a block of channels.",
        examples=["NCHW"],
    )
    block: Formula | None = Field(
        default=None, description="Channels of a block, where the order has one.", examples=["8"]
    )
    row: Formula = Field(default="1", description="Elements whose multiples rows begin at.")
    patches: bool = Field(
        default=False, strict=True, description="The windows lie there one by one (im2col)."
    )


class Operator(Described):
    """An operator, or several that it takes as one, that the accelerator runs within limits."""

    pattern: dict[Name, StepText] = Field(
        default={},
        max_length=MAX_STEPS,
        description="Operators that it takes as one, each under a name for formulas.",
        examples=["{conv: CONV_2D, sum: 'ADD(conv, _)'}"],
    )
    limits: dict[Name, FeatureLimit] = Field(default={}, max_length=MAX_ENTRIES)
    cost: Formula | None = Field(
        default=None,
        description="Cycles of its clock for one such operator, of features and parameters.",
        examples=["100"],
    )
    values: dict[Name, Formula] = Field(
        default={}, max_length=MAX_ENTRIES, description="Names for formulas of this operator."
    )
    constants: dict[Name, Packed] = Field(
        default={}, max_length=MAX_ENTRIES, description="Constants that are packed for it."
    )
    layouts: dict[Name, OperandLayout] = Field(
        default={}, max_length=MAX_ENTRIES, description="Of operands not in row-major order."
    )
    run: Steps = Field(
        default=(), max_length=MAX_ENTRIES, description="Its steps, if not those of 'program.run'."
    )
    reference: EntryPointName | None = Field(
        default=None,
        description="What it computes, where its rounding is its own; Atoll's reference if not.",
    )
    model: EntryPointName | None = Field(
        default=None, description="What plays it before there is RTL; its reference if not said."
    )


class RegisterBlock(Described):
    """The control port."""

    size: PositiveSize = Field(examples=["4 KiB"])
    map: dict[ConstantName, Size] = Field(
        max_length=MAX_ENTRIES, description="Offsets by register name.", examples=["{ID: 0x00}"]
    )
    fields: dict[ConstantName, dict[ConstantName, Bits]] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Parts of registers by register and name: a bit, or the lowest and highest.",
        examples=["{STATUS: {BUSY: 0, REASON: [4, 7]}}"],
    )

    def bits(self, name: str) -> tuple[int, int] | None:
        """Return the lowest and highest bit of ``REGISTER.FIELD``, None of what is no field."""
        register, _, field = name.partition(".")
        return self.fields.get(register, {}).get(field)


class Rtl(RtlFiles):
    """The hardware: a module with the ports of docs/accelerators.md."""

    ports: dict[KnownPorts, PortNames | None] = Field(
        default={},
        max_length=4 * MAX_ENTRIES,
        description="What the module calls ports of docs/accelerators.md; '!' inverts, and null "
        "says that it has no such port. A name that ends in '*' stands for all ports that begin "
        "so, and {signal}, {SIGNAL} and {io} for what follows, and for their direction.",
        examples=["{clk_i: clock, rst_ni: '!reset', m_axi_*: 'M_AXI_{SIGNAL}'}"],
    )
    ties: dict[ModuleName, PortTie] = Field(
        default={},
        max_length=4 * MAX_ENTRIES,
        description="Ports of the module that no chip has: the value of an input, or 'open'.",
        examples=["{awprot: 0, awlock: open}"],
    )
    parameters: dict[ParameterName, Formula] | None = Field(
        default=None,
        max_length=MAX_ENTRIES,
        description="Parameters of the module, of those of an instance; one for each if not said.",
    )


REGISTERS = (
    *("ID", "PARAMS", "CONTROL", "STATUS", "ERROR", "FAULT_ADDRESS", "LIST_ADDRESS"),
    *("LIST_COUNT", "COMPLETED", "IRQ_ENABLE", "IRQ_STATUS"),
)
"""Those of an accelerator that has none described: what runs lists of commands needs them."""

USUAL_REGISTERS = RegisterBlock(
    size=4096, map={name: 4 * number for number, name in enumerate(REGISTERS)}
)


Factor = Annotated[float, *decimal(0, 1000)]
Offset = Annotated[int, *number(-(10**6), 10**6)]


class OperatorTiming(Described):
    """What makes cycles of one kind of operator of those that its formula or emitter gives."""

    factor: Factor = Field(description="They are multiplied by it.", examples=["1.08"])
    offset: Offset = Field(default=0, description="Then this is added.", examples=["31"])
    band: BandOf | None = Field(
        default=None,
        description="How far operators may be off. Without it, that is not known.",
        examples=["{low: 0.1, high: 0.2}"],
    )


class Timing(Described):
    """Cycles that were measured in RTL, from which operators are estimated."""

    source: SourceText = Field(
        description="The command that measured them.",
        examples=["atoll accelerator calibrate ./mine.yaml"],
    )
    params: dict[Name, Integer] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="Parameters of the instance, the defaults if not said; instances with others "
        "keep what their formula gives.",
        examples=["{lanes: 8}"],
    )
    operators: dict[ConstantName, OperatorTiming] = Field(
        description="By operator; others keep what their formula gives.",
        examples=["{CONV_2D: {factor: 1.08, offset: 31}}"],
        min_length=1,
        max_length=MAX_ENTRIES,
    )


class Accelerator(Described):
    """What all instances of an accelerator have in common."""

    accelerator: Name = Field(description="Name of the accelerator.", examples=["reef"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    parameters: dict[Name, Parameter] = Field(default={}, max_length=MAX_ENTRIES)
    macs_per_cycle: Formula | None = Field(
        default=None,
        description="Most multiply-accumulates in a cycle of its clock, of parameters; the roof "
        "of its operators in a report.",
        examples=["64"],
    )
    operators: dict[ConstantName, Operator] = Field(min_length=1, max_length=MAX_ENTRIES)
    ports: Ports = Field(default=Ports(), description="What it is joined to the chip by.")
    registers: RegisterBlock = Field(
        default=USUAL_REGISTERS,
        description="Its registers; before it has any, those of a list of commands.",
        examples=["{size: 4 KiB, map: {ID: 0x00}}"],
    )
    systemrdl: FileName | None = Field(
        default=None,
        description="A SystemRDL file with its registers, in the place of 'registers'.",
        examples=["./mine.rdl"],
    )
    program: Program | None = Field(
        default=None,
        description="How the host drives it by its registers; without it, by 'driver'.",
    )
    rtl: Rtl | None = Field(
        default=None,
        description="The hardware; without it, its model stands in its place.",
        examples=["{module: reef, sources: [reef.sv]}"],
    )
    emitter: EntryPointName | None = Field(
        default=None,
        description="What makes its commands; Atoll makes records of addresses if not said.",
        examples=["package.module:Class"],
    )
    model: EntryPointName | None = Field(
        default=None,
        description="What plays its lists of commands; the models of 'operators' if not said.",
        examples=["package.module:Class"],
    )
    driver: DriverName = Field(
        default="command_list",
        description="Its C driver: one of the BSP, or ./mine.c with its header beside it.",
        examples=["command_list"],
    )
    asynchronous: bool = Field(
        default=True, strict=True, description="It works while the CPU does.", examples=["true"]
    )
    timing: Timing | None = Field(
        default=None,
        description="What 'atoll accelerator calibrate' measured; estimates hold formulas to it.",
        examples=["{source: atoll accelerator calibrate ./mine.yaml, operators: {}}"],
    )
    energy: AcceleratorEnergy | None = Field(
        default=None,
        description="What instances take of energy.",
        examples=["{source: own measurement, active_pj_per_cycle: 8.5}"],
    )
    area: AcceleratorArea | None = Field(
        default=None,
        description="What an instance takes of the chip.",
        examples=["{source: own synthesis, um2: 21500}"],
    )
    addresses: tuple[Size, ...] = Field(
        default=(),
        max_length=MAX_ENTRIES,
        description="Bytes of a command at which an address of 32 bits lies.",
        examples=["[0x04, 0x08]"],
    )
