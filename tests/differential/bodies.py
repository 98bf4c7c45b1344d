# SPDX-License-Identifier: Apache-2.0
"""IF and WHILE, whose bodies are small networks that are drawn as well."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from tests.differential import elements, elementwise, moves, picks, rows, windows
from tests.differential.network import MOVED, MULTIPLIED, Network
from tests.tflite_builder import Operator, Tensor

STEPS: tuple[Callable[[Network], bool], ...] = (
    elementwise.binary,
    elementwise.concatenation,
    elementwise.quantize,
    elementwise.reshape,
    elements.cast,
    elements.comparison,
    elements.pair,
    elements.selection,
    elements.unary,
    moves.slice,
    moves.strided_slice,
    moves.transpose,
    picks.picked,
    rows.reduction,
    windows.convolution,
    windows.dense,
    windows.pooling,
)
"""What a body has: no states and no buffers of others."""

MOST_DEPTH = 2
LESS_RANK = 4
ALIKE = {"int8": "MAXIMUM", "int16": "MINIMUM", "int32": "MAXIMUM", "bool": "LOGICAL_AND"}
"""What has two operands and a result of one type and quantisation."""


def branch(net: Network) -> bool:
    """Add an IF; its condition is computed, or now and then a constant."""
    given = _given(net)
    truth = _truth(net)
    if not given or truth is None or net.depth >= MOST_DEPTH:
        return False
    sides = [_body(net, given) for _ in range(2)]
    pairs = [
        (first, second)
        for first in sides[0].values
        for second in sides[1].values
        if _alike(sides[0].tensors[first], sides[1].tensors[second])
    ]
    chosen = net.chance.choices(pairs, k=net.chance.choice((1, 1, 2, 3)))
    numbers = [net.function(side, [pair[at] for pair in chosen]) for at, side in enumerate(sides)]
    results = tuple(_result(net, sides[0].tensors[first]) for first, _ in chosen)
    names = ("ThenSubgraphIndex", "ElseSubgraphIndex")
    _apply(net, "IF", (truth, *given), results, dict(zip(names, numbers, strict=True)))
    return True


def loop(net: Network) -> bool:
    """Add a WHILE of 0 to 4 turns, some left out by a run; its values may change their places."""
    given = _given(net)
    if not given or net.depth >= MOST_DEPTH:
        return False
    at, turns, step = net.chance.randint(0, len(given)), net.chance.randint(0, 4), 3
    first = net.chance.randint(-5, 5)
    carried = (*given[:at], net.numbers(first), *given[at:])
    test, body = (_begun(net, carried) for _ in range(2))
    go = test.apply("LESS", (at, test.numbers(first + turns * step)), (), {"dtype": "bool"})
    truth = _truth(test) if net.likely(0.4) else None
    if truth is not None and len(test.shape(truth)) <= LESS_RANK:
        operands = (go, truth) if net.likely(0.5) else (truth, go)
        go = test.apply("LOGICAL_AND", operands, test.shape(truth), {"dtype": "bool"})
    body.values.remove(at)
    _grown(body)
    next_count = body.apply("ADD", (at, body.numbers(step)), (), {"dtype": "int32"}, "AddOptions")
    kept = []
    for number in given:
        alike = [
            n
            for n in body.values
            if n != next_count and _alike(body.tensors[n], net.tensors[number])
        ]
        kept.append(net.chance.choice(alike))
    results = tuple(_result(net, net.tensors[number]) for number in carried)
    numbers = (net.function(test, [go]), net.function(body, [*kept[:at], next_count, *kept[at:]]))
    names = ("CondSubgraphIndex", "BodySubgraphIndex")
    _apply(net, "WHILE", carried, results, dict(zip(names, numbers, strict=True)))
    return True


def _given(net: Network) -> list[int]:
    """Choose what a body is given."""
    picked = (net.pick(types=MOVED) for _ in range(net.chance.choice((1, 2, 2, 3))))
    return [number for number in picked if number is not None]


def _truth(net: Network) -> int | None:
    """Add a condition: a known truth value, one value less than another one, or a constant."""
    known = [number for number in net.known("bool") if prod(net.shape(number)) == 1]
    if known and net.likely(0.5):
        return net.chance.choice(known)
    x = net.pick()
    fitting = x is not None and 1 <= len(net.shape(x)) <= LESS_RANK and net.scale(x) < 1
    if x is None or not fitting or net.likely(0.1):
        return net.add(Tensor(shape=(1,), dtype="bool", data=np.array([net.likely(0.5)])))
    one = (1,) * len(net.shape(x))
    parts = []
    for _ in range(2):
        begin = [net.chance.randrange(extent) for extent in net.shape(x)]
        operands = (x, net.numbers(begin), net.numbers(one))
        parts.append(net.apply("SLICE", operands, one, net.like(x)))
    return net.apply("LESS", (parts[0], parts[1]), one, {"dtype": "bool"})


def _begun(net: Network, given: Sequence[int]) -> Network:
    """Begin a body with inputs like some values."""
    body = Network(net.chance, net.extreme, subgraphs=net.subgraphs, depth=net.depth + 1)
    body.palette = net.palette
    for number in given:
        body.input(net.shape(number), net.like(number))
    return body


def _body(net: Network, given: Sequence[int]) -> Network:
    body = _begun(net, given)
    _grown(body)
    return body


def _grown(body: Network) -> None:
    """Add some operators, and of some values one that is like it."""
    for _ in range(body.chance.choice((0, 1, 1, 2, 3))):
        steps = (branch, loop) if body.likely(0.1) else STEPS
        body.chance.choice(steps)(body)
    for number in [*body.inputs]:
        if number in body.values and body.likely(0.5):
            other = _constant_like(body, number)
            body.apply(
                ALIKE[body.dtype(number)], (number, other), body.shape(number), body.like(number)
            )


def _constant_like(net: Network, number: int) -> int:
    like = net.like(number)
    return net.add(
        Tensor(
            shape=net.shape(number),
            data=net.random_values(net.shape(number), net.dtype(number)),
            **like,
        )
    )


def _alike(first: Tensor, second: Tensor) -> bool:
    return _kind(first) == _kind(second)


def _kind(tensor: Tensor) -> tuple[object, ...]:
    scaled = (tensor.scales, tensor.zero_points) if tensor.dtype in MULTIPLIED else ()
    return (tensor.shape, tensor.dtype, *scaled)


def _result(net: Network, tensor: Tensor) -> int:
    return net.add(replace(tensor, data=None, shares=None))


def _apply(
    net: Network,
    code: str,
    inputs: tuple[int, ...],
    results: tuple[int, ...],
    options: dict[str, int],
) -> None:
    table = f"{code.capitalize()}Options"
    net.operators.append(
        Operator(code=code, inputs=inputs, outputs=results, table=table, options={**options})
    )
    net.values += results
    net.results += results
