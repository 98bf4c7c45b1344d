# SPDX-License-Identifier: Apache-2.0
"""A data cache on the instruction-set simulator: right as built, wrong without maintenance."""

import json
from pathlib import Path

import pytest
from tests.cached_chips import CORTEX_M7, IN_RAM, NPU, cached_lagoon, cached_twin
from tests.requests import load_requests

from atoll.artifacts.build_tree import Emit, build
from atoll.artifacts.samples import random_samples
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.mutate.caches import plant_cache_omissions
from atoll_sim.simulate.rtl_run import requests_for

pytest.importorskip("unicorn")

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
GUARDED = str(ROOT / "tests" / "data" / "caches" / "guarded.yaml")


def test_each_operation_that_is_left_out_is_noticed(capsys: pytest.CaptureFixture[str]) -> None:
    words = [word for setting in CORTEX_M7 for word in ("--set", setting)]
    assert main(["validate", "lagoon", str(DIGITS), "--caches", "--json", *words]) == 0
    told = json.loads(capsys.readouterr().out)
    (campaign,) = told["caches"]
    assert (campaign["passed"], campaign["right"], told["networks"]) == (True, "", [])
    assert len(campaign["trials"]) == 8
    assert {trial["by"] for trial in campaign["trials"]} == {"wrong bytes"}


def test_a_cache_beside_memory_protection_and_views(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", GUARDED, str(DIGITS), "--caches", "--json"]) == 0
    (campaign,) = json.loads(capsys.readouterr().out)["caches"]
    assert (campaign["passed"], campaign["right"]) == (True, "")
    assert len(campaign["trials"]) == 8
    assert {trial["by"] for trial in campaign["trials"]} == {"wrong bytes"}


def test_an_alias_that_is_not_cached_needs_no_operation(capsys: pytest.CaptureFixture[str]) -> None:
    alias = ("memories.sram.views={cpu: 0x3000_0000}", "memories.sram.cached=false")
    entry = compile_file(cached_lagoon(*alias), DIGITS).module.entry
    assert [each for step in entry.steps for each in (*step.before, *step.after)] == []
    words = [word for setting in (*CORTEX_M7, *alias) for word in ("--set", setting)]
    kinds = ["--cpu", "iss", "--accelerator", "model", "--json"]
    assert main(["run", "lagoon", str(DIGITS), *kinds, *words]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["bit_exact"], report["placement"]["violations"]) == (True, [])


@pytest.mark.slow
def test_two_cached_cores() -> None:
    requests = load_requests(None, ("add_3=dsp", "softmax_9=dsp"))
    compiled = compile_file(cached_twin(), DIGITS, BuildOptions(requests=requests))
    campaign = plant_cache_omissions(compiled, seed=1)
    assert campaign.passed, campaign.text(verbose=True)
    assert len(campaign.trials) == 11


@pytest.mark.slow
def test_kws(shared_models: Path) -> None:
    campaign = plant_cache_omissions(
        compile_file(cached_lagoon(), shared_models / "kws_ref_model.tflite"), seed=1
    )
    assert campaign.passed, campaign.text(verbose=True)
    # The network's input, two tensors where the caller may have stored, and what SOFTMAX reads.
    assert len(campaign.trials) == 4


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ((), 5),
        (("memories.sram.views={npu: 0x4800_0000}", *CORTEX_M7[:4]), 13),
        pytest.param((*CORTEX_M7[:4], *IN_RAM), 55, marks=pytest.mark.slow),
    ],
)
def test_a_cache_of_the_accelerator(settings: tuple[str, ...], count: int) -> None:
    """Registers maintain it for a range, or line by line, at the accelerator's addresses."""
    soc = load_soc(NPU, ("devices.npu.params.vector=0", *settings))
    campaign = plant_cache_omissions(compile_file(soc, DIGITS), seed=1)
    assert campaign.passed, campaign.text(verbose=True)
    assert len(campaign.trials) == count


@pytest.mark.parametrize("arguments", [["--cpu", "rtl"], ["--cpu", "iss", "--accelerator", "rtl"]])
def test_rtl_has_no_cache_of_an_accelerator(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(NPU), str(DIGITS), *arguments]) == 1
    code, what = ("E259", "'cache.maintenance'") if arguments[1] == "rtl" else ("E163", "'npu'")
    said = capsys.readouterr().err
    assert f"error[{code}]" in said
    assert what in said
    assert main(["check", str(NPU)]) == 0


@pytest.mark.parametrize(("chip", "evictions"), [("lagoon", 0), ("lagoon", 1), ("npu", 2)])
def test_c_source_maintains_caches_too(chip: str, evictions: int, tmp_path: Path) -> None:
    soc = cached_lagoon() if chip == "lagoon" else load_soc(NPU, CORTEX_M7[:4])
    compiled = compile_file(soc, DIGITS)
    tree = build((compiled,), tmp_path / "build", emit=Emit.C)
    samples = random_samples(compiled.graph, 2)
    request = requests_for(
        (compiled,), tree.firmware.elves, (samples,), Path(), tmp_path / "run", beats=False
    )
    result = simulate(
        request, lambda memory: make_models(soc, memory, (compiled,)), evictions=evictions
    )
    assert (result.results, result.findings) == ((0, 0), ())
    again = simulate(
        requests_for(
            (compiled,), tree.firmware.elves, (samples,), Path(), tmp_path / "again", beats=False
        ),
        lambda memory: make_models(soc, memory, (compiled,)),
        evictions=3,
    )
    assert again.outputs == result.outputs
