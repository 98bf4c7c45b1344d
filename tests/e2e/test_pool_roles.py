# SPDX-License-Identifier: Apache-2.0
"""M1: a pool that holds constants and workspace side by side."""

from pathlib import Path

import pytest

from atoll.artifacts.build_tree import build, interface_of
from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled, compile_file, compile_models
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

EXAMPLES = Path(__file__).parents[2] / "examples"
DIGITS = EXAMPLES / "01_digits" / "digits_int8.tflite"
SAMPLER = EXAMPLES / "03_two_networks" / "sampler.tflite"


def compiled() -> Compiled:
    """Let the pool of all activations, which is tried before that of constants, hold both."""
    return compile_file(load_soc("lagoon", ("pools.shared.role=both",)), DIGITS)


def test_m1_a_pool_for_both_shows_what_each_role_takes() -> None:
    network = compiled()
    names = {constant.name for constant in network.module.entry.constants}
    inside = {p.buffer for p in network.plan.placements.values() if p.pool == "shared"}
    assert inside & names
    assert inside - names
    share = next(each for each in interface_of(network).shares if each.pool == "shared")
    assert share.constants > 0
    assert share.workspace > 0


@pytest.mark.rtl
def test_m1_a_pool_for_both_runs_in_rtl_with_its_constants_copied_at_start(tmp_path: Path) -> None:
    network = compiled()
    startup = build((network,), tmp_path / "built").folder / "bsp" / "startup.S"
    assert "atoll_copy_shared_load" in startup.read_text()
    samples = random_sample(network.graph) * 2
    outcome = run_models((network,), (samples,), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL)[
        0
    ]
    assert outcome.report.violations == ()
    assert outcome.report.passed


@pytest.mark.rtl
def test_m7_a_second_model_has_only_activations_behind_the_constants_of_the_first() -> None:
    """Its constants find no room there and go to the other pool."""
    keys = ("pools.shared.role=both", "pools.shared.size=15936", "devices.npu.params.vector=1")
    chip = load_soc("lagoon", keys)
    first, second = models = compile_models(chip, (DIGITS, SAMPLER))
    spaces = {space.name: space for space in second.plan.problem.pools}
    assert spaces["shared"].origin > chip.pool("shared").region.origin
    constants = [each.name for each in second.module.entry.constants]
    assert {second.plan.placements[name].pool for name in constants} == {"weights"}
    assert second.plan.use["shared"].used > 0
    samples = [random_sample(model.graph) for model in (first, second)]
    outcomes = run_models(models, samples)
    assert all(outcome.report.passed for outcome in outcomes)
