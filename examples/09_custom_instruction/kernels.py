# SPDX-License-Identifier: Apache-2.0
"""Kernels of our own: a fully connected layer by the instruction dot4."""

from collections.abc import Mapping

from atoll.extend import (
    ChannelSums,
    Execute,
    Graph,
    Instruction,
    Lowered,
    Operator,
    Word,
    add,
    multiply,
)


def lower(op: Operator, graph: Graph, instructions: Mapping[str, Instruction]) -> Lowered | None:
    """Return a kernel, or None where Atoll's own shall do."""
    if op.kind != "fully_connected":
        return None
    outputs, inputs = graph.tensor(op.inputs[1]).shape
    if inputs % 4:
        return None  # a row is no whole words
    sums = ChannelSums(op, graph, folds=True)
    builder, rows = sums.builder, graph.results(op)[0].elements // outputs
    with (
        builder.loop("row", 0, rows) as row,
        builder.loop("channel", 0, outputs) as channel,
        sums.block(channel, 1, [add(multiply(row, outputs), channel)]) as ((total,),),
        builder.loop("i", 0, inputs // 4) as i,
    ):
        x = Word(sums.x.at(add(multiply(row, inputs), multiply(i, 4))))
        weights = Word(sums.weights.at(add(multiply(channel, inputs), multiply(i, 4))))
        total[0] = add(total[0], Execute(instructions["dot4"], x, weights))
    return builder.lowered()
