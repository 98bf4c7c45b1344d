# SPDX-License-Identifier: Apache-2.0
"""Operators that are tables of int8 become one table: QUANTIZE before a LOGISTIC, for one."""

from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import OPERATORS, kind_of
from atoll.rewrite.edit import Given, reads, with_parts

_LOOKUP = "lookup"


def join_tables(graph: Graph, given: Given) -> Graph:
    """Look values up once instead of twice, where nothing else reads what is between.

    The name of the second operator stays, and so does what an accelerator would lose, or takes in
    a pattern.
    """
    count, made = reads(graph), dict[str, Operator]()
    gone = set[str]()
    for op in graph.operators:
        first = made.get(op.inputs[0]) if len(op.inputs) == 1 else None
        if first and count[op.inputs[0]] == 1 and given.may_go(first, graph):
            whole = _whole(first, op, graph, given)
            if whole:
                gone.add(first.name)
                op = whole
        made |= dict.fromkeys(op.outputs, op)
    if not gone:
        return graph
    left = (made[op.outputs[0]] if op.outputs else op for op in graph.operators)
    return with_parts(graph, (op for op in left if op.name not in gone))


def _whole(first: Operator, second: Operator, graph: Graph, given: Given) -> Operator | None:
    """Return the table of two operators as one, None if they are none or stay."""
    kinds = {first.kind, second.kind}
    if not kinds <= OPERATORS.keys() or not kinds.isdisjoint(given.patterned):
        return None
    if second.name in given.named or first.body or second.body:
        return None
    tables = [kind_of(op).table(op, graph) for op in (first, second)]
    if tables[0] is None or tables[1] is None:
        return None
    table = tables[1][tables[0].astype(int) & 255]
    options = {"table": tuple(int(each) for each in table)}
    whole = replace(second, kind=_LOOKUP, inputs=first.inputs, attributes=options)
    loses = given.runs(first, graph) & given.runs(second, graph) - given.runs(whole, graph)
    return None if loses else whole
