# SPDX-License-Identifier: Apache-2.0
"""Moves that read elements at places of their own equal TFLM: all options, types and shapes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.differential.picks import DRAWS, Move, int32, space_to_batch
from tests.effort import seeded
from tests.kernels import hold

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.ops.registry import kind_of

Compare = Callable[[Any, np.random.Generator], None]
INT8: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
INT16: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
INT32, INT64, BOOL = ({"dtype": name} for name in ("int32", "int64", "bool"))
TYPES: dict[str, list[dict[str, Any]]] = {
    "BROADCAST_TO": [INT8, INT16, INT32, INT64, BOOL],
    "PADV2": [INT8, INT16, INT32],
    "RESIZE_NEAREST_NEIGHBOR": [INT8, INT16],
    "REVERSE_V2": [INT8, INT16, INT32, INT64, BOOL],
}
IMAGES = ("DEPTH_TO_SPACE", "RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_DEPTH")
BATCHES = ("BATCH_TO_SPACE_ND", "SPACE_TO_BATCH_ND")


def shape_for(code: str, chance: Random) -> tuple[int, ...]:
    """Draw a shape that many options fit, now and then one that loops are vectorised for."""
    least, most = {True: (4, 4), False: (1, 5)}[code in IMAGES]
    if code in BATCHES:
        least, most = 3, 4
    shape = [chance.choice((1, 2, 3, 4, 6)) for _ in range(chance.randint(least, most))]
    if chance.random() < 0.3:
        shape[-1] = chance.choice((16, 17, 36))
    if code == "BATCH_TO_SPACE_ND":
        shape[0] *= chance.choice((2, 4, 6))
    if code == "DEPTH_TO_SPACE":
        shape[-1] *= chance.choice((1, 4, 9))
    return tuple(shape)


def model_of(
    builder: ModuleType, move: Move, shape: tuple[int, ...], quantized: dict[str, Any]
) -> Any:
    """Make a model of one move."""
    tensor = builder.Tensor
    given = [tensor(shape=each.shape, dtype=str(each.dtype), data=each) for each in move.constants]
    dtype = quantized.get("dtype", "int8")
    given += [tensor(shape=(), data=np.array(each, dtype), **quantized) for each in move.alike]
    tensors = (tensor(shape=shape, **quantized), *given, tensor(shape=move.result, **quantized))
    last = len(tensors) - 1
    op = builder.Operator(
        code=move.code,
        inputs=tuple(range(last)),
        outputs=(last,),
        table=move.table,
        options=dict(move.options),
    )
    return builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(last,))


def computed(model: Any) -> Any:
    """Make an input of the last operand."""
    at = len(model.tensors) - 2
    value = replace(model.tensors[at], data=None, name="value")
    tensors = (*model.tensors[:at], value, *model.tensors[at + 1 :])
    return replace(model, tensors=tensors, inputs=(*model.inputs, at))


@seeded(1000)
@pytest.mark.parametrize("code", DRAWS)
def test_moves_equal_tflm(
    code: str, seed: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    chance = Random(f"{code} {seed}")
    types = TYPES.get(code, [INT8])
    shape = shape_for(code, chance)
    move = DRAWS[code](chance, shape)
    assert move is not None
    model = model_of(tflite_builder, move, shape, types[seed % len(types)])
    if move.alike and chance.random() < 0.5:
        model = computed(model)
    equals_tflm(model, np.random.default_rng(seed))


@seeded(1000)
def test_padded_blocks_equal_padding_and_blocks_of_tflm(
    seed: int, tmp_path: Path, tflite_builder: ModuleType, tflm: Any
) -> None:
    """TFLM's SPACE_TO_BATCH_ND fills with memory that nobody wrote; its PAD with the zero point."""
    chance, rng = Random(f"padded {seed}"), np.random.default_rng(seed)
    shape = shape_for("SPACE_TO_BATCH_ND", chance)
    move = space_to_batch(chance, shape, padded=True)
    assert move is not None
    path, x = tmp_path / "model.tflite", rng.integers(-128, 128, shape).astype(np.int8)
    path.write_bytes(tflite_builder.write(model_of(tflite_builder, move, shape, INT8)))
    graph = load_tflite(path)
    (op,) = graph.operators
    values = reference.run(graph, {graph.inputs[0]: x})
    block, pads = move.constants
    every = np.concatenate([[[0, 0]], pads, [[0, 0]]])
    larger = tuple(int(side + sum(pad)) for side, pad in zip(shape, every, strict=True))
    steps = (
        Move(code="PAD", result=larger, constants=(int32(every),)),
        Move(code=move.code, result=move.result, constants=(block, int32(pads * 0))),
    )
    expected = x
    for step in steps:
        model = model_of(tflite_builder, step, expected.shape, INT8)
        expected = tflm(tflite_builder.write(model), [expected])
    np.testing.assert_array_equal(values[op.outputs[0]], expected)
    hold(kind_of(op).lower(op, graph), values, expected, interpreted=False)


@seeded(1000)
def test_repetitions(
    seed: int, tmp_path: Path, tflite_builder: ModuleType, counted: Callable[..., bool]
) -> None:
    """TFLM has no TILE; it moves values, so that they are numpy's."""
    if counted("TILE"):
        return
    chance, rng = Random(f"tile {seed}"), np.random.default_rng(seed)
    shape = shape_for("TILE", chance)
    times = [chance.choice((1, 1, 2, 3)) for _ in shape]
    result = tuple(size * count for size, count in zip(shape, times, strict=True))
    move = Move(code="TILE", result=result, constants=(int32(times),))
    quantized = TYPES["BROADCAST_TO"][seed % 5]
    path, dtype = tmp_path / "model.tflite", quantized.get("dtype", "int8")
    x = rng.integers(0, 2 if dtype == "bool" else 128, shape).astype(dtype)
    path.write_bytes(tflite_builder.write(model_of(tflite_builder, move, shape, quantized)))
    graph = load_tflite(path)
    (op,) = graph.operators
    values, expected = reference.run(graph, {graph.inputs[0]: x}), np.tile(x, times)
    np.testing.assert_array_equal(values[op.outputs[0]], expected)
    hold(kind_of(op).lower(op, graph), values, expected, interpreted=False)


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("code", ["GATHER", "GATHER_ND"])
@seeded(500)
def test_computed_indices(
    seed: int, code: str, outside: bool, tmp_path: Path, tflite_builder: ModuleType, tflm: Any
) -> None:
    """Those outside the input, of which TFLM makes nothing, are drawn in."""
    chance, rng = Random(f"{code} {seed}"), np.random.default_rng(seed)
    shape = shape_for(code, chance)
    move = DRAWS[code](chance, shape)
    assert move is not None
    (indices,) = move.constants
    model = model_of(tflite_builder, move, shape, INT8)
    tensors = [*model.tensors]
    tensors[1] = replace(tensors[1], data=None)
    model = replace(model, tensors=tuple(tensors), inputs=(0, 1))
    data, path = tflite_builder.write(model), tmp_path / "model.tflite"
    path.write_bytes(data)
    graph, x = load_tflite(path), rng.integers(-128, 128, shape).astype(np.int8)
    given = rng.integers(-(2**31), 2**31, indices.shape).astype(np.int32) if outside else indices
    values = reference.run(graph, dict(zip(graph.inputs, (x, given), strict=True)))
    (op,) = graph.operators
    result = values[op.outputs[0]]
    if not outside:
        np.testing.assert_array_equal(result, tflm(data, [x, given]))
    hold(kind_of(op).lower(op, graph), values, result, interpreted=False)
