"""The tables of docs/accelerators.md say what the code has."""

import re
from dataclasses import fields
from pathlib import Path

from atoll.description.accelerator import Accelerator
from atoll.description.operators import DRIVERS, FEATURES
from atoll.lower.accelerator import Job
from atoll.resolve.engine_parts import EMITTER_METHODS
from atoll_sim import npu_model
from atoll_sim.chip.generate import ANSWERS, AXI, AXIL
from atoll_sim.engines import interface
from atoll_sim.engines.calls import MODEL_METHODS

TEXT = (Path(__file__).parents[3] / "docs" / "accelerators.md").read_text()
WIDTHS = {"bits": "8 x `DataBytes`", "bytes": "`DataBytes`"}


def table(heading: str) -> list[list[str]]:
    """Return the rows of the table whose first column has this heading."""
    found = re.search(rf"^\| {heading} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", TEXT, re.M)
    assert found
    rows = found[1].strip().split("\n")
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_features() -> None:
    listed = {words(operator)[0]: tuple(words(names)) for operator, names in table("operator")}
    assert listed == dict(FEATURES)


def test_registers() -> None:
    assert tuple(words(row[0])[0] for row in table("register")) == DRIVERS["command_list"]


def test_ports() -> None:
    ports = [("clk_i", "in", "1"), ("rst_ni", "in", "1")]
    for prefix, signals, master in (("m_axi", AXI, True), ("s_axil", AXIL, False)):
        for name, width in signals:
            out = (name not in ANSWERS) == master
            bits = WIDTHS.get(str(width), str(width))
            ports.append((f"{prefix}_{name}_{'o' if out else 'i'}", "out" if out else "in", bits))
    ports.append(("irq_o", "out", "1"))
    assert [(words(name)[0], way, bits) for name, way, bits in table("port")] == ports


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
