# SPDX-License-Identifier: Apache-2.0
"""What kinds with windows, such that reduce, and such that move do not support is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.operator_samples import moves, picks, sixteen_bits, windows_and_reductions

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

Change = dict[str, Any]
OTHER = {"scales": (0.06,), "zero_points": (-3,)}


def int32(*values: int) -> Change:
    data = np.array(values, np.int32)
    return {"shape": data.shape, "data": data}


# operator, then which of its operands to change (None: itself), how, what the message must hold
CASES: list[tuple[str, int | None, Change, str]] = [
    ("CONV_2D", 1, {"shape": (4, 3, 3, 3), "data": np.ones((4, 3, 3, 3), np.int8)}, "does not fit"),
    ("CONV_2D", 1, {"shape": (3, 3, 3, 4), "data": np.ones((3, 3, 3, 4), np.int8)}, "does not fit"),
    ("TRANSPOSE_CONV", None, {"options": {"StrideH": 0, "StrideW": 2}}, "stride_h is 0, the least"),
    ("TRANSPOSE_CONV", None, {"options": {"Padding": 2}}, "neither SAME nor VALID"),
    ("TRANSPOSE_CONV", None, {"options": {"StrideH": 2**29, "StrideW": 1}}, "before it is cut"),
    ("TRANSPOSE_CONV", -1, {"shape": (1, 12, 12, 5)}, "inputs and options make [1, 12, 12, 6]"),
    ("RESIZE_BILINEAR", -1, OTHER, "is quantised differently from the output"),
    ("RESIZE_BILINEAR", -1, {"shape": (1, 20000, 11, 6)}, "for which 1/1024 is too coarse"),
    (
        "RESIZE_BILINEAR",
        None,
        {"options": {"AlignCorners": True, "HalfPixelCenters": True}},
        "has both align_corners and half_pixel_centers",
    ),
    ("BATCH_MATMUL", None, {"options": {"AdjX": False, "AdjY": False}}, "options make no shape"),
    ("BATCH_MATMUL", -1, {"scales": (1e-38,)}, "only factors below 2^30"),
    ("SUM", 1, int32(4), "holds axes [4], which do not fit a shape of 4 dimensions"),
    ("REDUCE_MAX", -1, OTHER, "is quantised differently from the output"),
    ("REDUCE_MIN", -1, {"dtype": "int16"}, "has type int16 where only int8 is supported"),
    ("ARG_MAX", -1, {"dtype": "int64"}, "has type int64 where only int32 is supported"),
    ("ARG_MAX", 1, int32(0, 1), "holds 2 axes instead of 1"),
    ("CUMSUM", 1, {"data": None}, "is read but nothing writes it"),
    ("CUMSUM", 1, int32(5), "holds axes [5], which do not fit a shape of 4 dimensions"),
    ("CUMSUM", -1, {"scales": (1e-9,)}, "only factors below 2^0 can be represented"),
    ("L2_NORMALIZATION", -1, OTHER, "has scale 0.06 and zero point -3"),
    ("L2_NORMALIZATION", None, {"options": {"FusedActivationFunction": 1}}, "activation 'relu'"),
    ("LOG_SOFTMAX", -1, OTHER, "has scale 0.06 and zero point -3"),
    ("LOG_SOFTMAX", 0, {"scales": (1e-9,)}, "has scale 1e-09, the least is 2^-25"),
]


WIDE_CASES: list[tuple[str, int | None, Change, str]] = [
    ("CONV_2D", 0, {"zero_points": (1,)}, "has zero point 1 instead of 0"),
    ("CONV_2D", 0, {"dtype": "int8"}, "has type int16 instead of int8"),
    ("CONV_2D", 2, {"dtype": "int16", "data": np.ones(4, np.int16)}, "instead of int32 or int64"),
    (
        "DEPTHWISE_CONV_2D",
        2,
        {"dtype": "int32", "data": np.ones(4, np.int32)},
        "has type int32 instead of int64",
    ),
    (
        "DEPTHWISE_CONV_2D",
        2,
        {"data": np.full(4, 2**46)},
        "has values of 2^46 or more in magnitude",
    ),
    ("FULLY_CONNECTED", -1, {"scales": (1e-9,)}, "only factors below 2^7 can be represented"),
]

MOVE_CASES: list[tuple[str, int | None, Change, str]] = [
    ("EXPAND_DIMS", 0, {"dtype": "bool"}, "has type bool where only int8 and int16 are supported"),
    ("EXPAND_DIMS", None, {"inputs": (0, 0)}, "the shape must be a constant"),
    ("EXPAND_DIMS", -1, {"shape": (6, 5, 8)}, "inputs and options make no shape"),
    ("EXPAND_DIMS", -1, {"shape": (6, 1, 1, 5, 8)}, "inputs and options make no shape"),
    ("EXPAND_DIMS", -1, OTHER, "is quantised differently from the output"),
    ("SLICE", 0, {"dtype": "int64"}, "has type int64 where only int8, int16, int32 and bool are"),
    ("SLICE", 1, int32(0, 1, 2), "has shape [3] instead of [4]"),
    ("SLICE", 1, int32(0, -1, 2, 0), "of the 6 of dimension 1"),
    ("SLICE", 2, int32(1, 6, -1, 8), "of the 6 of dimension 1"),
    ("SLICE", 2, int32(1, 0, -1, 8), "of the 6 of dimension 1"),
    ("SLICE", 2, int32(1, 4, -2, 8), "of the 5 of dimension 2"),
    ("SLICE", 2, {"dtype": "int64", "data": np.ones(4, np.int64)}, "has type int64, other than"),
    ("SLICE", None, {"inputs": (0, 0, 0)}, "must be a constant"),
    ("SLICE", -1, OTHER, "is quantised differently from the output"),
    ("STRIDED_SLICE", 3, int32(1, 0, 1, 1), "takes nothing"),
    ("STRIDED_SLICE", 3, int32(-1, -2, 1, 2), "holds strides [-1, -2, 1, 2]"),
    ("STRIDED_SLICE", 1, int32(1, -1, 0, 1), "of the 1 of dimension 0"),
    ("STRIDED_SLICE", 2, int32(1, 5, 5, 7), "of the 6 of dimension 1"),
    ("STRIDED_SLICE", None, {"options": {"EllipsisMask": 1}}, "has ellipsis_mask 1, only 0 is"),
    ("STRIDED_SLICE", None, {"options": {"NewAxisMask": 2}}, "has new_axis_mask 2, only 0 is"),
    ("STRIDED_SLICE", None, {"options": {"Offset": True}}, "has offset 1, only 0 is"),
    ("STRIDED_SLICE", 0, {"shape": (1, 2, 3, 4, 5)}, "has 5 dimensions where 1 to 4 are supported"),
    ("STRIDED_SLICE", -1, {"shape": (1, 3, 5, 3)}, "inputs and options make [3, 5, 3]"),
    ("SPLIT", 0, int32(4), "has no axis 4, only 3 dimensions"),
    ("SPLIT", 0, int32(0, 1), "has 2 values instead of one axis"),
    ("SPLIT", 0, {"data": None}, "is read but nothing writes it"),
    ("SPLIT", -1, {"shape": (6, 5, 3)}, "has shape [6, 5, 3] instead of [6, 5, 4]"),
    ("SPLIT", -1, OTHER, "is quantised differently from the input"),
    ("SPLIT", -1, {"dtype": "int64"}, "has type int64 where only int8, int16 and int32"),
    ("SPLIT_V", 1, int32(2, 2, 3), "its 6 of dimension 0 cannot be 3 results"),
    ("SPLIT_V", 1, int32(-1, -1, 3), "its 6 of dimension 0 cannot be 3 results"),
    ("SPLIT_V", 1, int32(-1, 3), "its 6 of dimension 0 cannot be 3 results"),
    ("SPLIT_V", 1, int32(3, 0, 3), "its 6 of dimension 0 cannot be 3 results"),
    ("SPLIT_V", None, {"inputs": (0, 0, 0)}, "must be a constant"),
    ("UNPACK", None, {"options": {"Axis": -4}}, "has no axis -4, only 3 dimensions"),
    ("UNPACK", None, {"options": {"Axis": 0}}, "its 6 of dimension 0 cannot be 5 results"),
    ("UNPACK", -1, {"shape": (6, 1, 4)}, "has shape [6, 1, 4] instead of [6, 4]"),
    ("PACK", None, {"options": {"Axis": 3}}, "inputs and options make no shape"),
    ("PACK", -1, {"shape": (6, 4, 2)}, "inputs and options make [6, 2, 4]"),
    ("PACK", -1, OTHER, "is quantised differently from the output"),
    ("PACK", -1, {"dtype": "bool"}, "has type bool where only int8, int16, int32 and int64"),
    ("SQUEEZE", 0, {"dtype": "float32"}, "has type float32 where only int8, int16, int32, int64"),
    ("SQUEEZE", -1, {"shape": (5, 6, 8)}, "inputs and options make no shape"),
    ("SQUEEZE", -1, {"shape": (1, 1, 6, 5, 8)}, "inputs and options make no shape"),
    ("SQUEEZE", -1, {"dtype": "int16"}, "has type int16 instead of int8"),
    ("TRANSPOSE", 0, {"dtype": "int32"}, "has type int32 where only int8 and int16 are supported"),
    ("TRANSPOSE", 0, {"shape": (1, 2, 3, 4, 5, 6)}, "has 6 dimensions where 1 to 5 are supported"),
    ("TRANSPOSE", 1, int32(0, 3, 3, 1), "which is no order of 4 dimensions"),
    ("TRANSPOSE", 1, int32(0, -1, 1, 2), "which is no order of 4 dimensions"),
    ("TRANSPOSE", 1, {"data": None}, "is read but nothing writes it"),
    ("TRANSPOSE", None, {"inputs": (0, 0)}, "must be a constant"),
    ("TRANSPOSE", -1, {"shape": (1, 6, 5, 8)}, "inputs and options make [1, 8, 6, 5]"),
    ("TRANSPOSE", -1, OTHER, "is quantised differently from the output"),
]

PICK_CASES: list[tuple[str, int | None, Change, str]] = [
    ("RESIZE_NEAREST_NEIGHBOR", 0, {"dtype": "int32"}, "only int8 and int16 are supported"),
    ("RESIZE_NEAREST_NEIGHBOR", -1, OTHER, "is quantised differently from the output"),
    ("RESIZE_NEAREST_NEIGHBOR", -1, {"shape": (1, 12, 7, 4)}, "options make [1, 12, 7, 8]"),
    ("RESIZE_NEAREST_NEIGHBOR", -1, {"shape": (1, 12, 7)}, "instead of 4 dimensions"),
    ("RESIZE_NEAREST_NEIGHBOR", -1, {"shape": (1, 2**24 + 1, 1, 8)}, "may be 16777216"),
    ("RESIZE_NEAREST_NEIGHBOR", None, {"inputs": (0, 0)}, "the shape must be a constant"),
    ("DEPTH_TO_SPACE", None, {"options": {"BlockSize": 0}}, "has block_size 0, the least is 1"),
    ("DEPTH_TO_SPACE", None, {"options": {"BlockSize": 3}}, "inputs and options make no shape"),
    ("SPACE_TO_DEPTH", None, {"options": {"BlockSize": -2}}, "has block_size -2, the least is 1"),
    ("SPACE_TO_DEPTH", None, {"options": {"BlockSize": 5}}, "inputs and options make no shape"),
    ("SPACE_TO_BATCH_ND", 1, int32(2, 4), "inputs and options make no shape"),
    ("SPACE_TO_BATCH_ND", 1, int32(2, 0), "holds a number below 1"),
    ("SPACE_TO_BATCH_ND", 1, int32(2), "has shape [1] instead of [2]"),
    ("SPACE_TO_BATCH_ND", 2, int32(1, 1, 0, 1), "has shape [4] instead of [2, 2]"),
    ("SPACE_TO_BATCH_ND", 0, {"shape": (1, 240)}, "has 2 dimensions where 3 and 4 are supported"),
    ("BATCH_TO_SPACE_ND", 1, int32(2, 2), "inputs and options make no shape"),
    ("BATCH_TO_SPACE_ND", -1, OTHER, "is quantised differently from the output"),
    ("BATCH_TO_SPACE_ND", 0, {"dtype": "int16"}, "has type int16 where only int8 is supported"),
    ("BATCH_TO_SPACE_ND", None, {"inputs": (0, 0, 0)}, "must be a constant"),
    ("PADV2", 1, {"data": np.full((4, 2), -1, np.int32)}, "holds a padding below 0"),
    ("PADV2", 2, {"shape": (2,), "data": np.ones(2, np.int8)}, "holds 2 values to pad with"),
    ("PADV2", 2, OTHER, "is quantised differently from the output"),
    ("PADV2", None, {"inputs": (0, 1)}, "has 2 inputs instead of 3"),
    ("MIRROR_PAD", None, {"options": {"Mode": 2}}, "has mode 2, which is neither REFLECT nor"),
    ("MIRROR_PAD", 1, {"data": np.full((4, 2), 1, np.int32)}, "dimension 0, the most is 0"),
    ("MIRROR_PAD", 0, {"dtype": "int16"}, "has type int16 where only int8 is supported"),
    ("BROADCAST_TO", -1, {"shape": (3, 6, 5, 4)}, "inputs and options make no shape"),
    ("BROADCAST_TO", -1, {"shape": (6, 5, 8)}, "inputs and options make no shape"),
    ("BROADCAST_TO", -1, {"shape": (1, 1, 1, 6, 5, 8)}, "has 6 dimensions where up to 5 are"),
    ("BROADCAST_TO", -1, {"dtype": "int16"}, "has type int16 instead of int8"),
    ("TILE", -1, {"shape": (1, 12, 5, 20)}, "inputs and options make"),
    ("TILE", -1, {"shape": (12, 5, 24)}, "inputs and options make no shape"),
    ("BROADCAST_ARGS", 1, int32(1) | {"shape": (1, 1)}, "instead of 1 dimensions"),
    ("BROADCAST_ARGS", -1, {"shape": (47,)}, "inputs and options make [48]"),
    ("ZEROS_LIKE", -1, {"shape": (7, 8, 8)}, "inputs and options make [1, 7, 8, 8]"),
    ("ZEROS_LIKE", -1, {"dtype": "int16"}, "has type int16 where only int8, int32 and int64"),
    ("FILL", 1, {"shape": (1,)}, "has shape [1] instead of []"),
    ("FILL", -1, {"dtype": "int16"}, "has type int16 where only int8 and int32 are supported"),
    ("FILL", None, {"inputs": (0, 0)}, "the shape must be a constant"),
    ("SHAPE", -1, {"dtype": "int64"}, "has type int64 instead of int32"),
    ("SHAPE", -1, {"shape": (3,)}, "inputs and options make [4]"),
    ("DYNAMIC_UPDATE_SLICE", 0, {"shape": (6, 40)}, "has shape [2, 5, 3], which is no part of"),
    ("DYNAMIC_UPDATE_SLICE", 1, {"shape": (2, 5, 9)}, "which is no part of [6, 5, 8]"),
    ("DYNAMIC_UPDATE_SLICE", 1, OTHER, "is quantised differently from the output"),
    (
        "DYNAMIC_UPDATE_SLICE",
        2,
        {"dtype": "int16", "data": np.zeros(3, np.int16)},
        "int32 or int64",
    ),
    ("DYNAMIC_UPDATE_SLICE", 2, {"shape": (2,), "data": np.zeros(2, np.int32)}, "instead of [3]"),
    ("DYNAMIC_UPDATE_SLICE", -1, {"shape": (6, 5, 9)}, "inputs and options make [6, 5, 8]"),
    ("EMBEDDING_LOOKUP", 1, {"shape": (27,)}, "a list and rows are supported"),
    ("EMBEDDING_LOOKUP", 1, OTHER, "is quantised differently from the output"),
    ("REDUCE_ALL", 0, {"dtype": "int8", **OTHER}, "has type int8 where only bool is supported"),
    ("GATHER", None, {"options": {"Axis": 4}}, "has axis 4 and batch_dims 0, which do not fit"),
    ("GATHER", None, {"options": {"Axis": 1, "BatchDims": 2}}, "has axis 1 and batch_dims 2"),
    ("GATHER", None, {"inputs": (0, 0)}, "has type int8 instead of int32"),
    ("GATHER", -1, {"shape": (1, 6, 5, 8)}, "inputs and options make [1, 6, 6, 8, 8]"),
    ("GATHER", -1, OTHER, "is quantised differently from the output"),
    ("GATHER_ND", 1, {"data": np.full((2, 3), 5, np.int32)}, "outside the 1 of dimension 0"),
    ("GATHER_ND", 1, {"data": np.full((2, 3), -1, np.int32)}, "outside the 1 of dimension 0"),
    ("GATHER_ND", 1, {"dtype": "int64", "data": np.zeros((2, 3), int)}, "instead of int32"),
    ("GATHER_ND", 1, {"shape": (1, 6), "data": np.zeros(6, np.int32)}, "last dimension may be 4"),
    ("REVERSE_V2", 1, int32(1, 3), "which are no neighbours among the 4 dimensions"),
    ("REVERSE_V2", 1, int32(1, 1), "which are no neighbours among the 4 dimensions"),
    ("REVERSE_V2", 1, int32(4), "which are no neighbours among the 4 dimensions"),
    ("REVERSE_V2", 1, {"dtype": "int64", "data": np.array([2, 1])}, "instead of int32"),
    ("REVERSE_V2", -1, {"shape": (1, 7, 12, 8)}, "inputs and options make [1, 12, 7, 8]"),
]


def changed(model: Any, code: str, operand: int | None, change: Change) -> Any:
    at = next(at for at, op in enumerate(model.operators) if op.code == code)
    op = model.operators[at]
    if operand is None:
        operators = (*model.operators[:at], replace(op, **change), *model.operators[at + 1 :])
        return replace(model, operators=operators)
    number = (*op.inputs, *op.outputs)[operand]
    tensors = list(model.tensors)
    tensors[number] = replace(tensors[number], **change)
    return replace(model, tensors=tuple(tensors))


@pytest.mark.parametrize(
    ("sample", "code", "operand", "change", "message"),
    [
        *((windows_and_reductions, *case) for case in CASES),
        *((sixteen_bits, *case) for case in WIDE_CASES),
        *((moves, *case) for case in MOVE_CASES),
        *((picks, *case) for case in PICK_CASES),
    ],
)
def test_refused(
    sample: Callable[[ModuleType], Any],
    code: str,
    operand: int | None,
    change: Change,
    message: str,
    tflite_builder: ModuleType,
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.tflite"
    model = changed(sample(tflite_builder), code, operand, change)
    path.write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError) as caught:
        load_tflite(path)
    assert message in str(caught.value)
    assert f"({code})" in str(caught.value)
