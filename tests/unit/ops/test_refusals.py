# SPDX-License-Identifier: Apache-2.0
"""Every option that a kind does not support is refused, naming operator and tensor."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

Change = dict[str, Any]
OTHER_SCALE = {"scales": (0.06,), "zero_points": (-3,)}
TINY_SCALE = {"scales": (1e-38,), "zero_points": (0,)}
PER_CHANNEL = {"scales": (0.05,) * 8, "zero_points": (0,) * 8, "axis": 3}


def int8(*shape: int) -> Change:
    return {"shape": shape, "data": np.ones(shape, np.int8)}


def int32(values: Any) -> Change:
    data = np.array(values, np.int32)
    return {"shape": data.shape, "data": data}


# operator or tensor to change, what to change, then what the message must hold
CASES: list[tuple[str, int, Change, str]] = [
    ("operator", 2, {"inputs": (4,)}, "operator 2 (CONV_2D): has 1 inputs instead of 2 to 3"),
    ("operator", 2, {"inputs": (4, -1, 6)}, "input 1 is absent but required"),
    ("operator", 2, {"inputs": (4, 4, 6)}, "tensor 4 ('pad_1_out'): must be a constant"),
    ("operator", 4, {"inputs": (7, -1)}, "operator 4 (ADD): input 1 is absent"),
    ("operator", 8, {"inputs": (13, -1)}, "operator 8 (CONCATENATION): input 1 is absent"),
    ("operator", 8, {"options": {"Axis": 4}}, "inputs and options make no shape"),
    ("operator", 8, {"options": {"Axis": 1}}, "inputs and options make [1, 6, 3, 8]"),
    ("operator", 8, {"options": {"Axis": 3, "FusedActivationFunction": 1}}, "activation 'relu'"),
    ("operator", 5, {"options": {"FusedActivationFunction": 9}}, "'activation 9' is not supported"),
    ("operator", 6, {"options": {"StrideH": 2}}, "stride_w is 0, the least is 1"),
    ("operator", 13, {"options": {"Beta": 0.0}}, "beta 0 times scale 0.05 is outside"),
    ("operator", 12, {"options": {"WeightsFormat": 1}}, "has weights in shuffled format 1"),
    ("tensor", 5, int8(8, 3, 3, 5), "has shape [8, 3, 3, 5], which does not fit the input"),
    ("tensor", 5, int8(8, 36), "has shape [8, 36] instead of 4 dimensions"),
    ("tensor", 5, {"scales": (), "zero_points": ()}, "has no quantisation parameters"),
    ("tensor", 5, {"zero_points": (1,)}, "has a zero point other than 0"),
    ("tensor", 5, {"axis": 1, "scales": (0.1,) * 3, "zero_points": (0,) * 3}, "along dimension 1"),
    ("tensor", 6, int32(range(7)), "tensor 6 ('conv_2d_2_bias'): has 7 elements for 8 output"),
    ("tensor", 6, {"dtype": "float32", "data": np.ones(8, np.float32)}, "instead of int32"),
    ("tensor", 7, PER_CHANNEL, "is quantised per channel where per tensor is supported"),
    ("tensor", 7, TINY_SCALE, "only factors below 2^30 can be represented"),
    ("tensor", 10, {"scales": (1e-9,)}, "only factors below 2^0 can be represented"),
    ("tensor", 7, {"dtype": "int16"}, "has type int16 instead of int8"),
    ("tensor", 3, int32([[0, 0], [1, 1], [2, 1], [0, 0]]), "make [1, 8, 9, 4]"),
    ("tensor", 3, int32([[0, 0], [-1, 3], [1, 1], [0, 0]]), "holds a padding below 0"),
    ("tensor", 3, int32([0, 0, 1, 1]), "has shape [4] instead of [4, 2]"),
    ("tensor", 13, OTHER_SCALE, "is quantised differently from the output"),
    ("tensor", 16, int32([4]), "holds axes [4], which do not fit a shape of 4 dimensions"),
    ("tensor", 16, int32([1]), "inputs and options make [1, 3, 16]"),
    ("tensor", 20, {"shape": (4, 8)}, "has shape [4, 8], inputs and options make no shape"),
    ("tensor", 21, int8(5, 7), "has shape [5, 7], which does not fit the input [2, 8]"),
    ("tensor", 22, {"shape": (5, 2)}, "inputs and options make [2, 5]"),
    ("tensor", 23, OTHER_SCALE, "has scale 0.06 and zero point -3"),
    ("tensor", 11, int8(7), "has shape [1, 6, 6, 8], inputs and options make no shape"),
]


def changed(model: Any, what: str, index: int, change: Change) -> Any:
    items = list(getattr(model, f"{what}s"))
    items[index] = replace(items[index], **change)
    return replace(model, **{f"{what}s": tuple(items)})


@pytest.mark.parametrize(("what", "index", "change", "message"), CASES)
def test_refused(
    what: str,
    index: int,
    change: Change,
    message: str,
    every_operator: Any,
    tflite_builder: ModuleType,
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(changed(every_operator, what, index, change)))
    with pytest.raises(ModelError) as caught:
        load_tflite(path)
    assert message in str(caught.value)
    assert {fault.code for fault in caught.value.faults} == {"E054"}


def test_a_huge_dilation_is_refused(
    every_operator: Any, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    options = {**every_operator.operators[3].options, "DilationHFactor": 2**29}
    path = tmp_path / "model.tflite"
    model = changed(every_operator, "operator", 3, {"options": options})
    path.write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError, match="elements with padding, the most is"):
        load_tflite(path)
