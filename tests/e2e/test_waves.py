# SPDX-License-Identifier: Apache-2.0
"""`--waves` on whole chips: operators in the cycles of the report, signals that are there."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import compile_models
from atoll.resolve import load_soc
from atoll_sim.build.wave_formats import can_write_fst
from atoll_sim.chip.plan import plan_chip
from atoll_sim.runs.checked_run import Written, run_models
from atoll_sim.waves.marks import time_of
from atoll_sim.waves.request import request_waves

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
SAMPLER = ROOT / "examples" / "03_two_networks" / "sampler.tflite"
ISLANDS = str(ROOT / "tests" / "data" / "islands_dma.yaml")
OPERATORS = 3

pytestmark = [pytest.mark.rtl, pytest.mark.slow]


def report(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["run", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("soc", ["lagoon", ISLANDS])
def test_operators_are_named_in_the_cycles_of_the_report(
    soc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], vcd_reader: ModuleType
) -> None:
    plain = report([soc, DIGITS], capsys)
    layers = plain["cycles"]["by_layer"][:OPERATORS]
    first, last = layers[0]["begin"] - 5, max(each["end"] for each in layers) + 5
    window = ["--waves-from", str(first), "--waves-to", str(last)]
    waves = tmp_path / "digits.vcd"
    recorded = report([soc, DIGITS, "--waves", str(waves), *window], capsys)
    assert recorded["cycles"] == plain["cycles"]
    (note,) = recorded["notes"]
    assert re.fullmatch(rf"waves: {waves}, [\d.]+ MB, cycles {first:,} to {last:,}", note)
    vcd, chip = vcd_reader.read_vcd(waves), plan_chip(load_soc(soc))
    for layer in layers:
        texts = vcd.texts(f"atoll_chip.u_{layer['device']}_operator.name[383:0]")
        # An engine that goes on by itself shows that a cycle later than a TRACE event.
        begins, ends = (
            {time_of(chip, layer[when] + late) for late in range(2)} for when in ("begin", "end")
        )
        assert begins & {at for at, text in texts if text == layer["operator"]}
        assert ends & {at for at, text in texts if layer["operator"] not in text.split("+")}
    shown = re.findall(r"^variable_add (\S+)$", waves.with_suffix(".sucl").read_text(), re.M)
    there = {path.split("[")[0] for path in vcd.codes}
    assert set(shown) <= there
    devices = [device.name for device in load_soc(soc).devices]
    assert {f"atoll_chip.u_{name}_operator.name" for name in devices} <= set(shown)


def test_simulate_records_the_same_bytes_as_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--waves-operator", "depthwise_conv_2d_1"]
    ran, simulated = tmp_path / "ran", tmp_path / "simulated"
    ran.mkdir()
    simulated.mkdir()
    keep = ["--keep", str(tmp_path / "kept")]
    report(["lagoon", DIGITS, *keep, "--waves", str(ran / "a.vcd"), *options], capsys)
    arguments = ["simulate", str(tmp_path / "kept"), "--waves", str(simulated / "a.vcd"), *options]
    assert main(arguments) == 0
    files = [
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (ran, simulated)
    ]
    assert files[0] == files[1]
    assert set(files[0]) == {"a.vcd", "a.gtkw", "a.sucl"}


def test_of_two_networks_each_has_its_own_names(tmp_path: Path, vcd_reader: ModuleType) -> None:
    chip = load_soc("lagoon")
    models = compile_models(chip, (Path(DIGITS), SAMPLER))
    samples = [random_sample(model.graph) for model in models]
    foreign = {operator.name for operator in models[0].graph.operators}
    second = run_models(models, samples)[1].report
    layer = next(each for each in second.by_layer if each.operator not in foreign)
    first = layer.begin + 2  # an engine that goes on by itself is named a cycle late
    waves = request_waves(tmp_path / "a.vcd", first=first, last=first + 99)
    assert run_models(models, samples, written=Written(waves=waves))[1].report.passed
    texts = vcd_reader.read_vcd(tmp_path / "a.vcd").texts(
        f"atoll_chip.u_{layer.device}_operator.name[383:0]"
    )
    assert texts[0] == (time_of(plan_chip(chip), first), layer.operator)


@pytest.mark.skipif(not can_write_fst(), reason="needs the headers of zlib and LZ4")
def test_fst_is_smaller_and_the_same_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    contents = []
    for name in ("a.fst", "a.fst", "a.vcd"):
        report(["lagoon", DIGITS, "--waves", str(tmp_path / name), "--waves-to", "9000"], capsys)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    assert len(contents[0]) < len(contents[2]) / 5
