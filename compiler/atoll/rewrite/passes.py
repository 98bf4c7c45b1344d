# SPDX-License-Identifier: Apache-2.0
"""The passes over a network, in their order, and what must hold after each of them.

What is run, verified and offered by ``--dump-after`` is this one list.
"""

from collections.abc import Callable, Mapping, Sequence

from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.rewrite.activations import fuse_activations
from atoll.rewrite.constants import fold_constants
from atoll.rewrite.dead_code import remove_dead_code
from atoll.rewrite.edit import Given
from atoll.rewrite.identities import remove_identities
from atoll.rewrite.pads import fuse_pads
from atoll.rewrite.repeated import share_operators
from atoll.rewrite.tables import join_tables
from atoll.rewrite.transposes import cancel_transposes

Observer = Callable[[str, object], None]
"""Called with the name of a pass and its result."""


@dataclass(frozen=True, slots=True)
class GraphPass:
    """One step; the outputs of the network stay the same bytes.

    Attributes:
        name: as ``--dump-after`` takes it.
        run: the step; it returns the same object where it finds nothing to do.
    """

    name: str
    run: Callable[[Graph, Given], Graph]


PASSES = (
    GraphPass("fold-constants", fold_constants),
    GraphPass("remove-identities", remove_identities),
    GraphPass("cancel-transposes", cancel_transposes),
    GraphPass("share-operators", share_operators),
    GraphPass("fuse-pads", fuse_pads),
    GraphPass("fuse-activations", fuse_activations),
    GraphPass("join-tables", join_tables),
    GraphPass("remove-dead-code", remove_dead_code),
)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A network made smaller.

    Attributes:
        graph: what is left.
        left_out: the pass that left an operator out, by the operator's name.
    """

    graph: Graph
    left_out: Mapping[str, str]


def rewrite(
    graph: Graph,
    given: Given,
    observe: Observer = lambda stage, result: None,
    passes: Sequence[GraphPass] = PASSES,
) -> Rewritten:
    """Run passes over a network whose operators passed their checks, and verify each result."""
    left_out: dict[str, str] = {}
    for each in passes:
        made = each.run(graph, given)
        if made is not graph:
            verify(graph, made)
            stay = {op.name for op in made.operators}
            left_out |= {op.name: each.name for op in graph.operators if op.name not in stay}
        graph = made
        observe(each.name, graph)
    return Rewritten(graph, left_out)


def verify(before: Graph, after: Graph) -> None:
    """Assert that a network has the interface of another one, and can be run in its order.

    Raises:
        AssertionError: a port changed, or a tensor is read before it is written or written twice.
        ModelError: an operator does not pass its kind's check.
    """
    for side in ("inputs", "outputs"):
        ports = [[graph.tensor(n) for n in getattr(graph, side)] for graph in (before, after)]
        assert ports[0] == ports[1], f"{side} changed: {ports}"
    assert before.states == after.states, f"states changed: {after.states}"
    known = {tensor.name for tensor in after.tensors if tensor.data is not None}
    known.update(after.filled)
    for op in after.operators:
        assert known.issuperset(op.reads), f"{op.name} reads what is not there: {op}"
        assert known.isdisjoint(op.outputs), f"{op.name} writes what is there: {op}"
        known.update(op.outputs)
        kind_of(op).check(op, after)
    assert known.issuperset(after.outputs), f"outputs are not written: {after.outputs}"
    assert len(after.by_name) == len(after.tensors), "two tensors have one name"
