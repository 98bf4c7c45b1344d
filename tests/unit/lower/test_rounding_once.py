# SPDX-License-Identifier: Apache-2.0
"""Operators that round once: their loop programs compute their references, whatever the shift."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unit.lower.conftest import Make

from atoll.ir.graph import Attribute, Graph, Tensor
from atoll.ops import reference
from atoll.ops.rounding import ROUNDED, as_onnx, as_tflite

Check = Callable[..., None]
WINDOW: dict[str, Attribute] = {
    **{"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1},
    **{"pad_top": 1, "pad_left": 1, "pad_bottom": 1, "pad_right": 1},
}
CLAMP: dict[str, Attribute] = {"activation": "none"}
SCALES = {"right": (0.002, 0.01), "left": (1.0, 4.0), "both": (0.01, 2.0)}
"""Of weights and second operands; the results' own are 0.1."""


def scale_of(make: Make, way: str) -> float:
    return float(np.float32(make.rng.uniform(*SCALES[way])))


def filters(make: Make, way: str, shape: tuple[int, ...], axis: int = 0) -> Tensor:
    values = make.rng.integers(-127, 128, shape).astype(np.int8)
    least, most = SCALES[way]
    scales = least * (most / least) ** make.rng.uniform(0.0, 1.0, shape[axis])
    return make.constant("filter", values, scales.tolist(), axis)


def summed(make: Make, kind: str, way: str) -> Graph:
    """Make an operator of sums of products, with constant weights."""
    x = make.activation("x", (1, 4, 5, 6), 0.02, 0)
    shape: tuple[int, ...] = (8, 3, 3, 6)
    axis, options = 0, {**WINDOW, **CLAMP}
    extents = (1, 4, 5, 8)
    if kind == "depthwise_conv_2d":
        shape, axis, extents = (1, 3, 3, 6), 3, (1, 4, 5, 6)
        options["depth_multiplier"] = 1
    elif kind == "fully_connected":
        shape, options = (8, 6), {**CLAMP, "keep_num_dims": True}
    elif kind == "transpose_conv":
        options = {"stride_h": 2, "stride_w": 2, "same": True, **CLAMP}
        extents = (1, 8, 10, 8)
    bias = make.constant("bias", make.rng.integers(-(2**9), 2**9, extents[3]).astype(np.int32))
    y = make.activation("y", extents, 0.1)
    return make.graph(kind, [x, filters(make, way, shape, axis), bias], y, **options)


def scaled(make: Make, kind: str, way: str) -> Graph:
    """Make another operator."""
    y, options = (2, 3, 4, 8), dict[str, Attribute]()
    x = make.activation("x", y, 0.03 if way == "right" else scale_of(make, way))
    other = make.activation("z", y, scale_of(make, way))
    if kind == "batch_matmul":
        other = replace(other, shape=(2, 3, 8, 5))
        return make.graph(
            kind, [x, other], make.activation("y", (2, 3, 4, 5), 0.1), adj_x=False, adj_y=False
        )
    if kind in ("mul", "prelu"):
        made = make.activation("y", y, 0.1)
        return make.graph(kind, [x, other], made, **(CLAMP if kind == "mul" else {}))
    if kind in ("mean", "sum"):
        axes = make.constant("axes", np.array([1, 2], np.int32))
        made = make.activation("y", (2, 8), 0.1)
        return make.graph(kind, [x, axes], made, keep_dims=False)
    if kind in ("average_pool_2d", "resize_bilinear"):
        options = {**WINDOW, **CLAMP, "filter_h": 2, "filter_w": 3}
        extents = (2, 4, 4, 8)
        if kind == "resize_bilinear":
            options = {"align_corners": False, "half_pixel_centers": way != "left"}
            extents = (2, 6, 8, 8)
        return make.graph(kind, [x], replace(x, name="y", shape=extents), **options)
    options = {"alpha": 0.1} if kind == "leaky_relu" else {}
    return make.graph(kind, [x], make.activation("y", y, 0.1), **options)


def once(graph: Graph) -> Graph:
    (op,) = graph.operators
    return graph.with_operators([replace(op, attributes={**op.attributes, **as_onnx(op.kind)})])


SUMS = ("conv_2d", "depthwise_conv_2d", "fully_connected", "transpose_conv")


@pytest.mark.parametrize("way", SCALES)
@pytest.mark.parametrize("kind", sorted(ROUNDED))
def test_programs(kind: str, way: str, make: Any, equals_reference: Check) -> None:
    for seed in range(2):
        maker = make(seed)
        graph = once((summed if kind in SUMS else scaled)(maker, kind, way))
        equals_reference(graph, maker.rng, interpreted=False)


def wide(graph: Graph) -> Graph:
    """Return an operator with activations of 16 bits, and a bias of 64."""

    def widened(tensor: Tensor) -> Tensor:
        if tensor.data is None:
            assert tensor.quantization
            scales = tuple(scale / 32 for scale in tensor.quantization.scales)
            grid = replace(tensor.quantization, scales=scales, zero_points=(0,))
            return replace(tensor, dtype="int16", quantization=grid)
        if tensor.dtype != "int32":
            return tensor
        bias = tensor.array.astype(np.int64) << 20
        return replace(tensor, dtype="int64", data=bias.tobytes())

    return replace(graph, tensors=tuple(map(widened, graph.tensors)))


@pytest.mark.parametrize("way", SCALES)
@pytest.mark.parametrize("kind", [*SUMS, "batch_matmul", "resize_bilinear"])
def test_programs_of_16_bits(kind: str, way: str, make: Any, equals_reference: Check) -> None:
    for seed in range(2):
        maker = make(seed)
        graph = wide(once((summed if kind in SUMS else scaled)(maker, kind, way)))
        equals_reference(graph, maker.rng, interpreted=seed == 0)


@pytest.mark.parametrize("kind", sorted(ROUNDED))
def test_some_results_are_others_than_with_two_roundings(kind: str, make: Any) -> None:
    apart = 0
    for seed in range(40):
        maker = make(seed)
        graph = once((summed if kind in SUMS else scaled)(maker, kind, "right"))
        given = {
            name: maker.rng.integers(-128, 128, graph.tensor(name).shape).astype(np.int8)
            for name in graph.inputs
        }
        twice = graph.with_operators(map(as_tflite, graph.operators))
        found = [reference.run(each, given)[graph.outputs[0]] for each in (graph, twice)]
        assert np.abs(np.subtract(*found, dtype=np.int64)).max() <= 1
        apart += int(np.count_nonzero(found[0] != found[1]))
    assert apart > 0
