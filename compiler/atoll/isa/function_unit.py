# SPDX-License-Identifier: Apache-2.0
"""Instructions of a core that a unit beside it executes, as all stages see them."""

import json
from collections.abc import Mapping
from dataclasses import field

from atoll.diagnostics.errors import SourceLoc
from atoll.records import dataclass

OPCODES = {"custom-0": 0x0B, "custom-1": 0x2B, "custom-2": 0x5B, "custom-3": 0x7B}
"""Major opcodes that RISC-V leaves to such instructions."""


DOT4 = "dot4"
"""What Atoll calls the sum of the four products of signed bytes of two words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """An R-type instruction: two registers in, one out.

    Attributes:
        name: as the loop program writes it.
        opcode: the major opcode, 7 bits.
        funct3, funct7: what tells it from others of its opcode.
        latency: cycles from operands to result; 0 if that varies.
        meaning: ``dot4``, four products of int8 added; "" if Atoll need not know.
        state: its result depends on what its unit executed before: none is moved or dropped.
        model: ``module:Class`` of Python, with a method of its name.
    """

    name: str
    opcode: int
    funct3: int
    funct7: int
    latency: int = 1
    meaning: str = ""
    state: bool = False
    model: str = ""

    def __str__(self) -> str:
        state = " state" if self.state else ""
        return (
            f"instruction {self.name} opcode {self.opcode} funct3 {self.funct3} funct7"
            f" {self.funct7} latency {self.latency} meaning {json.dumps(self.meaning)} model"
            f" {json.dumps(self.model)}{state}"
        )

    @property
    def word(self) -> int:
        """Return its encoding with x0 in the place of each register."""
        return self.funct7 << 25 | self.funct3 << 12 | self.opcode


WORD_MASK = 0x7F << 25 | 7 << 12 | 0x7F
"""Bits of an instruction that are no register."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionUnit:
    """What the description of a function unit says, the same for all cores that have it.

    Attributes:
        name: such as ``dot4``.
        style: the port that it is made for, ``cfu`` or ``cvxif``.
        instructions: what it executes.
        clear: name of the instruction that gives 0 to state that reset does not; "" without one.
        kernels: ``module:function`` that lowers operators with its instructions; "" without one.
        rtl_module: SystemVerilog module; "" without RTL.
        rtl_packages, rtl_sources, rtl_defines, rtl_keywords, rtl_ports, rtl_ties: see
            `atoll.resolve.specs.AcceleratorSpec`.
        rtl_parameters: of the module, with their values.
        rtl_interface: the module has modports of the interface ``if_xif``.
        places: where the description says so, by key; for messages.
    """

    name: str
    style: str
    instructions: tuple[Instruction, ...]
    clear: str = ""
    kernels: str = ""
    rtl_module: str = ""
    rtl_sources: tuple[str, ...] = ()
    rtl_packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    rtl_defines: Mapping[str, str] = field(default_factory=dict, hash=False)
    rtl_keywords: str = ""
    rtl_ports: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    rtl_ties: Mapping[str, str] = field(default_factory=dict, hash=False)
    rtl_parameters: Mapping[str, str] = field(default_factory=dict, hash=False)
    rtl_interface: bool = False
    places: Mapping[str, SourceLoc] = field(
        default_factory=dict, compare=False, repr=False, hash=False
    )

    def meaning(self, meaning: str) -> Instruction | None:
        """Return the instruction that does what Atoll calls `meaning`, if there is one."""
        return next((each for each in self.instructions if each.meaning == meaning), None)
