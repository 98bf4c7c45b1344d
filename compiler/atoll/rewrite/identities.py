# SPDX-License-Identifier: Apache-2.0
"""Operators that change nothing are left out."""

from atoll.ir.graph import Graph, Operator
from atoll.rewrite.edit import Given, without

_SAME_WHERE_ALIKE = ("quantize", "reshape", "squeeze", "expand_dims", "concatenation")
"""Kinds whose result is their only operand, if both are alike."""


def remove_identities(graph: Graph, given: Given) -> Graph:
    """Read the operand in the place of a result that is the same.

    An output of the network stays what it is: bytes of its own, written by an operator. So does
    what is moved out of a state, which may change before it is read.
    """
    instead: dict[str, str] = {}
    for op in graph.operators:
        if given.may_go(op, graph) and _changes_nothing(op, graph):
            source, (result,) = op.inputs[0], op.outputs
            instead[result] = instead.get(source, source)
    return without(graph, instead)


def _changes_nothing(op: Operator, graph: Graph) -> bool:
    if op.kind not in _SAME_WHERE_ALIKE or len(op.inputs) != 1:
        return False
    source, (result,) = graph.tensor(op.inputs[0]), graph.results(op)
    if source.initial is not None:
        return False
    alike = (source.shape, source.dtype, source.quantization)
    return alike == (result.shape, result.dtype, result.quantization)
