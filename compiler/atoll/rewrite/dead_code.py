# SPDX-License-Identifier: Apache-2.0
"""Operators whose results nobody reads are left out."""

from atoll.ir.graph import Graph, Operator
from atoll.rewrite.edit import Given, with_parts


def remove_dead_code(graph: Graph, given: Given) -> Graph:
    """Keep what outputs are made of, and what must stay."""
    wanted = {*graph.kept}
    kept: list[Operator] = []
    for op in reversed(graph.operators):
        if not given.may_go(op, graph) or not wanted.isdisjoint(op.outputs):
            kept.append(op)
            wanted.update(op.reads)
    return graph if len(kept) == len(graph.operators) else with_parts(graph, reversed(kept))
