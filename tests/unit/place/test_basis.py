# SPDX-License-Identifier: Apache-2.0
"""Figures of cores that nobody measured say so, and what they would decide otherwise."""

import json
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main
from atoll.cost.bands import Band
from atoll.cost.basis import (
    FARTHEST_TIMED,
    PUBLISHED_OTHER_BAND,
    basis_of,
    driver_source,
    joint_basis,
    source_of_operator,
)
from atoll.cost.data.picorv32 import OTHER_BAND
from atoll.cost.engines import busy_cycles
from atoll.description.core_files import find_core, load_core
from atoll.driver.compiled import placed_graph
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.frontend.registry import load_network
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc
from atoll_sim.accelerator_test.chip import SETTINGS

EXAMPLES = Path(__file__).parents[3] / "examples"
DIGITS = str(EXAMPLES / "01_digits" / "digits_int8.tflite")
ISLANDS = Path(__file__).parents[2] / "data" / "islands.yaml"
STRAIT = str(ISLANDS.with_name("strait.yaml"))
M4 = (
    *("devices.cpu.core=cortex_m4", "devices.cpu.isa=armv7e-m"),
    *(f"memories.{memory}.read_latency=1" for memory in ("flash", "store")),
)
UNMEASURED = ("devices.cpu.core=riscv", "devices.cpu.isa=rv32im")
SET_UNMEASURED = [word for each in UNMEASURED for word in ("--set", each)]
ISAS = {"picorv32": "rv32imc", "riscv": "rv32im"}


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main([*words, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def bases(value: object) -> list[str]:
    """Return what is below every key `basis`."""
    if isinstance(value, list):
        return [each for item in value for each in bases(item)]
    if not isinstance(value, dict):
        return []
    own = [value["basis"]] if "basis" in value else []
    return [*own, *(each for item in value.values() for each in bases(item))]


def test_all_estimates_rest_on_the_core_that_stands_in(capsys: pytest.CaptureFixture[str]) -> None:
    weighed: dict[str, set[str]] = {"estimate": set(), "explain": {"counted x measured"}}
    for command, cores in weighed.items():
        assert set(bases(told(capsys, command, "lagoon", DIGITS))) == {"measured", *cores}
    found = told(capsys, "explain", "lagoon", DIGITS, *SET_UNMEASURED)
    kinds = {each["operator"]: each["basis"] for each in found["operators"]}  # type: ignore[attr-defined]
    assert kinds.pop("reshape_7") == "measured", "no figure decided about it"
    assert {*kinds.values()} == {"picorv32"}
    assert {*bases(found["coverage"])} == {"driver picorv32"}
    cycles = told(capsys, "estimate", "lagoon", DIGITS, *SET_UNMEASURED)["cycles"]
    assert cycles["basis"] == "picorv32"  # type: ignore[index]
    assert {*bases(cycles["by_layer"])} == {"driver picorv32", "measured"}  # type: ignore[index]


@pytest.mark.parametrize("command", ["estimate", "explain"])
def test_a_stand_in_is_marked_in_text(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "lagoon", DIGITS]) == 0
    shown = capsys.readouterr().out
    assert ("(basis: counted x measured)" in shown) is (command == "explain")
    assert "picorv32" not in shown
    assert main([command, "lagoon", DIGITS, *SET_UNMEASURED]) == 0
    assert "(basis: picorv32, band not known)" in capsys.readouterr().out


def test_cycles_of_an_accelerator_rest_on_its_own_source() -> None:
    """The driver, which is the host's, is named apart; beside a core it is the same stand-in."""
    soc = load_soc("corstone300_u55")
    assert basis_of(soc, ("ethos_u55",)) == "vela, driver counted x published"
    assert basis_of(soc, ("ethos_u55", "cpu")) == "counted x published, vela"
    soc = load_soc("corstone300_u55", ("devices.cpu.isa=armv8.1-m.main",))
    assert basis_of(soc, ("ethos_u55",)) == "vela, driver picorv32"
    assert basis_of(soc, ("ethos_u55", "cpu")) == "picorv32, vela"
    assert basis_of(load_soc(EXAMPLES / "10_vector_engine" / "chip.yaml"), ("vector",)) == "formula"
    assert basis_of(load_soc("lagoon", UNMEASURED), ("npu",)) == "driver picorv32"


@pytest.mark.parametrize(
    ("operators", "basis"),
    [
        ("ADD: {cost: 10}", "formula"),
        ("ADD: {}", "assumed"),
        ("ADD: {}\n  CONV_2D: {cost: macs}", "formula, assumed"),
    ],
)
def test_cycles_without_a_formula_are_assumed(operators: str, basis: str, tmp_path: Path) -> None:
    (tmp_path / "adder.yaml").write_text(
        f"accelerator: adder\nversion: 1\noperators:\n  {operators}\n"
    )
    chip, npu = tmp_path / "chip.yaml", "{accelerator: ./adder.yaml, params: null, runs: null}"
    chip.write_text(f"extends: {ISLANDS}\nsoc: own\ndevices: {{npu_b: {npu}}}\n")
    assert basis_of(load_soc(chip), ("npu_b",)) == basis


def test_an_emitter_that_does_not_say_has_no_measured_cycles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES / "07_own_accelerator"))
    soc = load_soc(EXAMPLES / "07_own_accelerator" / "chip.yaml")
    assert basis_of(soc, ("joiner",)) == "emitter"


def test_sums_name_each_source_once() -> None:
    assert joint_basis(("measured", "measured")) == "measured"
    assert joint_basis(("vela, driver picorv32", "measured")) == "vela, driver picorv32"
    assert joint_basis(("vela, driver picorv32", "picorv32", "vela")) == "vela, picorv32"


@pytest.mark.parametrize(
    ("core", "basis"),
    [("riscv", "picorv32, formula"), ("picorv32", "counted x measured, formula")],
)
def test_copies_by_a_core_get_faster_with_it(
    core: str, basis: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """ADD takes 1,165 cycles and 13,166 for copies by the host, which itself would take 78,995."""
    (tmp_path / "adder.yaml").write_text(
        "accelerator: adder\nversion: 1\noperators:\n  ADD: {cost: 10}\n"
    )
    chip, npu = tmp_path / "chip.yaml", "{accelerator: ./adder.yaml, params: null, runs: null}"
    chip.write_text(f"extends: {ISLANDS}\nsoc: own\ndevices: {{npu_b: {npu}}}\n")
    chosen = ("--set", f"devices.cpu.core={core}", "--set", f"devices.cpu.isa={ISAS[core]}")
    found = told(capsys, "explain", str(chip), DIGITS, *chosen)
    (add,) = (each for each in found["operators"] if each["operator"] == "add_3")  # type: ignore[attr-defined]
    assert (add["device"], add["turns_to"], add["basis"]) == ("npu_b", None, basis)
    assert "for copies" in add["reason"]


def test_one_core_of_two_is_measured() -> None:
    soc = load_soc("twin", ("devices.dsp.core=riscv", "devices.dsp.isa=rv32im"))
    assert basis_of(soc, ("npu",)) == "measured"
    assert basis_of(soc, ("dsp",)) == "picorv32"


@pytest.mark.parametrize(("core", "turns_to"), [("riscv", "cpu"), ("picorv32", None)])
def test_explain_says_when_a_faster_core_would_get_an_operator(
    core: str, turns_to: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The accelerator takes two thirds of what PicoRV32 takes."""
    (tmp_path / "slow.yaml").write_text(
        "accelerator: slow\nversion: 1\noperators:\n  CONV_2D: {cost: 20 * macs}\n"
    )
    chip = tmp_path / "chip.yaml"
    npu = "{accelerator: ./slow.yaml, params: null}"
    chip.write_text(f"extends: lagoon\nsoc: own\ndevices: {{npu: {npu}}}\n")
    chosen = ("--set", f"devices.cpu.core={core}", "--set", f"devices.cpu.isa={ISAS[core]}")
    words = ("explain", str(chip), DIGITS, *chosen)
    first = told(capsys, *words)["operators"][0]  # type: ignore[index]
    assert (first["device"], first["turns_to"]) == ("npu", turns_to)
    sentence = "; 'cpu' if unmeasured cores are 10 times faster than that"
    assert first["reason"].endswith(sentence) == (turns_to is not None)


def test_explain_names_the_devices_that_may_be_faster_within_their_bands(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At 2 MHz reef takes 20,158 cycles ± 15 % for the pool, and PicoRV32 20,518."""
    slow = ("--set", "devices.npu.clock=2 MHz")
    found: list[dict[str, Any]] = told(capsys, "explain", "lagoon", DIGITS, *slow)["operators"]  # type: ignore[assignment]
    (pool,) = (each for each in found if each["operator"] == "average_pool_2d_6")
    assert (pool["device"], pool["within_band"]) == ("npu", ["cpu"])
    high, low = (
        pool["costs"]["npu"]["cycles"] * (1 + pool["costs"]["npu"]["band"]["high"]),
        pool["costs"]["cpu"]["cycles"] * (1 - pool["costs"]["cpu"]["band"]["low"]),
    )
    assert high > low
    usual = told(capsys, "explain", "lagoon", DIGITS)["operators"]
    assert [each["within_band"] for each in usual] == [[]] * len(usual)  # type: ignore[arg-type, attr-defined]


def test_a_pin_that_makes_an_operator_many_times_slower_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pin = ("--pin", "image=private")
    note = "conv_2d_0 takes 217 times as long on 'cpu' as on 'npu': "
    assert main(["plan", "lagoon", DIGITS]) == 0
    assert capsys.readouterr().err == ""
    assert main(["plan", "lagoon", DIGITS, *pin]) == 0
    assert note in capsys.readouterr().err.replace("\n  ", " ")
    assert any(note in each for each in told(capsys, "estimate", "lagoon", DIGITS, *pin)["notes"])  # type: ignore[attr-defined]


def test_a_calibrated_accelerator_takes_what_was_measured(tmp_path: Path) -> None:
    (tmp_path / "adder.yaml").write_text(
        """
accelerator: adder
version: 1
parameters: {lanes: {default: 4, choices: [4, 8]}}
operators:
  ADD: {cost: 10}
  CONV_2D: {cost: macs}
timing:
  source: it
  operators: {CONV_2D: {factor: 1.5, offset: 7, band: {low: 0.1, high: 0.2}}}
"""
    )
    chip, npu = tmp_path / "chip.yaml", "{accelerator: ./adder.yaml, params: null, runs: null}"
    chip.write_text(f"extends: {ISLANDS}\nsoc: own\ndevices: {{npu_b: {npu}}}\n")
    soc, graph = load_soc(chip), load_network(Path(DIGITS))
    engine = next(each for each in soc.engines if each.name == "npu_b")
    conv = next(op for op in graph.operators if op.kind == "conv_2d")
    added = next(op for op in graph.operators if op.kind == "add")
    macs = kind_of(conv).features(conv, graph)["macs"]
    assert busy_cycles(conv, graph, engine, soc) == round(1.5 * macs) + 7
    assert busy_cycles(added, graph, engine, soc) == 10
    timed = source_of_operator(conv, graph, engine, soc)
    assert (timed.basis, timed.band) == ("measured", Band(0.1, 0.2))
    told = source_of_operator(added, graph, engine, soc)
    assert (told.basis, told.band) == ("formula", None)
    other = next(
        each
        for each in load_soc(chip, ["devices.npu_b.params={lanes: 8}"]).engines
        if each.name == "npu_b"
    )
    assert busy_cycles(conv, graph, other, soc) == macs, "nobody measured eight lanes"
    assert source_of_operator(conv, graph, other, soc).basis == "formula"
    for latency, band in ((FARTHEST_TIMED, timed.band), (FARTHEST_TIMED + 1, None)):
        far = load_soc(
            chip, [f"memories.{each.name}.read_latency={latency}" for each in soc.memories]
        )
        engine = next(each for each in far.engines if each.name == "npu_b")
        assert source_of_operator(conv, graph, engine, far).band == band


def test_calibration_goes_as_far_as_bands_say() -> None:
    assert max(each.latency for each in SETTINGS) == FARTHEST_TIMED


def test_bands_of_published_tables_are_of_memories_that_answer_at_once() -> None:
    """It is known of other kinds of kernels, too, and of drivers."""
    near = load_soc(STRAIT, M4)
    graph = placed_graph(compile_file(near, Path(DIGITS), BuildOptions(accelerators=False)))
    conv, softmax = graph.operators[0], graph.operators[-1]
    timing = near.host_cpu.spec.timing
    assert timing
    assert timing.band
    assert source_of_operator(conv, graph, near.host_cpu, near).band == Band(*timing.band)
    assert source_of_operator(softmax, graph, near.host_cpu, near).band == PUBLISHED_OTHER_BAND
    assert driver_source(near).band == OTHER_BAND
    for memory in ("store", "flash", "dtcm", "sram"):
        far = load_soc(STRAIT, (*M4, f"memories.{memory}.read_latency=2"))
        assert source_of_operator(conv, graph, far.host_cpu, far).band is None, memory


MODELLED = ("cortex_a53", "cortex_m7", "cortex_m33", "cortex_m55", "cortex_m85", "sifive_u54")


@pytest.mark.parametrize("core", MODELLED)
def test_nobody_knows_how_far_scheduling_models_are_off(core: str) -> None:
    timing = load_core(find_core(core, "", Path(), None), None).model.timing
    assert timing
    assert timing.source.startswith("LLVM")
    assert timing.band is timing.simulated_band is None
