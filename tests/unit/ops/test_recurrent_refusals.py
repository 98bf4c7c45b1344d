# SPDX-License-Identifier: Apache-2.0
"""What kinds with states do not support is refused."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.operator_samples import SCALE
from tests.recurrent_samples import LSTM_OPTIONS, recurrent
from tests.unit.ops.test_more_refusals import Change, changed
from tests.unit.ops.test_recurrent_tflm import lstm

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
X, WEIGHTS, RECURRENT, BIAS, HIDDEN, CELL, RESULT = 0, 2, 7, 14, 18, 19, -1
PER_CHANNEL = {"scales": (0.01,) * 5, "zero_points": (0,) * 5}
NARROW = np.ones((5, 4), np.int8)


# operator, then which of its operands to change (None: itself), how, what the message must hold
CASES: list[tuple[str, int | None, Change, str]] = [
    (LSTM, None, {"options": {"FusedActivationFunction": 0}}, "activation 'none' of the cell gate"),
    (
        LSTM,
        None,
        {"options": LSTM_OPTIONS | {"AsymmetricQuantizeInputs": True}},
        "asymmetric_quantize_inputs is not supported",
    ),
    (LSTM, X, {"shape": (2, 6)}, "has shape [2, 6] instead of 3 dimensions"),
    (LSTM, WEIGHTS, {"dtype": "int16", "data": None}, "is read but nothing writes it"),
    (LSTM, WEIGHTS, {"zero_points": (1,)}, "has zero point 1 instead of 0"),
    (LSTM, WEIGHTS, PER_CHANNEL, "is not quantised by one scale"),
    (LSTM, WEIGHTS, {"shape": (5, 4), "data": NARROW}, "has shape [5, 4] instead of [5, 6]"),
    (LSTM, WEIGHTS, {"scales": (1e8,)}, "only factors below 2^30"),
    (LSTM, RECURRENT, {"shape": (5, 4), "data": NARROW}, "has shape [5, 4] instead of [5, 5]"),
    (LSTM, BIAS, {"dtype": "int64", "data": np.ones(5, np.int64)}, "has type int64 instead of"),
    (LSTM, BIAS, {"shape": (4,), "data": np.ones(4, np.int32)}, "has shape [4] instead of [5]"),
    (LSTM, HIDDEN, {"variable": False}, "is no variable"),
    (LSTM, HIDDEN, {"shape": (3, 5)}, "has shape [3, 5] instead of [2, 5]"),
    (LSTM, HIDDEN, {"shape": (10,)}, "has shape [10] instead of 2 dimensions"),
    (LSTM, HIDDEN, {"dtype": "int16"}, "has type int16 where only int8 is supported"),
    (LSTM, CELL, {"dtype": "int8"}, "has type int8 where only int16 is supported"),
    (LSTM, CELL, {"scales": (0.0005,)}, "has scale 0.0005, which is not a power of two"),
    (LSTM, CELL, {"scales": (4.0,)}, "has scale 4, which is not a power of two of 2^-27 .. 2"),
    (LSTM, CELL, {"zero_points": (3,)}, "has zero point 3 instead of 0"),
    (LSTM, RESULT, {"shape": (1, 2, 5)}, "has shape [1, 2, 5] instead of [2, 1, 5]"),
    (LSTM, RESULT, {"dtype": "int16"}, "has type int16 where only int8 is supported"),
    ("SVDF", 2, {"dtype": "int16", "data": np.ones((12, 3), np.int16)}, "where weights_time has"),
    ("SVDF", 3, {"scales": (0.1,)}, "has scale 0.1, what it is added to has 0.0005"),
    ("SVDF", 4, {"shape": (2, 35)}, "has shape [2, 35] instead of [2, 36]"),
    ("SVDF", None, {"options": {"Rank": 5}}, "its 12 filters cannot have rank 5"),
    ("SVDF", RESULT, {"shape": (2, 5), **SCALE}, "has shape [2, 5] instead of [2, 6]"),
]


def refusal(model: Any, builder: ModuleType, path: Path) -> str:
    path.write_bytes(builder.write(model))
    with pytest.raises(ModelError) as caught:
        load_tflite(path)
    return str(caught.value)


@pytest.mark.parametrize(("code", "operand", "change", "message"), CASES)
def test_refused(
    code: str,
    operand: int | None,
    change: Change,
    message: str,
    tflite_builder: ModuleType,
    tmp_path: Path,
) -> None:
    model = changed(recurrent(tflite_builder), code, operand, change)
    found = refusal(model, tflite_builder, tmp_path / "model.tflite")
    assert message in found
    assert f"({code})" in found


@pytest.mark.parametrize(
    ("at", "change", "message"),
    [
        (X, {"zero_points": (3,)}, "has zero point 3 instead of 0"),
        (X, {"scales": (1e4,)}, "only factors below 2^7 can be represented"),
        (X, {"dtype": "int8"}, "has type int16 where only int8 is supported"),
        (BIAS, {"dtype": "int32"}, "has type int32 instead of int64"),
        (BIAS, {"values": 2**46}, "has values of 2^46 or more in magnitude"),
        (HIDDEN, {"zero_points": (3,)}, "has zero point 3 instead of 0"),
    ],
)
def test_refused_of_16_bits(
    at: int, change: Change, message: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = lstm(tflite_builder, np.random.default_rng(1), wide=True)
    (op,) = model.operators
    number = op.inputs[at]
    tensor = model.tensors[number]
    if "dtype" in change and tensor.data is not None:
        change = change | {"data": tensor.data.astype(change["dtype"])}
    if "values" in change:
        change = {"data": np.full(tensor.shape, change["values"], np.int64)}
    tensors = (*model.tensors[:number], replace(tensor, **change), *model.tensors[number + 1 :])
    found = refusal(replace(model, tensors=tensors), tflite_builder, tmp_path / "model.tflite")
    assert message in found


@pytest.mark.parametrize(
    ("position", "operand", "message"),
    [
        *((at, 14, "is of peephole weights, which are not") for at in (9, 10, 11)),
        *((at, 14, "is of projections, which are not supported") for at in (16, 17)),
        *((at, 14, "is of normalised layers, which are not") for at in (20, 23)),
        *((at, -1, f"input {at} is absent but required") for at in (1, 5, 8, 12, 18, 19)),
    ],
)
def test_variants_of_an_lstm_are_refused(
    position: int, operand: int, message: str, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = recurrent(tflite_builder)
    inputs = list(next(op.inputs for op in model.operators if op.code == LSTM))
    inputs[position] = inputs[operand] if operand >= 0 else -1
    changed_model = changed(model, LSTM, None, {"inputs": tuple(inputs)})
    assert message in refusal(changed_model, tflite_builder, tmp_path / "model.tflite")


@pytest.mark.parametrize("code", [LSTM, "SVDF"])
@pytest.mark.parametrize("count", [1, 4])
def test_operands_are_counted(
    code: str, count: int, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = recurrent(tflite_builder)
    inputs = next(op.inputs for op in model.operators if op.code == code)
    fewer = changed(model, code, None, {"inputs": inputs[:count]})
    found = refusal(fewer, tflite_builder, tmp_path / "model.tflite")
    assert f"({code}): has {count} inputs instead of {len(inputs)}" in found


def test_a_state_is_there(tflite_builder: ModuleType, tmp_path: Path) -> None:
    model = recurrent(tflite_builder)
    inputs = next(op.inputs for op in model.operators if op.code == "SVDF")
    without = changed(model, "SVDF", None, {"inputs": (*inputs[:4], -1)})
    found = refusal(without, tflite_builder, tmp_path / "model.tflite")
    assert "input 4 is absent but required" in found


def test_a_result_that_is_a_variable_is_refused(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """One that nothing reads, so that it is no operand of the wrong operator."""
    scale = {"scales": (0.1,), "zero_points": (0,)}
    x = tflite_builder.Tensor(shape=(3,), **scale)
    ops = [
        tflite_builder.Operator(code="RELU", inputs=(0,), outputs=(result,)) for result in (1, 2)
    ]
    model = tflite_builder.Model(
        tensors=(x, x, replace(x, variable=True)), operators=tuple(ops), inputs=(0,), outputs=(1,)
    )
    found = refusal(model, tflite_builder, tmp_path / "model.tflite")
    assert "tensor 2 ('tensor'): is a variable, and an input, output, constant or result" in found
