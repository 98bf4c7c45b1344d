# SPDX-License-Identifier: Apache-2.0
"""Kinds that compute the last dimension's rows one by one, each from what the whole row has."""

from collections.abc import Mapping

from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, maximum
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Type
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Distances, OperatorKind


class ByRow(OperatorKind):
    """What the kinds share."""

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return rows and their length; there are no multiply-accumulates to speak of."""
        x = require_input(op, graph, 0)
        return {"macs": 0, "rows": x.elements // x.shape[-1], "depth": x.shape[-1]}

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: an element is read before it is written."""
        return (0,)


def greatest_of(builder: KernelBuilder, x: Buffer, base: Expr, depth: int, least: int) -> Buffer:
    """Find the greatest of `depth` elements from `base` on; none is less than `least`."""
    greatest = builder.allocate("greatest", Type.I32, 1)
    greatest[0] = least
    with builder.loop("i", 0, depth) as i:
        greatest[0] = maximum(greatest[0], x.wide(add(base, i)))
    return greatest
