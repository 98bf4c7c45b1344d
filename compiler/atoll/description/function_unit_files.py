# SPDX-License-Identifier: Apache-2.0
"""Find and check the descriptions of the function units that a chip's cores have."""

from pathlib import Path

from atoll.description.faults import Faults, nearest, note
from atoll.description.function_unit import FunctionUnit
from atoll.description.partial import PartDescription, read_part
from atoll.description.remedies import remove, write_pair
from atoll.description.tree import SourceMap
from atoll.diagnostics.errors import SourceLoc
from atoll.isa.function_unit import OPCODES

REACHED = {"cfu": ("custom-0",), "cvxif": tuple(OPCODES)}
"""Major opcodes that the port of each style hands on."""


FunctionUnitDescription = PartDescription[FunctionUnit]


def load_function_unit(path: Path, at: SourceLoc | None) -> FunctionUnitDescription:
    """Load the description at `path`, which a chip names at `at`.

    Raises:
        DescriptionError: it cannot be read, or E126, contradicts itself.
    """
    faults = Faults()
    unit, where, gaps = read_part(FunctionUnit, path, at, faults)
    if gaps.knows("instructions"):
        _check_encodings(unit, where, faults)
        if unit.clear and unit.clear not in unit.instructions:
            faults.add(
                "E126",
                f"unit '{unit.function_unit}' has no instruction '{unit.clear}' to clear it",
                at=where.at("clear"),
                remedy=nearest(unit.clear, unit.instructions),
            )
        _check_meanings(unit, where, faults)
        if gaps.knows("style"):
            _check_opcodes(unit, where, faults)
    faults.raise_any()
    return PartDescription(path=path, model=unit, where=where)


def _check_encodings(unit: FunctionUnit, where: SourceMap, faults: Faults) -> None:
    seen: dict[tuple[str, int, int], str] = {}
    for name, each in unit.instructions.items():
        first = seen.setdefault((each.opcode, each.funct3, each.funct7), name)
        if first == name:
            continue
        used = {e.funct7 for e in unit.instructions.values()}
        free = next((number for number in range(128) if number not in used), None)
        faults.add(
            "E126",
            f"instructions '{first}' and '{name}' of unit '{unit.function_unit}' have one encoding:"
            f" {each.opcode}, funct3 {each.funct3}, funct7 {each.funct7}",
            at=where.at("instructions", name, "funct7") or where.at("instructions", name),
            other=note(where.key_at("instructions", first), "the other one"),
            remedy=write_pair(("instructions", name, "funct7"), free) | "what your hardware has",
        )


def _check_meanings(unit: FunctionUnit, where: SourceMap, faults: Faults) -> None:
    seen: dict[str, str] = {}
    for name, each in unit.instructions.items():
        if each.computes and (first := seen.setdefault(each.computes, name)) != name:
            faults.add(
                "E126",
                f"instructions '{first}' and '{name}' of unit '{unit.function_unit}' both say"
                f" 'computes: {each.computes}'",
                at=where.at("instructions", name, "computes"),
                other=note(where.at("instructions", first, "computes"), "the other one"),
                remedy=remove("instructions", name, "computes") + "; kernels can use one only",
            )


def _check_opcodes(unit: FunctionUnit, where: SourceMap, faults: Faults) -> None:
    reached = REACHED[unit.style]
    for name, each in unit.instructions.items():
        if each.opcode not in reached:
            faults.add(
                "E126",
                f"instruction '{name}' of unit '{unit.function_unit}' has opcode '{each.opcode}',"
                f" which a port of style '{unit.style}' does not forward",
                at=where.at("instructions", name, "opcode"),
                remedy=write_pair(("instructions", name, "opcode"), reached[0]),
            )
