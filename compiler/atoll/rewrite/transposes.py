# SPDX-License-Identifier: Apache-2.0
"""Two transpositions, of which the second undoes the first, are left out."""

from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import kind_of
from atoll.rewrite.edit import Given, reads, with_parts

_KIND = "transpose"


def cancel_transposes(graph: Graph, given: Given) -> Graph:
    """Leave out pairs, and let what works element by element between them take their operand.

    What stands between may be any number of operators of one operand whose result one operator
    reads. The first transposition stays where others read it too.
    """
    while changed := _without_a_pair(graph, given):
        graph = changed
    return graph


def _without_a_pair(graph: Graph, given: Given) -> Graph | None:
    writers, count = {name: op for op in graph.operators for name in op.outputs}, reads(graph)
    for last in graph.operators:
        if last.kind != _KIND:
            continue
        between: list[Operator] = []
        op = writers.get(last.inputs[0])
        while op is not None and _is_elementwise(op, graph) and count[op.outputs[0]] == 1:
            between.insert(0, op)
            op = writers.get(op.inputs[0])
        if op is None or op.kind != _KIND or not _undoes(last, op, graph):
            continue
        if not _may_go(between, last, graph, given) or not _may_read(op, graph):
            continue
        made = _cancel(graph, op, between, last)
        if all(given.runs(each, graph) <= given.runs(_of(made, each), made) for each in between):
            return made
    return None


def _of(graph: Graph, op: Operator) -> Operator:
    return next(each for each in graph.operators if each.name == op.name)


def _may_go(between: list[Operator], last: Operator, graph: Graph, given: Given) -> bool:
    """Tell whether results in another layout are named by nothing; an output needs an operator."""
    if not between:
        return given.may_go(last, graph)
    kept = all(given.may_go(each, graph) for each in between)
    return kept and given.named.isdisjoint((last.name, *last.outputs))


def _is_elementwise(op: Operator, graph: Graph) -> bool:
    """Tell whether an operator makes each element of its result of one element alone."""
    return op.body is None and kind_of(op).any_layout and len(op.inputs) == 1


def _undoes(last: Operator, first: Operator, graph: Graph) -> bool:
    orders = [graph.tensor(op.inputs[1]).array.reshape(-1).tolist() for op in (first, last)]
    return [orders[0][at] for at in orders[1]] == sorted(orders[0])


def _may_read(first: Operator, graph: Graph) -> bool:
    """A state may change before what reads it in the place of `first` does."""
    return graph.tensor(graph.storage(first.inputs[0])).initial is None


def _cancel(graph: Graph, first: Operator, between: list[Operator], last: Operator) -> Graph:
    """Return the graph with `between` in the layout before `first`, without `last`."""
    source, (result,) = graph.tensor(first.inputs[0]), last.outputs
    changed: dict[str, Operator] = {}
    tensors: dict[str, Tensor] = {}
    read = source.name
    for op in between:
        made = result if op is between[-1] else op.outputs[0]
        tensors[made] = replace(graph.tensor(made), shape=source.shape)
        changed[op.name] = replace(op, inputs=(read,), outputs=(made,))
        read = made
    instead = {} if between else {result: read}
    operators = (changed.get(op.name, op) for op in graph.operators if op is not last)
    return with_parts(graph, (op.rename_operands(instead) for op in operators), tensors)
