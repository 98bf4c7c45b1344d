# SPDX-License-Identifier: Apache-2.0
"""Constants that are copied ahead: bit-exact in RTL as fast as said, and faults are noticed."""

import json
from pathlib import Path

import pytest
from benchmarks.streaming import CHIP, Layer, network, streaming

from atoll.cli import main
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.streams import faults_of

LAYERS: tuple[Layer, ...] = ((64, 3, 1), (64, 3, 1), (32,), (10,))
LITTLE_ROOM = "pools.shared.size=48 KiB"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "network.tflite"
    path.write_bytes(network((1, 8, 8, 32), LAYERS))
    return path


def planned(model: Path) -> Compiled:
    return compile_file(load_soc(str(CHIP), (LITTLE_ROOM,)), model, streaming("always"))


@pytest.mark.rtl
def test_what_is_streamed_is_exact_and_takes_what_is_estimated(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "options.yaml").write_text("stream: always\n")
    asked = [str(CHIP), str(model), "--set", LITTLE_ROOM, "--json"]
    asked += ["--build", str(tmp_path / "options.yaml")]
    assert main(["run", *asked]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bit_exact"]
    assert told["placement"]["violations"] == []
    for layer in told["cycles"]["by_layer"]:
        if layer["operator"].startswith("copy") and layer["worked"] > 1000:
            assert layer["estimate"] == pytest.approx(layer["cycles"], rel=0.1), layer
    assert told["cycles"]["at_once"] > 10_000
    assert main(["explain", *asked]) == 0
    streams = json.loads(capsys.readouterr().out)["streaming"]["operators"]
    assert [each["parts"] for each in streams if each["streamed"]] == [1, 2, 1]


@pytest.mark.rtl
def test_each_buffer_that_is_swapped_early_is_noticed(model: Path) -> None:
    compiled = planned(model)
    with temporary_folder() as folder:
        right, report = run_right(compiled, build_model(compiled.soc), folder)
        assert report.passed, report.violations
        mutants = tuple(faults_of(right))
        said = {each.sentence.split("'")[2].split()[0] for each in mutants}
        assert said == {"begins", "copies"}
        trials = [try_mutant(right, mutant) for mutant in mutants]
    assert [str(each) for each in trials if not each.result.shadow] == []


@pytest.mark.rtl
@pytest.mark.slow
def test_the_campaign_plants_them(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "options.yaml").write_text("stream: always\n")
    asked = ["validate", str(CHIP), str(model), "--set", LITTLE_ROOM, "--mutants", "40", "--json"]
    assert main([*asked, "--build", str(tmp_path / "options.yaml")]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["networks"]
    assert "double buffer swapped early" in {each["kind"] for each in campaign["mutants"]}
