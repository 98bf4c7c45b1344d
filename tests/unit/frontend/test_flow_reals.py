# SPDX-License-Identifier: Apache-2.0
"""Real numbers at the edges of bodies, as converters leave them, are integers again."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from tests.effort import seeded
from tests.flow_samples import ROWS
from tests.operator_samples import Tree

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference

REAL = {"dtype": "float32"}
INTEGER = {"dtype": "int32"}


def scale(rng: np.random.Generator) -> dict[str, Any]:
    drawn = float(np.float32(rng.uniform(0.005, 0.05)))
    return {"scales": (drawn,), "zero_points": (int(rng.integers(-128, 128)),)}


def body(builder: ModuleType, rng: np.random.Generator, inputs: int) -> tuple[Tree, int]:
    """Make an addition of two real numbers, of which each is int8 for a while."""
    tree = Tree(builder)
    values = [tree.add(ROWS, **REAL) for _ in range(inputs)]
    parts = [tree.apply("QUANTIZE", (value,), tree.add(ROWS, **scale(rng))) for value in values]
    added = tree.apply("ADD", (parts[0], parts[-1]), tree.add(ROWS, **scale(rng)), "AddOptions")
    return tree, tree.apply("DEQUANTIZE", (added,), tree.add(ROWS, **REAL))


def finished(
    tree: Tree, inputs: int, outputs: tuple[int, ...], others: tuple[Any, ...] = ()
) -> Any:
    return tree.builder.Model(
        tensors=tuple(tree.tensors),
        operators=tuple(tree.operators),
        inputs=tuple(range(inputs)),
        outputs=outputs,
        others=others,
    )


def begun(builder: ModuleType, rng: np.random.Generator) -> tuple[Tree, int, int]:
    """Make the real numbers of an int8 input, and constant ones."""
    tree = Tree(builder)
    x = tree.add(ROWS, **scale(rng))
    real = tree.apply("DEQUANTIZE", (x,), tree.add(ROWS, **REAL))
    return tree, real, tree.add(ROWS, data=rng.normal(0, 2, ROWS).astype(np.float32), **REAL)


def branch(builder: ModuleType, rng: np.random.Generator) -> Any:
    """Make an IF by what ARG_MAX finds; its result has its absolute value taken, or has not."""
    tree, real, held = begun(builder, rng)
    places = tree.apply("ARG_MAX", (real, tree.numbers(1)), tree.add((2,), **INTEGER))
    most = tree.apply(
        "EQUAL", (places, tree.numbers(*rng.integers(0, 6, 2))), tree.add((2,), dtype="bool")
    )
    condition = tree.add((1,), dtype="bool")
    tree.apply("REDUCE_ALL", (most, tree.numbers(0)), condition, "ReducerOptions", KeepDims=True)
    sides = [body(builder, rng, 2) for _ in range(2)]
    inner = tuple(finished(each, 2, (result,)) for each, result in sides)
    value = tree.add(ROWS, **REAL)
    options = {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2}
    tree.apply("IF", (condition, real, held), value, "IfOptions", **options)
    if rng.integers(2):
        value = tree.apply("ABS", (value,), tree.add(ROWS, **REAL))
    made = tree.apply("QUANTIZE", (value,), tree.add(ROWS, **scale(rng)))
    return finished(tree, 1, (made,), inner)


def loop(builder: ModuleType, rng: np.random.Generator) -> Any:
    """Make a WHILE of real numbers, some of which are constants at first."""
    tree, real, held = begun(builder, rng)
    counter = tree.add((), data=np.array(0, np.int32), **INTEGER)
    test = Tree(builder)
    for shape, kind in ((ROWS, REAL), (ROWS, REAL), ((), INTEGER)):
        test.add(shape, **kind)
    limit = test.add((), data=np.array(rng.integers(0, 5), np.int32), **INTEGER)
    go = test.apply("LESS", (2, limit), test.add((), dtype="bool"), "LessOptions")
    inner, result = body(builder, rng, 2)
    turned = Tree(builder, list(inner.tensors), list(inner.operators))
    at = turned.add((), **INTEGER)
    one = turned.add((), data=np.array(1, np.int32), **INTEGER)
    following = turned.apply("ADD", (at, one), turned.add((), **INTEGER), "AddOptions")
    function = builder.Model(
        tensors=tuple(turned.tensors),
        operators=tuple(turned.operators),
        inputs=(0, 1, at),
        outputs=(1, result, following),
    )
    results = (tree.add(ROWS, **REAL), tree.add(ROWS, **REAL), tree.add((), **INTEGER))
    options = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
    tree.apply_to_several("WHILE", (real, held, counter), results, "WhileOptions", **options)
    made = tuple(
        tree.apply("QUANTIZE", (value,), tree.add(ROWS, **scale(rng))) for value in results[:2]
    )
    return finished(tree, 1, made, (finished(test, 3, (go,)), function))


@seeded(400, 20)
def test_reals(seed: int, tmp_path: Path, tflite_builder: ModuleType, tflm: Any) -> None:
    rng = np.random.default_rng(seed)
    model = (branch, loop)[seed % 2](tflite_builder, rng)
    data, path = tflite_builder.write(model), tmp_path / "model.tflite"
    path.write_bytes(data)
    graph = load_tflite(path)
    assert {tensor.dtype for tensor in graph.tensors} <= {"int8", "int32", "bool"}
    for _ in range(4):
        x = rng.integers(-128, 128, ROWS, np.int8)
        values = reference.run(graph, {graph.inputs[0]: x})
        for number, name in enumerate(graph.outputs):
            np.testing.assert_array_equal(values[name], tflm(data, [x], number))
