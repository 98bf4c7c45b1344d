# SPDX-License-Identifier: Apache-2.0
"""The area of a chip's logic: its terms, its parts, and what of it is not known."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from atoll.cost.areas import ChipLogic, logic_of, model, model_of
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.chip.generate import generate
from atoll_sim.chip.plan import plan_chip

DATA: Mapping[str, Any] = json.loads(
    files("atoll.cost.data").joinpath("areas.json").read_text(encoding="utf-8")
)
ROOT = Path(__file__).parents[3]
NAMES = {
    "DataBytes": "data_bytes",
    "NumReadable": "readable",
    "NumWritable": "writable",
    "NumTargets": "targets",
    "NumPorts": "ports",
    "WordBytes": "word_bytes",
    "NumBanks": "banks",
    "ReadLatency": "read_latency",
    "NumMasters": "masters",
    "NumViews": "views",
    "AxiBytes": "port_bytes",
    "PortBytes": "port_bytes",
    "Holds": "holds",
    "Depth": "depth",
}


def instances(soc: ResolvedSoc) -> Counter[tuple[str, frozenset[tuple[str, int]]]]:
    """Return the instances of the platform in the chip's SystemVerilog, with what counts."""
    text = generate(plan_chip(soc))["atoll_chip.sv"]
    found: Counter[tuple[str, frozenset[tuple[str, int]]]] = Counter()
    for name, given in re.findall(r"^  (\w+) (?:#\(([^;]*?)\) )?u_\w+ \(", text, re.M | re.S):
        module = DATA["modules"].get(name)
        if module and name.startswith("atoll_") and f"{soc.host_cpu.spec.rtl_module}" != name:
            values = {
                NAMES[key]: int(value.rpartition("'b")[2])
                for key, value in re.findall(r"\.(\w+)\s*\((\d+(?:'b\d+)?)\)", given)
                if key in NAMES
            }
            if name == "atoll_axi_to_bus":
                values.setdefault("depth", 8)
            if name == "atoll_mailbox":
                values.setdefault("holds", 0)
            if name == "atoll_bus_crossing":
                bits = int(re.findall(r"AnswerBits *\((\d+)", given)[0])
                values["data_bytes"] = (bits - 2) // 8
            values = {key: each for key, each in values.items() if key in module["limits"]}
            found[name, frozenset(values.items())] += 1
    straps = re.findall(r"input  window_t \[(\d+):0\]", text)
    count = sum(int(each) + 1 for each in straps)
    found["window registers", frozenset({("windows", count)})] += 1
    return found


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("lagoon", []),
        ("lagoon", ["devices.npu=null"]),
        ("lagoon", ["devices.npu.clock=80 MHz", "memories.sram.banks=2"]),
        ("lagoon", ["devices.npu.params.data_bytes=16", "memories.sram.width=16"]),
        ("twin", []),
        ("quad", []),
        ("examples/10_vector_engine/chip.yaml", []),
        ("examples/11_systolic_array/chip.yaml", []),
        ("tests/data/bay.yaml", []),
        ("tests/data/shore.yaml", []),
        ("tests/data/dashed.yaml", []),
    ],
)
def test_the_platform_is_what_the_simulator_builds(name: str, settings: list[str]) -> None:
    from atoll.cost import areas

    soc = load_soc(ROOT / name if name.endswith(".yaml") else name, settings)
    beat = plan_chip(soc).data_bytes
    said: Counter[tuple[str, frozenset[tuple[str, int]]]] = Counter()
    cores = {core.spec.rtl_module for core in soc.cpus}
    for _, module, params in areas._platform(soc, beat):
        if module not in DATA["modules"]:
            continue
        limits = DATA["modules"][module]["limits"]
        said[module, frozenset((key, params[key]) for key in params if key in limits)] += 1
    built = instances(soc)
    assert said == Counter({key: each for key, each in built.items() if key[0] not in cores})


def test_each_sample_is_near_what_the_model_says() -> None:
    for name, told in DATA["modules"].items():
        module = model().modules[name]
        for sample in told["samples"]:
            assert module.bits(sample) == sample["bits"], name
            share = sample["um2"] / module.um2(sample) - 1
            assert -module.band.low - 1e-3 <= share <= module.band.high + 1e-3, (name, sample)


def test_no_term_takes_less_than_nothing() -> None:
    for name, module in model().modules.items():
        assert all(each > 0 for _, each in module.terms), name
        assert 0 <= module.band.low < 0.25, name
        assert 0 <= module.band.high < 0.25, name


def lagoon(*settings: str) -> ChipLogic:
    return logic_of(load_soc("lagoon", settings))


def test_an_area_is_the_sum_of_all_parts() -> None:
    found = lagoon()
    assert found.total == round(sum(found.parts.values()))
    assert {*found.parts} == {
        *("devices.cpu", "devices.npu", "memories.flash", "memories.dtcm", "memories.sram"),
        "platform",
    }
    assert found.low is not None
    assert found.high is not None
    assert found.low <= (found.total or 0) <= found.high
    assert found.basis == "fitted"
    assert found.sram_bytes is not None
    # Rows of weights, lines, a table and exponentials, and the registers of the core.
    inside = 8 * 8 * 256 + 36 * 64 * 8 // 8 + 128 * 8 + 1024 + 144
    assert found.sram_bytes == (256 + 64) * 1024 + inside


@pytest.mark.parametrize(
    ("setting", "part"),
    [
        ("devices.npu.params.requantisers=2", "devices.npu"),
        ("devices.npu.params.input_lanes=4", "devices.npu"),
        ("devices.npu.params.vector=0", "devices.npu"),
        ("devices.npu.params.line_columns=0", "devices.npu"),
        ("memories.sram.banks=1", "memories.sram"),
    ],
)
def test_less_hardware_takes_less_of_its_part_alone(setting: str, part: str) -> None:
    whole, less = lagoon(), lagoon(setting)
    changed = {key for key, each in whole.parts.items() if less.parts[key] != each}
    assert changed == {part}
    assert less.parts[part] < whole.parts[part]


def test_a_slow_array_is_no_logic() -> None:
    """Latency costs what a port needs to keep track of accesses, however wide the array is."""
    port = 8 * 25.024  # about as many flip-flops
    for settings in ([], ["memories.flash.width=8"], ["memories.flash.banks=4"]):
        fast, slow = (
            lagoon(*settings, f"memories.flash.read_latency={cycles}").parts["memories.flash"]
            for cycles in (1, 5)
        )
        assert (slow - fast) / 4 == pytest.approx(2 * port, rel=0.05)


def test_what_lies_beyond_all_samples_is_not_known() -> None:
    wide = ["devices.npu.params.input_lanes=16", "devices.npu.params.output_lanes=16"]
    found = lagoon(*wide, "devices.npu.params.data_bytes=16")
    assert found.total is None
    assert found.low is None
    assert found.sram_bytes is None
    assert found.lacks == ("devices.npu: reef with input_lanes 16",)
    assert found.basis_words.startswith("nothing says devices.npu: reef with")
    cortex = load_soc("corstone300")
    assert logic_of(cortex).total is None
    assert f"devices.{cortex.host}.area" in "; ".join(logic_of(cortex).lacks)


def test_what_a_device_states_of_the_same_library_counts() -> None:
    def stated(library: str) -> ChipLogic:
        return lagoon(f"devices.npu.area={{source: own synthesis, um2: 1000{library}}}")

    found = stated(", library: sky130_fd_sc_hd, basis: measured")
    assert found.parts["devices.npu"] == 1000
    assert found.total == round(sum(found.parts.values()))
    assert found.basis == "fitted"
    assert found.sram_bytes is None, "of a device whose SRAM nobody told"
    assert (found.low, found.high) == (None, None), "nobody told how far off it is"
    for other in ("", ", library: asap7"):
        found = stated(other)
        assert found.total is None
        assert found.lacks == ("devices.npu.area.library: sky130_fd_sc_hd",)


def test_terms_are_added() -> None:
    module = {
        "um2": {"1": 10, "lanes * lanes": 2.5},
        "sram_bits": {"lanes": 8},
        "band": {"low": 0.1, "high": 0.2},
        "limits": {"lanes": [2, 8], "lanes * lanes": [4, 64]},
    }
    (made,) = model_of(
        json.dumps({"library": "own", "source": "own", "modules": {"array": module}})
    ).modules.values()
    assert made.um2({"lanes": 4}) == 50
    assert made.bits({"lanes": 4}) == 32
    assert made.beyond({"lanes": 4}) == ""
    assert made.beyond({"lanes": 1}) == "lanes 1"
    assert made.beyond({"other": 1}) == "no lanes"
