# SPDX-License-Identifier: Apache-2.0
"""DYNAMIC_UPDATE_SLICE, EMBEDDING_LOOKUP and REDUCE_ALL equal TFLM: all options and types."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded
from tests.kernels import hold

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.ops.registry import kind_of

Compare = Callable[..., None]
INT8: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
INT16: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
TYPES: list[dict[str, Any]] = [INT8, INT16, {"dtype": "int32"}]


def update(builder: ModuleType, seed: int) -> tuple[Any, list[Any]]:
    """Draw a network of one DYNAMIC_UPDATE_SLICE, at a computed place or not, and its inputs."""
    chance, rng = Random(f"update {seed}"), np.random.default_rng(seed)
    kind, tensor = TYPES[seed % 3], builder.Tensor
    extents = [chance.choice((1, 2, 3, 4)) for _ in range(chance.randint(1, 5))]
    if chance.random() < 0.5:
        extents[chance.randrange(len(extents))] = 17
    whole = tuple(extents)
    part = tuple(chance.choice((extent, chance.randint(1, extent))) for extent in whole)
    computed = chance.random() < 0.5
    dtype = "int32" if computed else chance.choice(("int32", "int64"))
    reach = chance.choice((2, 2**31 - 1))
    begin = rng.integers(-reach, [reach + extent for extent in whole], dtype=np.int64)
    begin = np.clip(begin, -(2**31), 2**31 - 1).astype(dtype)
    held = None if chance.random() < 0.7 else _values(rng, whole, kind)
    tensors = (
        tensor(shape=whole, data=held, **kind),
        tensor(shape=part, **kind),
        tensor(shape=begin.shape, dtype=dtype, data=None if computed else begin),
        tensor(shape=whole, **kind),
    )
    op = builder.Operator(code="DYNAMIC_UPDATE_SLICE", inputs=(0, 1, 2), outputs=(3,))
    inputs = tuple(at for at in range(3) if tensors[at].data is None)
    model = builder.Model(tensors=tensors, operators=(op,), inputs=inputs, outputs=(3,))
    values = [_values(rng, whole, kind), _values(rng, part, kind), begin]
    return model, [values[at] for at in inputs]


def _values(rng: np.random.Generator, shape: tuple[int, ...], kind: dict[str, Any]) -> Any:
    dtype = kind.get("dtype", "int8")
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@seeded(1000)
def test_updates(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    model, given = update(tflite_builder, seed)
    equals_tflm(model, np.random.default_rng(seed), given)


@pytest.mark.parametrize("outside", [False, True])
@seeded(1000)
def test_embeddings(
    seed: int,
    outside: bool,
    tmp_path: Path,
    tflite_builder: ModuleType,
    tflm: Any,
    counted: Callable[..., bool],
) -> None:
    """Indices outside the table, where TFLM ends the run, are drawn in."""
    if counted("EMBEDDING_LOOKUP"):
        return
    rng, tensor = np.random.default_rng(seed), tflite_builder.Tensor
    shape = tuple(int(each) for each in rng.integers(1, 8, int(rng.integers(2, 5))))
    count, constant = int(rng.integers(1, 6)), bool(rng.integers(2)) and not outside
    reach = 2**31 if outside else 0
    indices = rng.integers(-reach, reach or shape[0], count).astype(np.int32)
    tensors = (
        tensor(shape=(count,), dtype="int32", data=indices if constant else None),
        tensor(shape=shape, data=_values(rng, shape, INT8), **INT8),
        tensor(shape=(count, *shape[1:]), **INT8),
    )
    op = tflite_builder.Operator(code="EMBEDDING_LOOKUP", inputs=(0, 1), outputs=(2,))
    inputs = () if constant else (0,)
    unused = tensor(shape=(1,), **INT8)
    model = tflite_builder.Model(
        tensors=(*tensors, unused), operators=(op,), inputs=(*inputs, 3), outputs=(2,)
    )
    data, path = tflite_builder.write(model), tmp_path / "model.tflite"
    path.write_bytes(data)
    graph = load_tflite(path)
    given: list[Any] = [*([] if constant else [indices]), np.zeros(1, np.int8)]
    values = reference.run(graph, dict(zip(graph.inputs, given, strict=True)))
    (made,) = graph.operators
    result = values[made.outputs[0]]
    rows = tensors[1].data[np.clip(indices, 0, shape[0] - 1)]
    np.testing.assert_array_equal(result, rows if outside else tflm(data, given))
    hold(kind_of(made).lower(made, graph), values, result, interpreted=False)


@seeded(1000)
def test_all(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng, tensor = np.random.default_rng(seed), tflite_builder.Tensor
    shape = tuple(int(each) for each in rng.integers(1, 6, int(rng.integers(1, 5))))
    rank, keep = len(shape), bool(rng.integers(2))
    axes = rng.permutation(rank)[: int(rng.integers(1, rank + 1))]
    result = tuple(1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)
    data = (axes - rank * rng.integers(0, 2, axes.size)).astype(np.int32)
    tensors = (
        tensor(shape=shape, dtype="bool"),
        tensor(shape=data.shape, dtype="int32", data=data),
        tensor(shape=result, dtype="bool"),
    )
    op = tflite_builder.Operator(
        code="REDUCE_ALL",
        inputs=(0, 1),
        outputs=(2,),
        table="ReducerOptions",
        options={"KeepDims": keep},
    )
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(2,))
    given = (rng.random(shape) < rng.choice((0.5, 0.9, 1.0))).astype(np.bool_)
    equals_tflm(model, rng, [given])
