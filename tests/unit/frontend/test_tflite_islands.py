# SPDX-License-Identifier: Apache-2.0
"""What real numbers compute of one int8 value inside of a network is a table, with TFLM's bytes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.frontend.tflite.load import load_tflite

Compare = Callable[[Any, np.random.Generator], None]
POSITIVE = {"LOG", "RSQRT", "SQRT"}
"""TFLM converts what is not a number to some integer."""


def island(
    builder: ModuleType, rng: np.random.Generator, codes: tuple[str, ...], zero: int | None = None
) -> Any:
    """Make DEQUANTIZE, the operators of `codes`, and QUANTIZE, with operators of int8 around."""
    shape = tuple(int(size) for size in rng.integers(1, 8, int(rng.integers(1, 4))))
    zero = int(rng.integers(-128, 128)) if zero is None else zero
    source = {"scales": (float(np.float32(rng.uniform(0.005, 0.04))),), "zero_points": (zero,)}
    target = {"scales": (float(np.float32(rng.uniform(0.01, 0.1))),)}
    target |= {"zero_points": (int(rng.integers(-128, 128)),)}
    ends = ("RESHAPE", "DEQUANTIZE", *codes, "QUANTIZE", "RESHAPE")
    quantized: list[dict[str, Any]] = [
        source,
        source,
        *({"dtype": "float32"},) * (len(codes) + 1),
        target,
        target,
    ]
    tables = {"RESHAPE": "ReshapeOptions"}
    return builder.Model(
        tensors=tuple(builder.Tensor(shape=shape, **each) for each in quantized),
        operators=tuple(
            builder.Operator(code=code, inputs=(n,), outputs=(n + 1,), table=tables.get(code, ""))
            for n, code in enumerate(ends)
        ),
        inputs=(0,),
        outputs=(len(ends),),
    )


@pytest.mark.parametrize("code", FUNCTIONS)
@seeded(1000)
def test_one_function(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    codes = ("EXP", code) if code in POSITIVE else (code,)
    equals_tflm(island(tflite_builder, rng, codes), rng)


@seeded(100)
def test_chains(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(100 + seed)
    codes = ("NEG", "EXP", "SQRT", "LOG")[: int(rng.integers(5))]
    equals_tflm(island(tflite_builder, rng, codes), rng)


def load(model: Any, builder: ModuleType, folder: Path) -> Any:
    path = folder / "model.tflite"
    path.write_bytes(builder.write(model))
    return load_tflite(path)


def test_one_operator_is_left(tflite_builder: ModuleType, tmp_path: Path) -> None:
    model = island(tflite_builder, np.random.default_rng(0), ("NEG", "EXP"))
    graph = load(model, tflite_builder, tmp_path)
    assert [op.name for op in graph.operators] == ["reshape_0", "lookup_4", "reshape_5"]


@pytest.mark.parametrize(("last", "first"), [(5, 5), (4, 3)])
def test_real_numbers_elsewhere_are_refused(
    last: int, first: int, tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """A chain that reads itself, and one whose real numbers are handed out as well."""
    model = island(tflite_builder, np.random.default_rng(0), ("NEG", "EXP"))
    if last == 5:
        operators = list(model.operators)
        operators[2] = replace(operators[2], inputs=(4,))
        model = replace(model, operators=tuple(operators))
    else:
        model = replace(model, outputs=(6, first))
    with pytest.raises(ModelError, match="E05"):
        load(model, tflite_builder, tmp_path)
