# SPDX-License-Identifier: Apache-2.0
"""Random networks of operators that Vela takes, with several inputs and outputs, shared tensors.

Some operators are for the cores alone, so that the NPU gets several parts of a network.
"""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
from tests.operator_samples import Tree

SAME = {"scales": (0.05,), "zero_points": (-3,)}
"""Of operators that hand values on."""


class Network:
    """A network that grows; `maps` are tensors of four axes that an operator may read."""

    def __init__(self, builder: ModuleType, chance: Random) -> None:
        self.tree, self.chance = Tree(builder), chance
        self.maps: list[int] = []

    def new(self, *shape: int, same: bool = True) -> int:
        """Add a tensor, with the grid that most have."""
        scale = SAME if same else {"scales": (0.08,), "zero_points": (self.chance.randint(-9, 9),)}
        return self.tree.add(shape, **scale)

    def shape(self, tensor: int) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        shape: tuple[int, ...] = self.tree.tensors[tensor].shape
        return shape

    def grow(self) -> None:
        """Add an operator, and its results to what may be read."""
        one = self.chance.choice(self.maps[-4:])
        self.chance.choice(OPERATORS)(self, one)

    def apply(
        self, code: str, inputs: tuple[int, ...], result: int, *table: str, **options: Any
    ) -> None:
        """Add an operator whose result may be read."""
        self.tree.apply(code, inputs, result, *table, **options)
        self.maps.append(result)


def _unary(net: Network, x: int) -> None:
    code, table = net.chance.choice(
        (("RELU", ""), ("RELU6", ""), ("HARD_SWISH", ""), ("LEAKY_RELU", "LeakyReluOptions"))
    )
    options = {"Alpha": 0.25} if table else {}
    result = net.new(*net.shape(x), same=code in ("RELU", "RELU6"))
    if code == "RELU6":
        like = net.tree.tensors[x]
        grid = {"scales": like.scales, "zero_points": like.zero_points}
        net.tree.tensors[result] = replace(net.tree.tensors[result], **grid)
    net.apply(code, (x,), result, table, **options)


def _curve(net: Network, x: int) -> None:
    code, scale, zero = net.chance.choice((("LOGISTIC", 2.0**-8, -128), ("TANH", 2.0**-7, 0)))
    result = net.tree.add(net.shape(x), scales=(scale,), zero_points=(zero,))
    net.apply(code, (x,), result)


def _binary(net: Network, x: int) -> None:
    code = net.chance.choice(("ADD", "SUB", "MUL", "MINIMUM", "MAXIMUM"))
    like = [y for y in net.maps if net.shape(y) == net.shape(x)]
    y = net.chance.choice(like)
    if code in ("MINIMUM", "MAXIMUM"):
        if {net.tree.tensors[t].scales for t in (x, y)} != {SAME["scales"]}:
            return
        if {net.tree.tensors[t].zero_points for t in (x, y)} != {SAME["zero_points"]}:
            return
        net.apply(code, (x, y), net.new(*net.shape(x)), "MaximumMinimumOptions")
    else:
        net.apply(code, (x, y), net.new(*net.shape(x), same=False), f"{code.capitalize()}Options")


def _spread(net: Network, x: int) -> None:
    """A sum with one row of a tensor."""
    n, _, w, c = net.shape(x)
    row = net.new(n, 1, w, c)
    begin, size = net.tree.numbers(0, 0, 0, 0), net.tree.numbers(n, 1, w, c)
    like = net.tree.tensors[x]
    net.tree.tensors[row] = replace(
        net.tree.tensors[row], scales=like.scales, zero_points=like.zero_points
    )
    net.apply("SLICE", (x, begin, size), row)
    operands = (x, row) if net.chance.random() < 0.5 else (row, x)
    net.apply("ADD", operands, net.new(*net.shape(x), same=False), "AddOptions")


def _convolution(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    out, size = net.chance.choice((4, 8, 16, 24)), net.chance.choice((1, 3))
    step = net.chance.choice((1, 1, 2))
    shape = (n, -(-h // step), -(-w // step), out)
    bias = net.tree.add(
        (out,),
        dtype="int32",
        scales=(0.0005,),
        zero_points=(0,),
        data=np.arange(out, dtype=np.int32),
    )
    scale = net.tree.tensors[x].scales[0]
    net.tree.tensors[bias] = replace(
        net.tree.tensors[bias], scales=(float(np.float32(scale) * np.float32(0.01)),)
    )
    options = {"StrideH": step, "StrideW": step, "DilationHFactor": 1, "DilationWFactor": 1}
    filters = net.tree.weights((out, size, size, c))
    net.apply(
        "CONV_2D", (x, filters, bias), net.new(*shape, same=False), "Conv2DOptions", **options
    )


def _pool(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    if min(h, w) < 2:
        return
    code = net.chance.choice(("MAX_POOL_2D", "AVERAGE_POOL_2D"))
    like = net.tree.tensors[x]
    result = net.tree.add((n, h // 2, w // 2, c), scales=like.scales, zero_points=like.zero_points)
    options = {"FilterHeight": 2, "FilterWidth": 2, "StrideH": 2, "StrideW": 2, "Padding": 1}
    net.apply(code, (x,), result, "Pool2DOptions", **options)


def _concatenation(net: Network, x: int) -> None:
    like = [
        y
        for y in net.maps
        if net.shape(y)[:3] == net.shape(x)[:3]
        and net.tree.tensors[y].scales == net.tree.tensors[x].scales
        and net.tree.tensors[y].zero_points == net.tree.tensors[x].zero_points
    ]
    y, given = net.chance.choice(like), net.tree.tensors[x]
    depth = net.shape(x)[3] + net.shape(y)[3]
    if depth > 64:
        return
    shape = (*net.shape(x)[:3], depth)
    result = net.tree.add(shape, scales=given.scales, zero_points=given.zero_points)
    net.apply("CONCATENATION", (x, y), result, "ConcatenationOptions", Axis=3)


def _split(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    if c % 2 or c < 4:
        return
    given = net.tree.tensors[x]
    halves = tuple(
        net.tree.add((n, h, w, c // 2), scales=given.scales, zero_points=given.zero_points)
        for _ in range(2)
    )
    net.tree.apply_to_several(
        "SPLIT", (net.tree.numbers(3, shape=()), x), halves, "SplitOptions", NumSplits=2
    )
    net.maps += halves


def _reshape(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    given = net.tree.tensors[x]
    shape = net.chance.choice(((n, w, h, c), (n, 1, h * w, c)))
    result = net.tree.add(shape, scales=given.scales, zero_points=given.zero_points)
    net.apply("RESHAPE", (x, net.tree.numbers(*shape)), result, "ReshapeOptions", NewShape=shape)


def _transpose(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    given = net.tree.tensors[x]
    result = net.tree.add((n, w, h, c), scales=given.scales, zero_points=given.zero_points)
    net.apply("TRANSPOSE", (x, net.tree.numbers(0, 2, 1, 3)), result, "TransposeOptions")


def _mean(net: Network, x: int) -> None:
    n, _, _, c = net.shape(x)
    result = net.new(n, 1, 1, c, same=False)
    net.apply("MEAN", (x, net.tree.numbers(1, 2)), result, "ReducerOptions", KeepDims=True)


def _matmul(net: Network, x: int) -> None:
    n, h, w, c = net.shape(x)
    like = [y for y in net.maps if net.shape(y) == (n, h, w, c)]
    options = {"AdjX": False, "AdjY": True}
    operands = (x, net.chance.choice(like))
    if w > 16:
        return
    net.apply(
        "BATCH_MATMUL", operands, net.new(n, h, w, w, same=False), "BatchMatMulOptions", **options
    )


def _on_a_core(net: Network, x: int) -> None:
    shape, given = net.shape(x), net.tree.tensors[x]
    result = net.tree.add(shape, scales=given.scales, zero_points=given.zero_points)
    net.apply("BROADCAST_TO", (x, net.tree.numbers(*shape)), result)


OPERATORS: tuple[Callable[[Network, int], None], ...] = (
    *(_unary, _curve, _binary, _binary, _binary, _spread, _convolution, _convolution, _pool),
    *(_concatenation, _split, _reshape, _transpose, _mean, _matmul, _on_a_core, _on_a_core),
)


def npu_network(builder: ModuleType, seed: int) -> Any:
    """Make a network of 1 to 3 inputs, some operators, and 1 or more outputs."""
    chance = Random(seed)
    net = Network(builder, chance)
    shape = (1, chance.choice((1, 4, 6, 8)), chance.choice((3, 4, 8)), chance.choice((3, 8, 16)))
    inputs = tuple(net.new(*shape) for _ in range(chance.randint(1, 3)))
    net.maps += inputs
    for _ in range(chance.randint(2, 9)):
        net.grow()
    model = net.tree.model()
    read = {number for op in model.operators for number in op.inputs}
    used = tuple(number for number in inputs if number in read)
    inner = [t for t in net.maps if t in read and t not in inputs]
    more = tuple(chance.sample(inner, min(len(inner), chance.choice((0, 0, 1)))))
    return replace(model, inputs=used or inputs[:1], outputs=(*model.outputs, *more))
