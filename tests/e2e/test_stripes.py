# SPDX-License-Identifier: Apache-2.0
"""Networks larger than their memory run in stripes: bit-exact in RTL, and faults are noticed."""

import json
from pathlib import Path

import pytest
from tests.effort import in_gate

from atoll.cli import main
from atoll.cli.options import PlacementOptions
from atoll.cli.requests import build_options
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.mutate.campaign import run_right, try_mutant
from atoll_sim.mutate.kinds import KINDS, draw_mutants

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"

SHOAL = Path(__file__).parents[1] / "data" / "shoal.yaml"

NETWORKS = {
    "vww_96_int8": ("36 KiB", "20 KiB"),
    "kws_ref_model": ("6 KiB", "2 KiB"),
    "pretrainedResnet_quant": ("20 KiB",),
}
"""Sizes of lagoon's shared SRAM that are less than the networks' tensors need as a whole."""


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("network", "size"),
    in_gate(
        [
            pytest.param(name, size, marks=() if size == sizes[-1] else pytest.mark.slow)
            for name, sizes in NETWORKS.items()
            for size in sizes
        ],
        3,
    ),
)
def test_networks_larger_than_their_memory(
    network: str, size: str, shared_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(shared_models / f"{network}.tflite")
    assert main(["run", "lagoon", model, "--set", f"pools.shared.size={size}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bit_exact"]
    assert told["placement"]["violations"] == []
    assert told["layers_compared"] > 31


@pytest.mark.slow
@pytest.mark.rtl
def test_faults_of_stripes_are_noticed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = tmp_path / "options.yaml"
    options.write_text("cuts: [{first: conv_2d_0, last: add_3, stripes: 3}]\n")
    asked = ["validate", "lagoon", str(DIGITS), "--build", str(options), "--mutants", "66"]
    assert main([*asked, "--json"]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["networks"]
    planted = {each["kind"] for each in campaign["mutants"]}
    assert {"tile moved", "halo short"} <= planted


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("reach", [pytest.param("rw", marks=pytest.mark.slow), "none"])
def test_rows_of_far_activations_are_copied_near(
    reach: str, shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A DMA engine does it, whether reef reaches the far memory or not; at its place reef waits."""
    model = str(shared_models / "vww_96_int8.tflite")
    asked = ["run", str(SHOAL), model, "--json", "--set", f"pools.slow.reach.npu={reach}"]
    cycles = {}
    for tile in ("auto", "never") if reach == "rw" else ("auto",):
        (tmp_path / "options.yaml").write_text(f"tile: {tile}\n")
        assert main([*asked, "--build", str(tmp_path / "options.yaml")]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["bit_exact"]
        assert told["placement"]["violations"] == []
        layers = told["cycles"]["by_layer"]
        assert {each["device"] for each in layers} == {"npu", *(["dma"] if tile == "auto" else [])}
        cycles[tile] = layers[-1]["end"] - layers[0]["begin"]
        predicted = sum(each["estimate"] for each in layers)
        assert predicted == pytest.approx(cycles[tile], rel=0.1)
    assert cycles["auto"] < 0.7 * cycles.get("never", 433_000)


OF_STRIPES = {name: KINDS[name] for name in ("tile moved", "halo short")}


def unnoticed(compiled: Compiled, count: int, seed: int) -> list[str]:
    """Plant faults of stripes alone; return those that are not noticed, and are not proven none."""
    with temporary_folder() as folder:
        right, report = run_right(compiled, build_model(compiled.soc), folder)
        assert report.passed, report.violations
        mutants = draw_mutants(right, count, seed, kinds=OF_STRIPES)
        assert {each.kind for each in mutants} == OF_STRIPES.keys()
        trials = [try_mutant(right, mutant) for mutant in mutants]
    return [fault for each in trials for fault in each.wrong]


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    ("network", "size"),
    [
        ("kws_ref_model", "6 KiB"),
        ("pretrainedResnet_quant", "32 KiB"),
        ("vww_96_int8", "20 KiB"),
        ("vww_96_int8", "32 KiB"),
    ],
)
def test_every_stripe_that_is_wrong_is_noticed(
    network: str, size: str, shared_models: Path
) -> None:
    soc = load_soc("lagoon", (f"pools.shared.size={size}",))
    compiled = compile_file(soc, shared_models / f"{network}.tflite")
    assert unnoticed(compiled, 24, 5) == []


@pytest.mark.rtl
@pytest.mark.parametrize(
    ("stripes", "count"),
    [(3, 6), *(pytest.param(each, 16, marks=pytest.mark.slow) for each in (2, 3, 5, 8))],
)
def test_every_cut_that_is_wrong_is_noticed(stripes: int, count: int, tmp_path: Path) -> None:
    options = tmp_path / "options.yaml"
    options.write_text(f"cuts: [{{first: conv_2d_0, last: add_3, stripes: {stripes}}}]\n")
    given = PlacementOptions(build_file=options)
    (asked,) = build_options([DIGITS], given)
    assert unnoticed(compile_file(load_soc("lagoon"), DIGITS, asked), count, stripes) == []
