# SPDX-License-Identifier: Apache-2.0
"""Loops over channels for cores with vectors: a channel in each lane."""

from collections.abc import Iterator

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr
from atoll.ops.loops.register_tiles import Block
from atoll.ops.quantization import channel_scaling
from atoll.ops.rounding import rounds_once


def lanes_of(op: Operator, graph: Graph, registers: Block, channels: int) -> int:
    """Return how many of `channels` are computed at once; 1 if they do not fill a vector.

    Strips have no elements of 64 bits: sums that are scaled up and rounded once are made one by
    one.
    """
    if not registers.strips:
        return registers.lanes if channels >= registers.lanes else 1
    _, _, shifts = channel_scaling(op, graph)
    if rounds_once(op) and (shifts >= 0).any():
        return 1
    return min(registers.lanes, channels)


def lane_loops(
    builder: FunctionBuilder, registers: Block, channels: int, lanes: int
) -> Iterator[Expr]:
    """Loop over all channels, `lanes` at once: yield what each loop's body makes.

    What is left over is made in vectors where these are of any length, else one by one.
    """
    whole = channels - channels % lanes if lanes > 1 else 0
    if whole:
        with (
            builder.loop("block", 0, whole // lanes) as block,
            builder.loop("lane", 0, lanes, vectorized=True) as lane,
        ):
            yield builder.let("channel", add(multiply(block, lanes), lane))
    if whole < channels:
        vectorized = registers.strips and lanes > 1
        name = "lane" if vectorized else "channel"
        with builder.loop(name, whole, channels, vectorized=vectorized) as channel:
            yield channel
