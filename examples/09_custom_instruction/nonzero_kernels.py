# SPDX-License-Identifier: Apache-2.0
"""Kernels of our own with a buffer whose size only the run knows: products of zero are left out."""

from collections.abc import Mapping

from atoll.extend import (
    ChannelSums,
    Expr,
    Graph,
    Instruction,
    Lowered,
    Operation,
    Operator,
    Type,
    add,
    binary,
    multiply,
    select,
)


def lower(op: Operator, graph: Graph, instructions: Mapping[str, Instruction]) -> Lowered | None:
    """Return a kernel that keeps the places of what is not zero, or None for Atoll's own.

    After a ReLU most inputs of a fully connected layer are zero. The kernel counts those that are
    not, takes a block of the heap for their places, and multiplies only them.
    """
    if op.kind != "fully_connected":
        return None
    outputs, inputs = graph.tensor(op.inputs[1]).shape
    sums = ChannelSums(op, graph, folds=False)
    builder, rows = sums.builder, graph.results(op)[0].elements // outputs
    count, last = builder.allocate("count", Type.I32, 1), builder.allocate("last", Type.I32, 1)
    with builder.loop("row", 0, rows) as row:
        count[0] = 0
        with builder.loop("i", 0, inputs) as i:
            value = sums.value(sums.x, add(multiply(row, inputs), i))
            count[0] = add(count[0], nonzero(value))
        places = builder.reserve("places", Type.I32, add(count[0], 1))  # a block is never empty
        last[0] = 0
        with builder.loop("i", 0, inputs) as i:
            value = sums.value(sums.x, add(multiply(row, inputs), i))
            places[last[0]] = i  # overwritten unless the value counts
            last[0] = add(last[0], nonzero(value))
        with (
            builder.loop("channel", 0, outputs) as channel,
            sums.block(channel, 1, [add(multiply(row, outputs), channel)]) as ((total,),),
            builder.loop("each", 0, count[0]) as each,
        ):
            place = builder.let("place", places[each])
            value = sums.value(sums.x, add(multiply(row, inputs), place))
            sums.add_product(total, value, sums.weights.wide(add(multiply(channel, inputs), place)))
    return builder.lowered()


def nonzero(value: Expr) -> Expr:
    """Return 1 if a value counts, else 0."""
    return select(binary(Operation.EQ, value, 0), 0, 1)
