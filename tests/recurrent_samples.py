# SPDX-License-Identifier: Apache-2.0
"""A network for tests that has each kind that keeps states."""

from types import ModuleType
from typing import Any

import numpy as np
from tests.operator_samples import SCALE, Tree

LSTM_OPTIONS = {"FusedActivationFunction": 4, "TimeMajor": False, "CellClip": 10.0}


def recurrent(builder: ModuleType) -> Any:
    """Make a network of an SVDF, an LSTM and a variable."""
    tree = Tree(builder)
    x = tree.add((2, 12), **SCALE)
    said = svdf(tree, x, units=6, rank=2, steps=3)
    deep = tree.apply("EXPAND_DIMS", (said, tree.numbers(1)), tree.add((2, 1, 6), **SCALE))
    lstm(tree, deep, units=5)
    variable(tree, x)
    return tree.model()


def variable(tree: Tree, x: int) -> int:
    """Add what hands out the value that it had in the run before."""
    return tree.apply("RELU", (before(tree, x),), tree.add(tree.tensors[x].shape, **SCALE))


def before(tree: Tree, x: int) -> int:
    """Add a variable that keeps a value for the next run; return what is read of it."""
    shape = tree.tensors[x].shape
    handle, old = tree.add((), dtype="resource"), tree.add(shape, **SCALE)
    options = {"Container": "", "SharedName": "before"}
    tree.apply_to_several("VAR_HANDLE", (), (handle,), "VarHandleOptions", **options)
    tree.apply("READ_VARIABLE", (handle,), old)
    tree.apply_to_several("ASSIGN_VARIABLE", (handle, x), ())
    return old


def svdf(tree: Tree, x: int, *, units: int, rank: int, steps: int) -> int:
    """Add an SVDF with a state of int8."""
    batches, inputs = tree.tensors[x].shape
    filters = units * rank
    operands = (
        x,
        tree.weights((filters, inputs)),
        tree.weights((filters, steps)),
        bias_of(tree, units, scales=(0.0005,), zero_points=(0,)),
        tree.add((batches, filters * steps), variable=True, **SCALE),
    )
    result = tree.add((batches, units), **SCALE)
    return tree.apply("SVDF", operands, result, "SVDFOptions", Rank=rank)


def lstm(tree: Tree, x: int, *, units: int, **options: float) -> int:
    """Add an LSTM on an input of three dimensions."""
    first, second, inputs = tree.tensors[x].shape
    chosen = LSTM_OPTIONS | options
    states = (second if chosen["TimeMajor"] else first, units)
    from_input = [tree.weights((units, inputs)) for _ in range(4)]
    from_hidden = [tree.weights((units, units)) for _ in range(4)]
    biases = [bias_of(tree, units) for _ in range(4)]
    cell = {"scales": (2.0**-11,), "zero_points": (0,)}
    kept = tree.add(states, variable=True, **SCALE)
    cells = tree.add(states, dtype="int16", variable=True, **cell)
    gates = (*from_input, *from_hidden, *without(3), *biases, *without(2))
    result = tree.add((first, second, units), **SCALE)
    operands = (x, *gates, kept, cells, *without(4))
    table = "UnidirectionalSequenceLSTMOptions"
    return tree.apply("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, result, table, **chosen)


def bias_of(tree: Tree, units: int, **quantization: Any) -> int:
    """Add an int32 bias."""
    data = np.random.default_rng(len(tree.tensors)).integers(-900, 900, units).astype(np.int32)
    return tree.add((units,), dtype="int32", data=data, **quantization)


def without(count: int) -> tuple[int, ...]:
    """Leave operands out."""
    return (-1,) * count
