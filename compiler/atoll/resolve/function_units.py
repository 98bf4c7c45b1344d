# SPDX-License-Identifier: Apache-2.0
"""Function units of cores: which core may have which, and what of it all later stages see."""

from collections.abc import Iterator, Mapping

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.function_unit_files import FunctionUnitDescription
from atoll.description.remedies import remove
from atoll.diagnostics.errors import SourceLoc
from atoll.isa.function_unit import OPCODES, FunctionUnit, Instruction
from atoll.resolve.draft import Draft
from atoll.resolve.rtl_files import entry_beside, rtl_keys, rtl_parts

NAMES: Mapping[str, Mapping[str, str]] = {
    "atoll": {},
    "cfu_playground": {
        "clk_i": "clk",
        "rst_ni": "!reset",
        "valid_i": "cmd_valid",
        "ready_o": "cmd_ready",
        "function_i": "cmd_payload_function_id",
        "a_i": "cmd_payload_inputs_0",
        "b_i": "cmd_payload_inputs_1",
        "rvalid_o": "rsp_valid",
        "rready_i": "rsp_ready",
        "result_o": "rsp_payload_outputs_0",
    },
    "if_xif": {},
}
"""What others call the ports of docs/function-units.md."""


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
                model=entry_beside(model.model, beside),
            )
            for name, each in model.instructions.items()
        ),
        clear=model.clear or "",
        kernels=entry_beside(model.kernels, beside),
        **rtl_parts(model.rtl, beside),
        rtl_ports={**NAMES[model.rtl.names], **model.rtl.ports} if model.rtl else {},
        rtl_ties=model.rtl.ties if model.rtl else {},
        rtl_interface=bool(model.rtl and model.rtl.names == "if_xif"),
        rtl_parameters=(
            {name: str(value) for name, value in model.rtl.parameters.items()} if model.rtl else {}
        ),
        places=dict(_places(description)),
    )


def _places(description: FunctionUnitDescription) -> Iterator[tuple[str, SourceLoc]]:
    for key in (("model",), ("kernels",), *rtl_keys(description.model.rtl)):
        if at := description.where.at(*key):
            yield ".".join(key), at
