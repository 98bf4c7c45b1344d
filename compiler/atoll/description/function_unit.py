# SPDX-License-Identifier: Apache-2.0
"""The description of a function unit: instructions that a unit beside a core executes."""

from typing import Annotated, Literal

from pydantic import Field

from atoll.description.fields import (
    MAX_ENTRIES,
    Described,
    EntryPointName,
    FileName,
    Name,
    Version,
    number,
)

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


class UnitRtl(Described):
    """The hardware: a module with the ports of docs/function-units.md."""

    module: Name = Field(examples=["dot4"])
    sources: tuple[FileName, ...] = Field(
        min_length=1,
        max_length=4 * MAX_ENTRIES,
        description="In compile order: names of files that Atoll ships, or with a '/' paths "
        "relative to this file.",
        examples=["[./dot4.sv]"],
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
