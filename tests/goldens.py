# SPDX-License-Identifier: Apache-2.0
"""Hold the networks of MLPerf Tiny against their golden tensors, layer by layer."""

from pathlib import Path

import numpy as np

from atoll.artifacts.samples import Sample
from atoll.driver.pipeline import Compiled
from atoll_sim.host.native_run import run_native


def exact_samples(compiled: Compiled, golden: Path) -> list[Sample]:
    """Run the four samples natively, fail unless every layer is exact, and return them."""
    network = compiled.graph.name
    ports = np.load(golden / f"{network}.npz")
    layers = np.load(golden / f"{network}.layers_tflm.npz")
    name = compiled.graph.inputs[0]
    shape = compiled.graph.tensor(name).shape
    samples: list[Sample] = [{name: x.reshape(shape)} for x in ports["inputs"]]
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
        assert output == ports["outputs_tflm"][index].tobytes()
    assert len(samples) == 4
    assert compared == 4 * sum(op.index >= 0 for op in compiled.graph.operators)
    return samples
