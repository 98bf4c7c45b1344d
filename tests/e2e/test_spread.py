# SPDX-License-Identifier: Apache-2.0
"""Operators on several cores at once: the same bytes, nothing wrong, and sooner."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc

pytest.importorskip("unicorn")

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
CORES = ("cpu0", "cpu1", "cpu2", "cpu3")
ISS = ("--cpu", "iss", "--accelerator", "model")


def run(capsys: pytest.CaptureFixture[str], model: Path, *options: str) -> dict[str, Any]:
    """Run on the four cores; each layer has the reference's bytes and no access is wrong."""
    assert main(["run", "quad", str(model), *options, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_compared"] == report["layers_equal"] > 0
    assert report["placement"]["violations"] == []
    return report


def cycles(report: dict[str, Any]) -> int:
    """Return the cycles of the host from the begin of the network to its end."""
    layers = report["cycles"]["by_layer"]
    return int(layers[-1]["end"] - layers[0]["begin"])


def within_bounds(report: dict[str, Any]) -> None:
    for core in CORES:
        stack = report["stack"][core]
        assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]


def test_digits_takes_a_third_of_the_time_on_four_cores(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spread, alone = run(capsys, DIGITS, *ISS), run(capsys, DIGITS, *ISS, "--no-spread")
    within_bounds(spread)
    assert cycles(alone) > 3 * cycles(spread)
    assert alone["cycles"]["at_once"] == 0
    assert spread["cycles"]["at_once"] > 0.9 * cycles(spread)
    assert set(spread["cycles"]["by_device"]) == {*CORES}
    first, *_ = spread["cycles"]["by_layer"]
    assert set(first["helpers"]) == {*CORES[1:]}
    assert all(0.8 < each / first["cycles"] <= 1 for each in first["helpers"].values())


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--set", "default_device=cpu2"), marks=pytest.mark.slow),
        ("--place", "conv_2d_2=cpu1", "--place", "add_3=cpu3", "--set", "devices.cpu3.kind=dsp"),
        pytest.param(
            (
                *("--overlap", "none"),
                *(f"--set=devices.{c}.limits.max_stack_alloca_size=0" for c in CORES),
            ),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_whoever_is_asked_the_bytes_are_the_same(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    within_bounds(run(capsys, DIGITS, *ISS, *options))


@pytest.mark.slow
def test_c_source_spreads_as_objects_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "build")
    assert main(["build", "quad", str(DIGITS), "--emit", "c", "-o", folder]) == 0
    assert main(["simulate", folder, *ISS, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["placement"]["violations"] == []
    within_bounds(report)
    assert report["cycles"]["at_once"] > 0.8 * cycles(report)


@pytest.mark.slow
def test_a_native_run_makes_the_parts_one_after_the_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(capsys, DIGITS, "--cpu", "native", "--accelerator", "model")


def test_a_network_that_fits_one_core_only_is_not_spread() -> None:
    """Together the cores reach only the shared pool, which is too small here."""
    soc = load_soc("quad", ["pools.shared.size=2KiB"])
    compiled = compile_file(soc, DIGITS)
    assert all(op.helpers == () for op in compiled.graph.operators)
    assert "with cpu1" not in "".join(map(str, compiled.decisions))


@pytest.mark.slow
def test_vww_takes_a_third_of_the_time_on_four_cores(
    shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 13: at least 3 times faster; the outputs are the goldens'."""
    golden = np.load(shared_models / "golden" / "vww_96_int8.npz")
    model = shared_models / "vww_96_int8.tflite"
    (name,) = compile_file(load_soc("quad"), model).graph.inputs
    assert name
    np.save(tmp_path / "in.npy", golden["inputs"][0])
    files = ("--input", str(tmp_path / "in.npy"), "--output", str(tmp_path / "out.npy"))
    spread = run(capsys, model, *ISS, *files)
    assert np.load(tmp_path / "out.npy").tobytes() == golden["outputs_tflm"][0].tobytes()
    alone = run(capsys, model, *ISS, *files, "--no-spread")
    assert cycles(alone) >= 3 * cycles(spread)


@pytest.mark.slow
@pytest.mark.rtl
def test_digits_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    report = run(capsys, DIGITS)
    within_bounds(report)
    assert report["cycles"]["at_once"] > 0.8 * cycles(report)
    for layer in report["cycles"]["by_layer"]:
        assert abs(layer["cycles"] / layer["estimate"] - 1) <= 0.25, layer
