# SPDX-License-Identifier: Apache-2.0
"""What elementwise kinds do not support is refused, naming operator and tensor."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

Q: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}
OTHER: dict[str, Any] = {"scales": (0.06,), "zero_points": (-3,)}
SHARES: dict[str, Any] = {"scales": (1 / 256,), "zero_points": (-128,)}
WIDE: dict[str, Any] = {"dtype": "int16", "scales": (0.001,), "zero_points": (0,)}
LARGE: dict[str, Any] = {"scales": (1.5,), "zero_points": (0,)}
TINY: dict[str, Any] = {"scales": (1e-38,), "zero_points": (0,)}
BOOL: dict[str, Any] = {"dtype": "bool"}
INT32: dict[str, Any] = {"dtype": "int32"}

# operator, what is special about inputs and output, then what the message must hold
CASES: list[tuple[str, list[dict[str, Any]], dict[str, Any], str]] = [
    ("LOGISTIC", [Q], Q, "quantise the output with scale 1/256 and zero point -128"),
    ("LOGISTIC", [TINY], SHARES, "has scale 1e-38, which is outside 2^-27"),
    ("LOGISTIC", [WIDE], WIDE, "quantise the output with scale 1/32768 and zero point 0"),
    ("SOFTMAX", [Q], Q, "quantise the output with scale 1/256 and zero point -128"),
    ("SOFTMAX", [Q], WIDE, "quantise the output with scale 1/65536 and zero point -32768"),
    ("SOFTMAX", [WIDE], WIDE, "quantise the output with scale 1/32768 and zero point 0"),
    ("SOFTMAX", [WIDE], {**WIDE, "scales": (1.0012 / 32768,)}, "with scale 1/32768 and zero"),
    ("SOFTMAX", [WIDE], Q, "has type int8 instead of int16"),
    ("SOFTMAX", [{**WIDE, "scales": (6.0,)}], WIDE, "beta 1.0 times scale 6 is not of 0 up to 5"),
    ("TANH", [Q], SHARES, "quantise the output with scale 1/128 and zero point 0"),
    *(
        ("HARD_SWISH", [Q], {**Q, "scales": (scale,)}, "is not above 1/128 of that of the input")
        for scale in (0.0003, Q["scales"][0] / 128)
    ),
    ("HARD_SWISH", [WIDE], WIDE, "has type int16 where only int8 is supported"),
    ("ELU", [TINY], TINY, "has scale 1e-38, which is outside 2^-27"),
    ("RELU", [Q], WIDE, "has type int16 instead of int8"),
    ("RELU", [Q], TINY, "only factors below 2^30 can be represented"),
    ("RELU", [{**WIDE, "zero_points": (5,)}], WIDE, "has zero point 5; that of int16 is 0"),
    ("RELU6", [Q], OTHER, "is quantised differently from the output"),
    ("ABS", [Q, Q], Q, "has 2 inputs instead of 1"),
    ("RSQRT", [INT32], INT32, "has type int32 where only int8 and int16 are supported"),
    ("RSQRT", [WIDE], {**WIDE, "zero_points": (5,)}, "has zero point 5; that of int16 is 0"),
    ("RSQRT", [{**Q, "scales": (1e20,)}], Q, "needs a factor of 2e-09, the least is 2^-12"),
    ("QUANTIZE", [INT32 | TINY], INT32 | TINY, "has type int32 as the input has"),
    ("QUANTIZE", [Q], INT32, "is not quantised as a whole"),
    ("SUB", [Q, WIDE], Q, "has type int8 instead of int16"),
    ("SUB", [LARGE, {**TINY, "scales": (1e-45,)}], LARGE, "its scales are too far apart"),
    ("SUB", [Q, INT32], Q, "has type int8 instead of int32"),
    ("DIV", [Q, Q], Q, "TFLM rounds 2^6 up to less than 2^23 rightly"),
    ("DIV", [WIDE, WIDE], WIDE, "has type int16 where only int8 and int32 are supported"),
    ("DIV", [INT32, INT32 | Q], INT32, "is quantised; TFLM divides plain int32"),
    ("FULLY_CONNECTED", [Q, Q, INT32], Q, "adds to products of a computed filter"),
    ("FULLY_CONNECTED", [Q, INT32], Q, "has type int32 where only int8 is supported"),
    ("FULLY_CONNECTED", [Q, Q], Q, "inputs and options make [2, 2]"),
    ("MAXIMUM", [Q, OTHER], Q, "is quantised differently from the output"),
    ("MINIMUM", [BOOL, BOOL], BOOL, "has type bool where only int8, int16, int32 and int64"),
    ("PRELU", [WIDE, WIDE], WIDE, "has type int16 instead of int8"),
    ("SQUARED_DIFFERENCE", [Q, Q], TINY, "only factors below 2^30 can be represented"),
    ("LESS", [Q, LARGE], BOOL, "has scale 1.5; only scales below 1 are compared"),
    ("GREATER", [WIDE, WIDE], BOOL, "has type int16 where only int8, int32 and int64"),
    ("LESS", [BOOL, BOOL], BOOL, "has type bool where only int8, int32 and int64"),
    ("EQUAL", [Q, INT32], BOOL, "has type int32 instead of int8"),
    ("EQUAL", [Q, Q], Q, "has type int8 where only bool is supported"),
    ("LOGICAL_AND", [BOOL, Q], BOOL, "has type int8 where only bool is supported"),
    ("LOGICAL_NOT", [BOOL, BOOL], BOOL, "has 2 inputs instead of 1"),
    ("SELECT_V2", [Q, Q, Q], Q, "has type int8 instead of bool"),
    ("SELECT_V2", [BOOL, INT32, Q], INT32, "has type int32 instead of int8"),
    ("CAST", [{"dtype": "int64"}], Q, "has type int64 instead of one of bool, int8"),
]


@pytest.mark.parametrize(("code", "sources", "target", "message"), CASES)
def test_refused(
    code: str,
    sources: list[dict[str, Any]],
    target: dict[str, Any],
    message: str,
    tflite_builder: ModuleType,
    tmp_path: Path,
) -> None:
    count = len(sources)
    given = tuple(range(count))
    table = f"{code.title().replace('_', '')}Options"
    with_table = ("SUB", "DIV", "FULLY_CONNECTED", "SOFTMAX")
    options: dict[str, Any] = {"table": table} if code in with_table else {}
    if code == "SOFTMAX":
        options["options"] = {"Beta": 1.0}
    op = tflite_builder.Operator(code=code, inputs=given, outputs=(count,), **options)
    tensors = tuple(tflite_builder.Tensor(shape=(2, 3), **side) for side in (*sources, target))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=given, outputs=(count,))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError) as caught:
        load_tflite(path)
    assert message in str(caught.value)
    assert {fault.code for fault in caught.value.faults} == {"E054"}
