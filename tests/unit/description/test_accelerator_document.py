# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/accelerators.md say what the code has."""

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from atoll.description.accelerator import Accelerator, Operator
from atoll.description.operators import DRIVERS, FEATURES, QUANTITIES
from atoll.description.programs import Program
from atoll.ir.job import Job
from atoll.resolve.engine_parts import EMITTER_METHODS
from atoll_sim import npu_model
from atoll_sim.chip.ports import ADDRESS, BITS, CONTROL, DATA, LANES, Protocol
from atoll_sim.engines import interface
from atoll_sim.engines.calls import MODEL_METHODS

TEXT = (Path(__file__).parents[3] / "docs" / "accelerators.md").read_text()
CONTROL_WIDTHS = {BITS: "32", LANES: "4", ADDRESS: "12"}
DATA_WIDTHS = {BITS: "8 x B", LANES: "B", ADDRESS: "32"}


def table(heading: str) -> list[list[str]]:
    """Return the rows of the table whose first column has this heading."""
    found = re.search(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.M)
    assert found
    rows = found[1].strip().split("\n")
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_features() -> None:
    listed: dict[str, set[str]] = {kind: set() for kind in FEATURES}
    for names, _, operators in table("features"):
        for kind in FEATURES if operators == "all" else words(operators):
            assert not listed[kind] & {*words(names)}
            listed[kind] |= {*words(names)}
    assert listed == {kind: {*names} for kind, names in FEATURES.items()}


def test_registers() -> None:
    assert tuple(words(row[0])[0] for row in table("register")) == DRIVERS["command_list"]


def test_registers_of_a_doorbell() -> None:
    listed = [name for row in table("register of a doorbell") for name in words(row[0])]
    assert sorted(listed) == sorted(DRIVERS["doorbell"])


def ports(protocol: Protocol, prefix: str, asks: bool, widths: Mapping[str, str]) -> list[str]:
    """Return the ports as the document has them; one bit is not said."""
    return [
        f"`{prefix}_{protocol.infix}_{name}_{'o' if driven == asks else 'i'}`"
        + ("" if width == 1 else f" {widths.get(str(width), str(width))}")
        for name, width, driven in protocol.signals
    ]


def test_control_ports() -> None:
    listed = {
        words(name)[0]: row.split(", ") for name, row in table("protocol of the control port")
    }
    assert listed == {
        name: ports(protocol, "s", False, CONTROL_WIDTHS) for name, protocol in CONTROL.items()
    }


def test_data_ports() -> None:
    """Those with the signals of a control port are only named."""
    listed = {words(name)[0]: row.split(", ") for name, row in table("protocol of a data port")}
    mirrored = re.search(r"Its .+ have the signals above in", TEXT)
    assert mirrored
    shared = words(mirrored[0])
    assert all(CONTROL[name].signals == DATA[name].signals for name in shared)
    assert listed == {
        name: ports(DATA[name], "m", True, DATA_WIDTHS) for name in DATA if name not in shared
    }


def test_arithmetic() -> None:
    listed = {
        kind: tuple(words(numbers))
        for kinds, numbers in table("arithmetic")
        for kind in words(kinds)
    }
    assert listed == dict(QUANTITIES)


def test_parts_of_operators_and_programs() -> None:
    parts = [
        name
        for row in re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ", TEXT, re.M)
        for name in words(row)
    ]
    for model in (Operator, Program):
        assert {*model.model_fields} <= {*parts}


def test_methods() -> None:
    calls = {name: f"{name}({', '.join(taken)})" for name, taken in EMITTER_METHODS.items()}
    calls |= {name: f"{name}({', '.join(taken)})" for name, taken in MODEL_METHODS.items()}
    named = re.findall(r"^\| `(\w+\([^`]*\))` \|", TEXT, re.M)
    assert sorted(named) == sorted(calls.values())


def test_fields_of_a_job_and_keys_of_the_yaml() -> None:
    assert [name for row in table("field") for name in words(row[0])] == [
        field.name for field in fields(Job)
    ]
    keys = [name for row in table("key") for name in words(row[0])]
    assert sorted(keys) == sorted(Accelerator.model_fields)


def test_the_interface_of_models_is_also_where_it_was_before() -> None:
    assert {name: getattr(npu_model, name) for name in npu_model.__all__} == {
        name: getattr(interface, name) for name in ("Bus", "BusFault", "Outcome")
    }
