# SPDX-License-Identifier: Apache-2.0
"""Function units of cores: which core may have which, and what of it all later stages see."""

from collections.abc import Iterator

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.function_unit_files import FunctionUnitDescription
from atoll.description.remedies import remove
from atoll.diagnostics.errors import SourceLoc
from atoll.isa.function_unit import OPCODES, FunctionUnit, Instruction
from atoll.resolve.core_instances import locate_beside
from atoll.resolve.draft import Draft


def check_unit(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note a function unit that a core has no port for."""
    description = draft.description.cores.get(name)
    unit = draft.description.function_units.get(name)
    if description is None or unit is None or not draft.knows("devices", name, "function_unit"):
        return
    core, at = description.model, draft.where.at("devices", name, "function_unit")
    if core.function_unit is None:
        draft.faults.add(
            "E125",
            f"core '{core.core}' of '{name}' has no port for a function unit",
            at=at,
            remedy=remove("devices", name, "function_unit")
            | "name a core that has one, such as vexriscv_cfu",
        )
    elif core.function_unit != unit.model.style:
        draft.faults.add(
            "E125",
            f"core '{core.core}' of '{name}' has a port of style '{core.function_unit}' for a"
            f" function unit, and '{unit.model.function_unit}' is made for '{unit.model.style}'",
            at=at,
            other=note(unit.where.at("style"), "the unit says so here"),
            remedy=remove("devices", name, "function_unit")
            | f"write 'style: {core.function_unit}' in the unit's file if its encodings fit",
        )


def unit_of(description: FunctionUnitDescription) -> FunctionUnit:
    """Return what later stages know of a unit."""
    model, beside = description.model, description.path.parent
    return FunctionUnit(
        name=model.function_unit,
        style=model.style,
        instructions=tuple(
            Instruction(
                name=name,
                opcode=OPCODES[each.opcode],
                funct3=each.funct3,
                funct7=each.funct7,
                latency=each.latency if isinstance(each.latency, int) else 0,
                meaning=each.computes or "",
                state=model.state,
                model=model.model,
            )
            for name, each in model.instructions.items()
        ),
        kernels=model.kernels or "",
        rtl_module=model.rtl.module if model.rtl else "",
        rtl_sources=tuple(
            locate_beside(word, beside) for word in (model.rtl.sources if model.rtl else ())
        ),
        places=dict(_places(description)),
    )


def _places(description: FunctionUnitDescription) -> Iterator[tuple[str, SourceLoc]]:
    keys: list[tuple[str, ...]] = [("model",), ("kernels",), ("rtl", "module")]
    if rtl := description.model.rtl:
        keys += [("rtl", "sources", str(index)) for index in range(len(rtl.sources))]
    for key in keys:
        if at := description.where.at(*key):
            yield ".".join(key), at
