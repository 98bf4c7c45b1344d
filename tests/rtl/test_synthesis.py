# SPDX-License-Identifier: Apache-2.0
"""Yosys elaborates engines and whole chips without a latch, a loop, or a warning."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.synthesis import designs
from benchmarks.synthesis_tools import Faulty, Synthesis, kept_cost
from tests.benches.reef_sources import REEF
from tests.benches.ripple_sources import RIPPLE

from atoll.resolve import load_soc
from atoll_sim.chip.generate import generate, in_order, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import find_source

pytestmark = [pytest.mark.rtl, pytest.mark.slow]

LANES = ("InputLanes", "OutputLanes", "WeightRows", "DataBytes", "Requantisers", "Vector")
REEFS = [
    *((8, 8, 256, 8, 16, 2), (4, 4, 16, 8, 1, 0), (4, 8, 64, 16, 2, 1)),
    *((16, 4, 128, 16, 4, 1), (16, 16, 1024, 16, 16, 2)),
]
WRONG = {
    "latch": ("always_comb if (a_i) y_o = b_i;", "logic loop"),
    "ring": ("logic c; assign c = !(y_o & a_i); assign y_o = c ^ b_i;", "logic loop"),
    "kept": ("always_latch if (a_i) y_o = b_i;", r"selection is not empty: t:\$dlatch"),
    "loaded": (
        "always_ff @(posedge clk_i or negedge a_i) if (!a_i) y_o <= b_i; else y_o <= !y_o;",
        r"selection is not empty: t:\$aldff",
    ),
    "undriven": ("logic c; assign y_o = a_i & c;", r"undriven:   connect \\c 1'x"),
    "twice": ("wire c; assign c = a_i; assign c = b_i; assign y_o = c;", "conflicting drivers"),
    "early": ("assign y_o = c; logic c; assign c = a_i;", "used before its declaration"),
    "narrow": ("logic [1:0] c; assign c = 3'd7; assign y_o = c[0];", "implicit conversion"),
    "parameter": ("`ATOLL_ASSERT_INIT(Never, 1 > 2)\nassign y_o = a_i;", "Never: 1 > 2 must hold"),
}


@pytest.fixture
def synthesis(tmp_path: Path) -> Synthesis:
    return Synthesis(tmp_path)


@pytest.mark.parametrize("values", REEFS)
def test_the_tensor_engine_is_synthesisable(values: tuple[int, ...], synthesis: Synthesis) -> None:
    parameters = dict(zip(LANES, values, strict=True))
    assert not synthesis.faults("reef", [find_source(name) for name in REEF], parameters)


@pytest.mark.parametrize("width", [4, 8, 16, 32, 64])
def test_the_dma_engine_is_synthesisable(width: int, synthesis: Synthesis) -> None:
    assert not synthesis.faults(
        "ripple", [find_source(name) for name in RIPPLE], {"DataBytes": width}
    )


@pytest.mark.parametrize("width", [8, 16])
def test_the_bus_of_cores_is_synthesisable(width: int, synthesis: Synthesis) -> None:
    names = ("atoll_bus_pkg", "atoll_fifo", "atoll_core_local", "atoll_core_bus")
    rtl = [find_source(f"{name}.sv") for name in names]
    assert not synthesis.faults("atoll_core_bus", rtl, {"DataBytes": width})


@pytest.mark.parametrize(("ports", "harts"), [(1, 1), (3, 5)])
def test_software_interrupts_are_synthesisable(
    ports: int, harts: int, synthesis: Synthesis
) -> None:
    names = ("atoll_bus_pkg", "atoll_word_port", "atoll_msip")
    parameters = {"DataBytes": 8, "NumPorts": ports, "NumHarts": harts}
    assert not synthesis.faults(
        "atoll_msip", [find_source(f"{name}.sv") for name in names], parameters
    )


@pytest.mark.parametrize("name", ["apb", "obi", "wishbone", "axil"])
def test_the_adapters_of_control_ports_are_synthesisable(name: str, synthesis: Synthesis) -> None:
    top = f"atoll_bus_to_{name}"
    names = ("atoll_bus_pkg", "atoll_rest_clock" if name == "axil" else "atoll_word_access", top)
    rtl = [find_source(f"{name}.sv") for name in names]
    assert not synthesis.faults(top, rtl, {"DataBytes": 32, "AddrBits": 20})


@pytest.mark.parametrize(
    ("name", "pipelined"), [("obi", None), ("axil", None), ("wishbone", 0), ("wishbone", 1)]
)
def test_the_adapters_of_data_ports_are_synthesisable(
    name: str, pipelined: int | None, synthesis: Synthesis
) -> None:
    top = f"atoll_{name}_to_bus"
    rtl = [find_source(f"{name}.sv") for name in ("atoll_bus_pkg", "atoll_fifo", top)]
    kind = {} if pipelined is None else {"Pipelined": pipelined}
    assert not synthesis.faults(top, rtl, {"DataBytes": 64, "PortBytes": 4, **kind})


@pytest.mark.parametrize("ports", [1, 3])
def test_the_merge_is_synthesisable(ports: int, synthesis: Synthesis) -> None:
    names = ("atoll_bus_pkg", "atoll_fifo", "atoll_arbiter", "atoll_merge")
    rtl = [find_source(f"{name}.sv") for name in names]
    assert not synthesis.faults("atoll_merge", rtl, {"DataBytes": 16, "NumPorts": ports})


@pytest.mark.parametrize(
    ("name", "clocks", "external_host", "faults"),
    [
        pytest.param("twin", [], False, False, marks=pytest.mark.slow),
        ("twin", ["dsp", "npu_large", "dma"], False, False),
        ("lagoon", [], True, False),
        ("lagoon", [], False, True),
    ],
)
def test_a_whole_chip_is_synthesisable(
    name: str,
    clocks: list[str],
    external_host: bool,
    faults: bool,
    synthesis: Synthesis,
    tmp_path: Path,
) -> None:
    soc = load_soc(name, [f"devices.{device}.clock=80 MHz" for device in clocks])
    chip = replace(plan_chip(soc, external_host=external_host), faults=faults)
    texts = generate(chip)
    folder = tmp_path / "generated"
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text)
    assert not synthesis.faults("atoll_chip", [*in_order(texts, sources(chip), folder)])


@pytest.mark.parametrize(
    ("top", "name", "value", "condition"),
    [
        ("reef", "InputLanes", 12, "LegalLanes: InputLanes inside {4, 8, 16}"),
        ("reef", "WeightRows", 2048, "LegalRows: $onehot(WeightRows)"),
        ("ripple", "DataBytes", 128, "LegalBeat: $onehot(DataBytes) && DataBytes >= 4"),
        ("engine_reader", "QueueBeats", 24, "LegalQueue: "),
        ("atoll_fifo", "Depth", 6, "LegalDepth: $onehot(Depth)"),
        ("atoll_axi_to_bus", "AxiBytes", 16, "FitsTheBus: "),
        ("atoll_guard", "NumMasters", 33, "LegalMasters: "),
        ("atoll_memory", "SizeBytes", 4095, "WholeRows: "),
        ("atoll_reset_sync", "Stages", 1, "EnoughStages: "),
        ("atoll_async_fifo", "Depth", 6, "LegalDepth: $onehot(Depth)"),
        ("atoll_bus_crossing", "Depth", 1, "LegalDepth: "),
        ("atoll_synchroniser", "Width", 0, "SomeLevel: "),
        ("atoll_core_bus", "DataBytes", 4, "LegalBeat: "),
        ("atoll_core_bus", "LocalOrigin", 4096, "LegalOrigin: "),
        ("atoll_word_access", "AddrBits", 2, "LegalAddress: "),
        ("atoll_bus_to_axil", "AddrBits", 33, "LegalAddress: "),
        ("atoll_obi_to_bus", "PortBytes", 16, "FitsTheBus: "),
        ("atoll_wishbone_to_bus", "PortBytes", 2, "FitsTheBus: "),
        ("atoll_axil_to_bus", "Depth", 6, "LegalDepth: "),
        ("atoll_merge", "NumPorts", 0, "SomePort: "),
    ],
)
def test_illegal_parameters_are_refused(
    top: str, name: str, value: int, condition: str, synthesis: Synthesis
) -> None:
    names = ("core_local", "core_bus", "word_access", "axil_to_bus", "obi_to_bus", "merge")
    more = [find_source(f"atoll_{each}.sv") for each in (*names, "wishbone_to_bus")]
    clock = "devices.dsp.clock=80 MHz"
    rtl = (*sources(plan_chip(load_soc("twin", [clock]))), *more)
    said = synthesis.faults(top, rtl, {name: value})
    assert condition in said


def written(name: str, folder: Path) -> Path:
    """Write a module that is wrong."""
    body, _ = WRONG[name]
    wrong = folder / "generated" / "wrong.sv"
    wrong.parent.mkdir()
    wrong.write_text(
        f'`include "atoll_assert.svh"\nmodule wrong (\n'
        f"  input logic clk_i, a_i, b_i, output logic y_o\n);\n{body}\nendmodule\n"
    )
    return wrong


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str, synthesis: Synthesis, tmp_path: Path) -> None:
    wrong = written(name, tmp_path)
    assert re.search(WRONG[name][1], synthesis.faults("wrong", [wrong]))


@pytest.mark.parametrize("name", ["latch", "ring", "kept"])
def test_there_is_no_cost_of_latches_and_loops(name: str, tmp_path: Path) -> None:
    wrong = written(name, tmp_path)
    with pytest.raises(Faulty, match=WRONG[name][1]):
        kept_cost(tmp_path, "wrong", [wrong], {}, place=True)


def test_a_firewall_has_a_cost_and_a_longest_path(tmp_path: Path) -> None:
    *_, firewall = designs()
    given = (firewall.top, firewall.paths(), firewall.parameters)
    counted = kept_cost(tmp_path, *given, place=False)
    placed = kept_cost(tmp_path, *given, place=True)
    assert placed.cells == counted.cells
    assert (placed.cells["LUT4"] > 0, placed.cells["TRELLIS_FF"] > 0) == (True, True)
    assert (counted.ends, counted.path_ns) == ("not placed", 0)
    assert 0 < placed.path_ns < 20
    assert kept_cost(tmp_path, *given, place=False) == placed
