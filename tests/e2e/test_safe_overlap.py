"""Networks whose results lie over their operands, core and accelerator in RTL, bit for bit."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from atoll.description.build import load_requests
from atoll.pipeline import BuildOptions, Compiled, compile_file, with_plan
from atoll.resolve import load_soc
from atoll_sim.run import AcceleratorKind, CpuKind, run_compiled

pytestmark = pytest.mark.rtl


def compiled_with(model: Path, soc: str, overlap: str, *, accelerators: bool = True) -> Compiled:
    requests = load_requests(None, overlap=overlap)
    options = BuildOptions(accelerators=accelerators, requests=requests)
    return compile_file(load_soc(soc), model, options)


def check_in_rtl(compiled: Compiled, golden: Path, accelerator: AcceleratorKind) -> None:
    """Run the first golden sample: bit-exact, and as the plan says."""
    values = np.load(golden)
    name = compiled.graph.inputs[0]
    sample = {name: values["inputs"][0].reshape(compiled.graph.tensor(name).shape)}
    outcome = run_compiled(compiled, [sample], cpu=CpuKind.RTL, accelerator=accelerator)
    assert outcome.report.mismatches == ()
    assert outcome.report.violations == ()
    assert outcome.report.passed
    output = outcome.outputs[0][compiled.graph.outputs[0]]
    assert output.tobytes() == values["outputs_tflm"][0].tobytes()


@pytest.mark.parametrize("soc", ["lagoon", "atoll2"])
@pytest.mark.parametrize("network", ["kws_ref_model", "vww_96_int8", "pretrainedResnet_quant"])
def test_m2_with_accelerators(
    network: str, soc: str, shared_models: Path, overlap_planner: ModuleType
) -> None:
    compiled = compiled_with(shared_models / f"{network}.tflite", soc, "all")
    moved = with_plan(compiled, overlap_planner.overlapping(compiled.plan))
    assert overlap_planner.overlapping_pairs(moved.plan) >= 3
    golden = shared_models / "golden" / f"{network}.npz"
    check_in_rtl(moved, golden, AcceleratorKind.RTL)


@pytest.mark.slow
@pytest.mark.parametrize("network", ["kws_ref_model", "vww_96_int8"])
def test_m2_on_a_core_alone(network: str, shared_models: Path, overlap_planner: ModuleType) -> None:
    model = shared_models / f"{network}.tflite"
    compiled = compiled_with(model, "lagoon", "free", accelerators=False)
    moved = with_plan(compiled, overlap_planner.overlapping(compiled.plan))
    assert overlap_planner.overlapping_pairs(moved.plan) >= 9
    check_in_rtl(moved, shared_models / "golden" / f"{network}.npz", AcceleratorKind.NONE)
