# SPDX-License-Identifier: Apache-2.0
"""Networks for tests whose operators run subgraphs: IF, WHILE, and bodies in one another."""

from dataclasses import replace
from math import prod
from types import ModuleType
from typing import Any

import numpy as np
from tests.operator_samples import Tree

ROWS, IMAGE = (2, 6), (1, 3, 4, 5)
"""Shapes of activations."""

QUANTIZED: dict[tuple[int, ...], dict[str, Any]] = {
    ROWS: {"scales": (0.05,), "zero_points": (-3,)},
    IMAGE: {"scales": (0.1,), "zero_points": (7,)},
}
"""How all activations of a shape are quantised."""


class Flow:
    """A network of random operators, some of which run subgraphs that are drawn as well."""

    def __init__(self, builder: ModuleType, rng: np.random.Generator) -> None:
        self.builder, self.rng = builder, rng
        self.subgraphs: list[Any] = [None]
        self.conditions: list[int] = []

    def likely(self, probability: float) -> bool:
        """Throw a biased coin."""
        return bool(self.rng.random() < probability)

    def below(self, most: int) -> int:
        """Draw a number."""
        return int(self.rng.integers(most))

    def pick(self, tree: Tree, shape: tuple[int, ...]) -> int:
        """Choose an activation of a shape."""
        fitting = [n for n, t in enumerate(tree.tensors) if t.shape == shape and t.dtype == "int8"]
        known = [n for n in fitting if tree.tensors[n].name.startswith("t")]
        return known[-1] if self.likely(0.5) else known[self.below(len(known))]

    def constant(self, tree: Tree, shape: tuple[int, ...]) -> int:
        """Add an activation that is known."""
        data = self.rng.integers(-128, 128, shape).astype(np.int8)
        return tree.add(shape, data=data, **QUANTIZED[shape])

    def shape(self) -> tuple[int, ...]:
        """Draw a shape."""
        return ROWS if self.likely(0.7) else IMAGE

    def steps(self, tree: Tree, depth: int) -> None:
        """Add some operators, and some that run subgraphs."""
        for _ in range(1 + self.below(6)):
            shape = self.shape()
            x, result = self.pick(tree, shape), len(tree.tensors)
            kind = self.below(5)
            if kind == 0:
                other = self.constant(tree, shape) if self.likely(0.3) else self.pick(tree, shape)
                code, table = (("ADD", "AddOptions"), ("MUL", "MulOptions"))[self.below(2)]
                result = tree.add(shape, **QUANTIZED[shape])
                tree.apply(code, (x, other), result, table)
            elif kind == 1:
                result = tree.add(shape, **QUANTIZED[shape])
                tree.apply("RELU", (x,), result)
            elif kind == 2 and shape == ROWS:
                dense = (x, tree.weights((6, 6)), -1)
                result = tree.add(shape, **QUANTIZED[shape])
                tree.apply("FULLY_CONNECTED", dense, result, "FullyConnectedOptions")
            elif kind == 2:
                window = (x, tree.weights((5, 3, 3, 5)), -1)
                result = tree.add(shape, **QUANTIZED[shape])
                options = {"StrideH": 1, "StrideW": 1}
                tree.apply("CONV_2D", window, result, "Conv2DOptions", **options)
            elif kind == 3 and depth:
                self.branch(tree, depth - 1)
            elif kind == 4 and depth:
                self.loop(tree, depth - 1)

    def begun(self, inputs: list[Any]) -> Tree:
        """Begin a subgraph with activations, some without dimensions, and each shape at least."""
        tree, flat = Tree(self.builder), []
        for number, tensor in enumerate(inputs):
            tree.tensors.append(replace(tensor, data=None, name=f"t{number}"))
            if len(tensor.shape) > 1 and self.likely(0.1):
                flat.append((number, tensor.shape))
                tree.tensors[-1] = replace(tree.tensors[-1], shape=(prod(tensor.shape),))
        for number, shape in flat:
            tree.apply("RESHAPE", (number,), tree.add(shape, **QUANTIZED[shape]), "ReshapeOptions")
        for shape in QUANTIZED:
            if not any(each.shape == shape for each in tree.tensors):
                self.constant(tree, shape)
        return tree

    def ended(self, tree: Tree, inputs: int, outputs: list[int]) -> int:
        """End a subgraph and return its number."""
        self.subgraphs.append(
            self.builder.Model(
                tensors=tuple(tree.tensors),
                operators=tuple(tree.operators),
                inputs=tuple(range(inputs)),
                outputs=tuple(outputs),
            )
        )
        return len(self.subgraphs) - 1

    def branch(self, tree: Tree, depth: int) -> None:
        """Add an IF whose condition an input says, or a comparison, or a constant."""
        shapes = [self.shape() for _ in range(1 + self.below(3))]
        given = [self.pick(tree, shape) for shape in shapes]
        made = [self.shape() for _ in range(1 + self.below(2))]
        sides = []
        for _ in range(2):
            inner = self.begun([tree.tensors[n] for n in given])
            if self.likely(0.8):
                self.steps(inner, depth)
            sides.append(self.ended(inner, len(given), [self.pick(inner, shape) for shape in made]))
        condition = self.condition(tree)
        results = tuple(tree.add(shape, **QUANTIZED[shape]) for shape in made)
        options: dict[str, float] = dict(
            zip(("ThenSubgraphIndex", "ElseSubgraphIndex"), sides, strict=True)
        )
        tree.apply_to_several("IF", (condition, *given), results, "IfOptions", **options)

    def condition(self, tree: Tree) -> int:
        """Add what decides."""
        if self.likely(0.2):
            truth = np.array([self.likely(0.5)], np.bool_)
            return tree.add((1,), dtype="bool", data=truth)
        x = self.pick(tree, ROWS)
        (first, second), size = (tree.numbers(0, self.below(6)) for _ in range(2)), (1, 1)
        parts = [tree.add(size, **QUANTIZED[ROWS]) for _ in range(2)]
        for begin, part in zip((first, second), parts, strict=True):
            tree.apply("SLICE", (x, begin, tree.numbers(*size)), part, "SliceOptions")
        result = tree.add(size, dtype="bool")
        return tree.apply("LESS", (parts[0], parts[1]), result, "LessOptions")

    def loop(self, tree: Tree, depth: int) -> None:
        """Add a WHILE of 0 to 6 turns, whose values may change their places from turn to turn.

        A run may leave some of them earlier.
        """
        shapes = [self.shape() for _ in range(1 + self.below(3))]
        given = [self.pick(tree, shape) for shape in shapes]
        at, turns, step = self.below(len(given) + 1), self.below(7), 1 + self.below(3)
        begin, size = self.below(5), ((), (1,))[self.below(2)]

        def integer(within: Tree, value: int) -> int:
            return within.add(size, dtype="int32", data=np.full(size, value, np.int32))

        counter = integer(tree, begin)
        carried = [*given[:at], counter, *given[at:]]
        like = [tree.tensors[n] for n in carried]
        test = self.begun(like)
        limit = integer(test, begin + turns * step - self.below(step))
        go = test.apply("LESS", (at, limit), test.add(size, dtype="bool"), "LessOptions")
        if self.likely(0.3):
            operands = (go, self.condition(test))[:: 1 if self.likely(0.5) else -1]
            shape = max((test.tensors[n].shape for n in operands), key=len)
            go = test.apply("LOGICAL_AND", operands, test.add(shape, dtype="bool"))
        condition = self.ended(test, len(carried), [go])
        body = self.begun(like)
        if self.likely(0.9):
            self.steps(body, depth)
        following = body.add(size, dtype="int32")
        body.apply("ADD", (at, integer(body, step)), following, "AddOptions")
        kept = [self.pick(body, shape) for shape in shapes]
        number_of_body = self.ended(body, len(carried), [*kept[:at], following, *kept[at:]])
        results = [tree.add(shape, **QUANTIZED[shape]) for shape in shapes]
        results.insert(at, tree.add(size, dtype="int32"))
        options: dict[str, float] = {
            "CondSubgraphIndex": condition,
            "BodySubgraphIndex": number_of_body,
        }
        places = tuple(carried), tuple(results)
        tree.apply_to_several("WHILE", places[0], places[1], "WhileOptions", **options)

    def model(self) -> Any:
        """Draw a network with two inputs."""
        tree = Tree(self.builder)
        inputs = tuple(tree.add(shape, **QUANTIZED[shape]) for shape in QUANTIZED)
        while not any(op.code in ("IF", "WHILE") for op in tree.operators):
            self.steps(tree, 2)
        made = [n for op in tree.operators for n in op.outputs]
        outputs = [n for n in made if self.likely(0.6) and prod(tree.tensors[n].shape) > 1]
        return self.builder.Model(
            tensors=tuple(tree.tensors),
            operators=tuple(tree.operators),
            inputs=inputs,
            outputs=tuple(outputs or made[-1:]),
            others=tuple(self.subgraphs[1:]),
        )


def looped(builder: ModuleType, *, turns: int = 2, step: int = 1, early: bool = False) -> Any:
    """Make a network of a WHILE that counts, and whose two values change places.

    Args:
        early: it ends too where its first value is not less than the other one.
    """
    tree, (x, y) = _begun(builder, ROWS, ROWS)
    counter = tree.add((), dtype="int32", data=np.array(0, np.int32))
    like = tuple(tree.tensors[n] for n in (x, counter, y))
    test = _inside(builder, like)
    limit = test.add((), dtype="int32", data=np.array(turns * step, np.int32))
    go = test.apply("LESS", (1, limit), test.add((), dtype="bool"), "LessOptions")
    if early:
        test.apply("LOGICAL_AND", (go, _compared(test, 0, 2)), test.add((1, 1), dtype="bool"))
    body = _inside(builder, like)
    added = body.add((), dtype="int32", data=np.array(step, np.int32))
    dense = (2, body.weights((6, 6)), -1)
    made = body.add(ROWS, **QUANTIZED[ROWS])
    body.apply("FULLY_CONNECTED", dense, made, "FullyConnectedOptions")
    following = body.apply("ADD", (1, added), body.add((), dtype="int32"), "AddOptions")
    subgraphs = (_ended(test, 3, (len(test.tensors) - 1,)), _ended(body, 3, (made, following, 0)))
    results = tuple(tree.add(each.shape, **_like(each)) for each in like)
    options = {"CondSubgraphIndex": 1, "BodySubgraphIndex": 2}
    tree.apply_to_several("WHILE", (x, counter, y), results, "WhileOptions", **options)
    return replace(_ended(tree, 2, (results[0], results[2])), others=subgraphs)


def branched(builder: ModuleType, *, known: bool | None = None) -> Any:
    """Make a network of an IF whose branches return what they compute, are given and have.

    Args:
        known: the condition, None if a comparison of its inputs makes it.
    """
    tree, (x, y) = _begun(builder, ROWS, ROWS)
    if known is None:
        condition = _compared(tree, x, y)
    else:
        condition = tree.add((1,), dtype="bool", data=np.array([known]))
    like = (tree.tensors[x], tree.tensors[y])
    then, other = (_inside(builder, like) for _ in range(2))
    added = then.apply("ADD", (0, 1), then.add(ROWS, **QUANTIZED[ROWS]), "AddOptions")
    held = np.arange(-6, 6, dtype=np.int8).reshape(ROWS)
    constant = other.add(ROWS, data=held, **QUANTIZED[ROWS])
    subgraphs = (_ended(then, 2, (added, added, 0)), _ended(other, 2, (1, constant, 0)))
    results = tuple(tree.add(ROWS, **QUANTIZED[ROWS]) for _ in range(3))
    options = {"ThenSubgraphIndex": 1, "ElseSubgraphIndex": 2}
    tree.apply_to_several("IF", (condition, x, y), results, "IfOptions", **options)
    return replace(_ended(tree, 2, results), others=subgraphs)


def _compared(tree: Tree, one: int, other: int) -> int:
    """Tell whether an element of a value is less than that of another one."""
    parts = [tree.add((1, 1), **QUANTIZED[ROWS]) for _ in range(2)]
    for source, part in zip((one, other), parts, strict=True):
        tree.apply("SLICE", (source, tree.numbers(1, 2), tree.numbers(1, 1)), part)
    return tree.apply("LESS", (parts[0], parts[1]), tree.add((1, 1), dtype="bool"), "LessOptions")


def _begun(builder: ModuleType, *shapes: tuple[int, ...]) -> tuple[Tree, list[int]]:
    tree = Tree(builder)
    return tree, [tree.add(shape, **QUANTIZED[shape]) for shape in shapes]


def _inside(builder: ModuleType, inputs: tuple[Any, ...]) -> Tree:
    tree = Tree(builder)
    for tensor in inputs:
        tree.add(tensor.shape, **_like(tensor))
    return tree


def _like(tensor: Any) -> dict[str, Any]:
    return {field: getattr(tensor, field) for field in ("dtype", "scales", "zero_points")}


def _ended(tree: Tree, inputs: int, outputs: tuple[int, ...]) -> Any:
    return tree.builder.Model(
        tensors=tuple(tree.tensors),
        operators=tuple(tree.operators),
        inputs=tuple(range(inputs)),
        outputs=outputs,
    )
