"""Every layer of the MLPerf Tiny networks on the native host equals the goldens."""

from pathlib import Path

import numpy as np
import pytest

from atoll.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.host.run import run_native
from atoll_sim.run import AcceleratorKind, CpuKind, run_models

NETWORKS = ("kws_ref_model", "pretrainedResnet_quant", "vww_96_int8", "ad01_int8")


@pytest.mark.parametrize("soc", ["lagoon", "atoll2", "twin"])
@pytest.mark.parametrize("accelerators", [True, False], ids=["model", "none"])
@pytest.mark.parametrize("network", NETWORKS)
def test_every_layer_equals_the_goldens(
    shared_models: Path, network: str, accelerators: bool, soc: str
) -> None:
    compiled = compile_file(
        load_soc(soc),
        shared_models / f"{network}.tflite",
        BuildOptions(accelerators=accelerators),
    )
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    layers = np.load(shared_models / "golden" / f"{network}.layers_tflm.npz")
    name = compiled.graph.inputs[0]
    shape = compiled.graph.tensor(name).shape
    samples = [{name: x.reshape(shape)} for x in golden["inputs"]]
    result = run_native((compiled,), (samples,))
    compared = 0
    for index, layers_of in enumerate(result.layers):
        for written in layers_of.values():
            for tensor, data in written.items():
                known = compiled.graph.by_name.get(tensor)
                if known is not None and f"t{known.index}" in layers:
                    assert data == layers[f"t{known.index}"][index].tobytes(), tensor
                    compared += 1
        output = result.outputs[index][compiled.graph.outputs[0]]
        assert output == golden["outputs_tflm"][index].tobytes()
    assert len(samples) == 4
    assert compared == 4 * sum(op.index >= 0 for op in compiled.graph.operators)
    kind = AcceleratorKind.MODEL if accelerators else AcceleratorKind.NONE
    report = run_models((compiled,), (samples,), cpu=CpuKind.NATIVE, accelerator=kind)[0].report
    assert report.passed
