# SPDX-License-Identifier: Apache-2.0
"""The references compute every layer of the MLPerf Tiny networks as TFLM does."""

from pathlib import Path

import numpy as np
import pytest

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.ops.quantization import channel_scaling, quantize_multiplier, scale_of
from atoll.ops.registry import kind_of

MACS = {
    "kws_ref_model": 2_656_768,
    "pretrainedResnet_quant": 12_501_632,
    "vww_96_int8": 7_489_664,
    "ad01_int8": 264_192,
}
SAMPLES = 4


@pytest.mark.parametrize("model", MACS)
def test_every_layer(model: str, shared_models: Path) -> None:
    graph = load_tflite(shared_models / f"{model}.tflite")
    golden = np.load(shared_models / "golden" / f"{model}.npz")
    layers = np.load(shared_models / "golden" / f"{model}.layers_tflm.npz")
    activations = [tensor for tensor in graph.tensors if tensor.data is None]
    assert {f"t{tensor.index}" for tensor in activations} == set(layers.files)
    (source,), (result,) = graph.inputs, graph.outputs
    for sample in range(SAMPLES):
        values = reference.run(graph, {source: golden["inputs"][sample]})
        for tensor in activations:
            expected = layers[f"t{tensor.index}"][sample]
            np.testing.assert_array_equal(values[tensor.name], expected, err_msg=str(tensor))
        np.testing.assert_array_equal(values[result], golden["outputs_tflm"][sample])


@pytest.mark.parametrize("model", MACS)
def test_multiply_accumulates(model: str, shared_models: Path) -> None:
    graph = load_tflite(shared_models / f"{model}.tflite")
    assert sum(kind_of(op).features(op, graph)["macs"] for op in graph.operators) == MACS[model]


@pytest.mark.parametrize("model", MACS)
def test_dense_layers_round_the_scale_product_to_float32(model: str, shared_models: Path) -> None:
    graph = load_tflite(shared_models / f"{model}.tflite")
    different = 0
    dense = [op for op in graph.operators if op.kind == "fully_connected"]
    for op in dense:
        x, weights, (output,) = *graph.operands(op)[:2], graph.results(op)
        assert x is not None
        assert weights is not None
        product = scale_of(x) * scale_of(weights)
        rounded = float(np.array(product, np.float32))
        _, multipliers, shifts = channel_scaling(op, graph)
        expected = quantize_multiplier(rounded / scale_of(output))
        assert set(zip(multipliers.tolist(), shifts.tolist(), strict=True)) == {expected}
        different += expected != quantize_multiplier(product / scale_of(output))
    assert different >= len(dense) - 1
