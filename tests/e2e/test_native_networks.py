# SPDX-License-Identifier: Apache-2.0
"""Every layer of the MLPerf Tiny networks on the native host equals the goldens."""

from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.goldens import exact_samples

from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")


@pytest.mark.parametrize(
    "soc", ["lagoon", *(pytest.param(soc, marks=pytest.mark.slow) for soc in ("atoll2", "twin"))]
)
@pytest.mark.parametrize("accelerators", [True, False], ids=["model", "none"])
@pytest.mark.parametrize("network", in_gate(NETWORKS, 0, 1))
def test_every_layer_equals_the_goldens(
    shared_models: Path, network: str, accelerators: bool, soc: str
) -> None:
    compiled = compile_file(
        load_soc(soc),
        shared_models / f"{network}.tflite",
        BuildOptions(accelerators=accelerators),
    )
    samples = exact_samples(compiled, shared_models / "golden")
    kind = AcceleratorKind.MODEL if accelerators else AcceleratorKind.NONE
    report = run_models((compiled,), (samples,), cpu=CpuKind.NATIVE, accelerator=kind)[0].report
    assert report.passed
