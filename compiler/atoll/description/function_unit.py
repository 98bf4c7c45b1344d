# SPDX-License-Identifier: Apache-2.0
"""The description of a function unit: instructions that a unit beside a core executes."""

from typing import Annotated, Literal

from pydantic import Field

from atoll.description.fields import (
    MAX_ENTRIES,
    Described,
    EntryPointName,
    Integer,
    ModuleName,
    Name,
    ParameterName,
    PortName,
    PortTie,
    Version,
    number,
)
from atoll.description.rtl import RtlFiles

Style = Literal["cfu", "cvxif"]
"""Ports of cores: VexRiscv's custom function unit, the eXtension interface of CORE-V."""

Opcode = Literal["custom-0", "custom-1", "custom-2", "custom-3"]
Funct3 = Annotated[int, *number(0, 7)]
Funct7 = Annotated[int, *number(0, 127)]
Latency = Annotated[int, *number(1, 1000)]


class UnitInstruction(Described):
    """An R-type instruction: it reads two registers and writes one."""

    opcode: Opcode = Field(default="custom-0", description="Its major opcode.")
    funct3: Funct3 = Field(default=0, description="Bits 14 to 12 of it.")
    funct7: Funct7 = Field(default=0, description="Bits 31 to 25 of it.")
    latency: Latency | Literal["variable"] = Field(
        default=1, description="Cycles from its operands to its result, or 'variable'."
    )
    computes: Literal["dot4"] | None = Field(
        default=None,
        description="What Atoll's own kernels use it for: 'dot4', the sum of four products of the "
        "signed bytes of both operands, 32 bits.",
    )


class UnitRtl(RtlFiles):
    """The hardware: a module with the ports of docs/function-units.md."""

    names: Literal["atoll", "cfu_playground", "if_xif"] = Field(
        default="atoll",
        description="Whose names its ports have: Atoll's, those of CFU-Playground, or the modports "
        "of CORE-V's interface 'if_xif'.",
    )
    ports: dict[Name, PortName | None] = Field(
        default={},
        max_length=MAX_ENTRIES,
        description="What else the module calls these ports; '!' inverts, and null says that it "
        "has no such port.",
        examples=["{clk_i: clock, rst_ni: '!reset'}"],
    )
    ties: dict[ModuleName, PortTie] = Field(
        default={},
        max_length=4 * MAX_ENTRIES,
        description="Ports of the module that no core has: the value of an input, or 'open'.",
        examples=["{test_mode: 0}"],
    )
    parameters: dict[ParameterName, Integer] = Field(
        default={}, max_length=MAX_ENTRIES, description="Parameters of the module."
    )


class FunctionUnit(Described):
    """What all cores with this unit have in common."""

    function_unit: Name = Field(description="Name of the unit.", examples=["dot4"])
    version: Version = Field(description="Version of this format.", examples=["1"])
    style: Style = Field(
        default="cfu",
        description="The port of the core that it is made for: 'cfu', VexRiscv's; 'cvxif', that of "
        "CORE-V cores.",
    )
    instructions: dict[Name, UnitInstruction] = Field(
        min_length=1, max_length=MAX_ENTRIES, description="What it executes, by name."
    )
    state: bool = Field(
        default=False,
        strict=True,
        description="Results depend on earlier instructions, so that none is moved or left out.",
    )
    clear: Name | None = Field(
        default=None,
        description="The instruction that gives 0 to state that reset does not; the conformance "
        "kit calls it first.",
    )
    model: EntryPointName = Field(
        description="A class with a method for each instruction, bit-exact.",
        examples=["dot4:Dot4"],
    )
    kernels: EntryPointName | None = Field(
        default=None,
        description="A function that lowers operators with the instructions.",
        examples=["dot4:lower"],
    )
    rtl: UnitRtl | None = Field(
        default=None, description="The hardware; without it no chip with the unit runs in RTL."
    )
