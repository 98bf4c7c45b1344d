# SPDX-License-Identifier: Apache-2.0
"""A bias counts in the scale of the sums that it is added to; another one is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.operator_samples import SCALE, Tree
from tests.recurrent_samples import recurrent

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

IMAGE, FILTER, VALUE = 0.05, 0.02, 100
SUMS = float(np.float32(IMAGE)) * float(np.float32(FILTER))
STEPS: dict[str, Any] = {"StrideH": 1, "StrideW": 1}
DEPTHWISE: dict[str, Any] = {**STEPS, "DepthMultiplier": 1}
NETWORKS: dict[str, tuple[tuple[int, ...], str, dict[str, Any]]] = {
    "CONV_2D": ((4, 1, 1, 4), "Conv2DOptions", STEPS),
    "DEPTHWISE_CONV_2D": ((1, 1, 1, 4), "DepthwiseConv2DOptions", DEPTHWISE),
    "FULLY_CONNECTED": ((4, 4), "FullyConnectedOptions", {}),
    "TRANSPOSE_CONV": ((4, 1, 1, 4), "TransposeConvOptions", STEPS),
}


def network(builder: ModuleType, code: str, bias: dict[str, Any], step: float = 0.1) -> Any:
    """Make one operator with a bias of 100 for each of 4 channels."""
    shape, table, options = NETWORKS[code]
    tree, rng = Tree(builder), np.random.default_rng(1)
    dense = code == "FULLY_CONNECTED"
    image: Any = (2, 4) if dense else (1, 2, 2, 4)
    x = tree.add(image, scales=(IMAGE,), zero_points=(3,))
    data = rng.integers(-127, 128, shape).astype(np.int8)
    scaled: dict[str, Any] = {"scales": (FILTER,), "zero_points": (0,)}
    weights = tree.add(shape, data=data, **scaled)
    added = tree.add((4,), dtype="int32", data=np.full(4, VALUE, np.int32), **bias)
    operands = (x, weights, added)
    if code == "TRANSPOSE_CONV":
        operands = (tree.numbers(*image), weights, x, added)  # type: ignore[assignment]
    tree.apply(code, operands, tree.add(image, **{**SCALE, "scales": (step,)}), table, **options)
    return tree.model()


def accepted(builder: ModuleType, model: Any, path: Path) -> bool:
    path.write_bytes(builder.write(model))
    try:
        load_tflite(path)
    except ModelError as error:
        fault = str(error)
    else:
        return True
    assert "_bias')" in fault
    assert "has scale" in fault or "has a zero point" in fault
    return False


@pytest.mark.parametrize("code", NETWORKS)
@pytest.mark.parametrize(
    ("bias", "fits"),
    [
        ({}, True),
        ({"scales": (SUMS,), "zero_points": (0,)}, True),
        ({"scales": (SUMS * 1.9,), "zero_points": (0,)}, True),
        ({"scales": (SUMS * 2.1,), "zero_points": (0,)}, False),
        ({"scales": (SUMS * 100,), "zero_points": (0,)}, False),
        ({"scales": (SUMS / 100,), "zero_points": (0,)}, True),
        ({"scales": (SUMS, SUMS, SUMS, SUMS * 3), "zero_points": (0,) * 4}, False),
        ({"scales": (SUMS,), "zero_points": (7,)}, False),
    ],
)
def test_off_by_one_step_at_most(
    code: str, bias: dict[str, Any], fits: bool, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """A bias of 100 whose scale is twice as great is off by 100 sums, which are one step here."""
    model = network(tflite_builder, code, bias)
    assert accepted(tflite_builder, model, tmp_path / "model.tflite") is fits


@pytest.mark.parametrize("off", [0.0, 0.5, 0.99, 1.01, 2.0, 1000.0])
@pytest.mark.parametrize("zeros", [True, False])
def test_a_dense_layer_is_refused_where_tflm_refuses(
    off: float,
    zeros: bool,
    tflite_builder: ModuleType,
    tflm: Callable[..., Any],
    tmp_path: Path,
) -> None:
    """1 of the bias may be off by 0.02 steps, even if no bias is more than 0."""
    scale = SUMS + off * 0.02 * float(np.float32(0.1))
    bias = {"scales": (scale,), "zero_points": (0,)}
    model = network(tflite_builder, "FULLY_CONNECTED", bias)
    if zeros:
        tensors = [replace(t, data=t.data * 0) if t.dtype == "int32" else t for t in model.tensors]
        model = replace(model, tensors=tuple(tensors))
    try:
        tflm(tflite_builder.write(model), [np.zeros((2, 4), np.int8)])
    except RuntimeError:
        runs = False
    else:
        runs = True
    found = accepted(tflite_builder, model, tmp_path / "model.tflite")
    assert runs is (off < 1)
    assert found is runs if zeros else found <= runs


@pytest.mark.parametrize(
    ("code", "operand", "factor"),
    [("SVDF", 3, 100.0), ("UNIDIRECTIONAL_SEQUENCE_LSTM", 13, 100.0)],
)
def test_operators_with_states(
    code: str, operand: int, factor: float, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = recurrent(tflite_builder)
    op = next(op for op in model.operators if op.code == code)
    x, weights = (model.tensors[op.inputs[at]].scales[0] for at in (0, 2))
    right = x * weights if code != "SVDF" else model.tensors[op.inputs[operand]].scales[0]
    for scale, fits in ((right, True), (right * factor, False)):
        tensors = list(model.tensors)
        tensors[op.inputs[operand]] = replace(
            tensors[op.inputs[operand]], scales=(scale,), zero_points=(0,)
        )
        changed = replace(model, tensors=tuple(tensors))
        assert accepted(tflite_builder, changed, tmp_path / "model.tflite") is fits


@pytest.mark.parametrize(
    ("code", "scales", "fits"),
    [
        ("ADD", (0.5, 0.5, 0.5), True),
        ("ADD", (0.5, 0.25, 0.5), False),
        ("SUB", (0.5, 0.5, 0.25), False),
        ("MUL", (0.5, 0.5, 0.5), False),
        ("MUL", (1.0, 1.0, 1.0), True),
        ("MUL", (), True),
        ("RESHAPE", (0.5, 0.5), True),
        ("RESHAPE", (0.5, 0.25), False),
        ("CONCATENATION", (0.5, 0.5, 0.25), False),
        ("MAXIMUM", (0.5, 0.25, 0.5), False),
    ],
)
def test_scales_of_int32_that_kernels_do_not_heed(
    code: str, scales: tuple[float, ...], fits: bool, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    tree = Tree(tflite_builder)
    count = 2 if code == "RESHAPE" else 3
    grids = [{"scales": (each,), "zero_points": (0,)} for each in scales] or [{}] * count
    *operands, result = (tree.add((4,), dtype="int32", **each) for each in grids)
    if code == "CONCATENATION":
        tree.tensors[result] = replace(tree.tensors[result], shape=(8,))
    table = "" if code in ("RESHAPE", "MAXIMUM") else f"{code.capitalize()}Options"
    tree.apply(code, tuple(operands), result, table)
    model = replace(tree.model(), inputs=tuple(operands))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    if fits:
        load_tflite(path)
        return
    with pytest.raises(ModelError, match=r"is quantised differently|has a scale or a zero point"):
        load_tflite(path)


def test_an_lstm_hands_out_its_hidden_state(tflite_builder: ModuleType, tmp_path: Path) -> None:
    model = recurrent(tflite_builder)
    op = next(op for op in model.operators if op.code == "UNIDIRECTIONAL_SEQUENCE_LSTM")
    tensors = list(model.tensors)
    tensors[op.outputs[0]] = replace(tensors[op.outputs[0]], scales=(0.125,))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(replace(model, tensors=tuple(tensors))))
    with pytest.raises(ModelError, match="is quantised differently from the hidden state"):
        load_tflite(path)
