# SPDX-License-Identifier: Apache-2.0
"""Networks whose results lie over their operands, core and accelerator in RTL, bit for bit."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.requests import load_requests

from atoll.diagnostics.errors import PlanError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, with_plan
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

pytestmark = pytest.mark.rtl


TARGETS = {"kws_ref_model": 10_048, "vww_96_int8": 36_896}
"""Most bytes that the activations take."""
EACH = pytest.mark.parametrize(
    "network", ["kws_ref_model", pytest.param("vww_96_int8", marks=pytest.mark.slow)]
)


ON_STACK = "devices.cpu.limits.max_stack_alloca_size=3 KiB"
SCRATCH = {"kws_ref_model": 320, "vww_96_int8": 2_336}
"""What a core's windows add to that where the stack may not hold them."""


def compiled_with(
    model: Path, soc: str, overlap: str, *settings: str, accelerators: bool = True
) -> Compiled:
    requests = load_requests(None, overlap=overlap)
    options = BuildOptions(accelerators=accelerators, requests=requests)
    return compile_file(load_soc(soc, settings), model, options)


def check_in_rtl(compiled: Compiled, golden: Path, accelerator: AcceleratorKind) -> None:
    """Run the first golden sample: bit-exact, and as the plan says."""
    values = np.load(golden)
    name = compiled.graph.inputs[0]
    sample = {name: values["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models((compiled,), ([sample],), cpu=CpuKind.RTL, accelerator=accelerator)
    assert outcome.report.mismatches == ()
    assert outcome.report.violations == ()
    assert outcome.report.passed
    output = outcome.outputs[0][compiled.graph.outputs[0]]
    assert output.tobytes() == values["outputs_tflm"][0].tobytes()


@EACH
def test_m2_the_least_memory_runs(network: str, shared_models: Path) -> None:
    compiled = compiled_with(shared_models / f"{network}.tflite", "lagoon", "all")
    assert compiled.plan.use["shared"].used == TARGETS[network]
    golden = shared_models / "golden" / f"{network}.npz"
    check_in_rtl(compiled, golden, AcceleratorKind.RTL)


@EACH
def test_m2_a_core_alone_needs_as_little(network: str, shared_models: Path) -> None:
    """Pixels are gathered on the stack if its limits say so, else in the pool (K1)."""
    model = shared_models / f"{network}.tflite"
    compiled = compiled_with(model, "lagoon", "free", ON_STACK, accelerators=False)
    assert compiled.plan.use["private"].used == TARGETS[network]
    assert compiled.plan.use["shared"].used == 0
    compiled = compiled_with(model, "lagoon", "free", accelerators=False)
    assert compiled.plan.use["private"].used == TARGETS[network] + SCRATCH[network]


def test_m5_strips_come_where_memory_is_short(shared_models: Path, tmp_path: Path) -> None:
    """With 11 KiB the keyword network fits only if its results lie over their operands."""
    model = shared_models / "kws_ref_model.tflite"
    small = load_soc("lagoon", ["pools.shared.size=11 KiB", "pools.private.size=16"])
    whole = tmp_path / "whole.yaml"
    whole.write_text("tile: never\n")
    asked = BuildOptions(requests=load_requests(whole))
    compiled = compile_file(small, model, asked)
    assert compiled.plan.use["shared"].used <= 11 * 1024
    assert max(job.commands_count for job in compiled.jobs.values()) > 1
    roomy = compile_file(load_soc("lagoon"), model, BuildOptions())
    assert {job.commands_count for job in roomy.jobs.values()} == {1}
    with pytest.raises(PlanError, match="too small"):
        compile_file(small, model, BuildOptions(requests=load_requests(whole, overlap="none")))


def test_m2_joining_over_operands_costs_time_and_is_done_only_for_memory(
    tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))

    def overlapping(word: str) -> set[str]:
        compiled = compiled_with(path, "lagoon", word, "devices.npu.params.vector=0")
        kinds = {op.name: op.kind for op in compiled.graph.operators}
        return {kinds[step.operator] for step in compiled.module.entry.steps if step.overlaps}

    assert "concatenation" in overlapping("all")
    assert overlapping("all") - overlapping("free") == {"concatenation"}
    assert "add" in overlapping("free")
    assert overlapping("none") == set()


@pytest.mark.parametrize("soc", [pytest.param("lagoon", marks=pytest.mark.slow), "atoll2"])
@pytest.mark.parametrize(
    "network",
    [
        "kws_ref_model",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("vww_96_int8", "pretrainedResnet_quant")
        ),
    ],
)
@pytest.mark.slow
def test_m2_with_accelerators(
    network: str, soc: str, shared_models: Path, overlap_planner: ModuleType
) -> None:
    compiled = compiled_with(shared_models / f"{network}.tflite", soc, "all")
    moved = with_plan(compiled, overlap_planner.overlapping(compiled.plan))
    assert overlap_planner.overlapping_pairs(moved.plan) >= 3
    golden = shared_models / "golden" / f"{network}.npz"
    check_in_rtl(moved, golden, AcceleratorKind.RTL)


@pytest.mark.slow
@EACH
def test_m2_on_a_core_alone(network: str, shared_models: Path, overlap_planner: ModuleType) -> None:
    model = shared_models / f"{network}.tflite"
    compiled = compiled_with(model, "lagoon", "free", ON_STACK, accelerators=False)
    moved = with_plan(compiled, overlap_planner.overlapping(compiled.plan))
    assert overlap_planner.overlapping_pairs(moved.plan) >= 9
    check_in_rtl(moved, shared_models / "golden" / f"{network}.npz", AcceleratorKind.NONE)
