# SPDX-License-Identifier: Apache-2.0
"""Spread operators over cores of one kind: where it is faster, each core makes a part of one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.cost.basis import basis_of, joint_basis, with_basis
from atoll.cost.core_costs import CoreCost
from atoll.ir.graph import Graph, Operator
from atoll.place.decision import Decision, Why
from atoll.reach.candidates import CONSTANT_ROLES, homes_of, needs_of, pools_for
from atoll.resolve.soc import Access, Cpu, ResolvedSoc


def spread_operators(
    graph: Graph, soc: ResolvedSoc, decisions: Sequence[Decision]
) -> tuple[Graph, tuple[Decision, ...]]:
    """Give helpers to operators on cores that nobody asked for, where that is faster, and say so.

    It needs a pool for each of its tensors that all its cores reach: no byte is copied for it.
    """
    spreader = _Spreader(graph, soc)
    by_name = {decision.operator: decision for decision in decisions}
    operators = []
    for op in graph.operators:
        decision = by_name.get(op.name)
        if decision is not None and not decision.asked and not op.target:
            op = spreader.spread(op)
            by_name[op.name] = spreader.describe(decision, op)
        operators.append(op)
    described = tuple(by_name[decision.operator] for decision in decisions)
    return graph.with_operators(operators), described


class _Spreader:
    """Follows what devices need of each tensor as operators get helpers."""

    def __init__(self, graph: Graph, soc: ResolvedSoc) -> None:
        self._graph = graph
        self._soc = soc
        self._needs = {name: dict(needs) for name, needs in needs_of(graph, soc).items()}

    def spread(self, op: Operator) -> Operator:
        """Return the operator with its helpers, if it has any."""
        core = self._soc.device(op.device)
        if not isinstance(core, Cpu):
            return op
        helpers = CoreCost(core, self._soc).helpers(op, self._graph)
        needs = dict(self._with(op, helpers))
        tensors = ((self._graph.tensor(name), need) for name, need in needs.items())
        tables = dict.fromkeys((op.device, *helpers), Access.READ)
        reached = all(homes_of(self._soc, need, tensor) for tensor, need in tensors)
        if not (helpers and reached and pools_for(self._soc, tables, CONSTANT_ROLES, 1)):
            return op
        self._needs |= needs
        return replace(op, helpers=helpers)

    def describe(self, decision: Decision, op: Operator) -> Decision:
        """Say who helps, and why."""
        if not op.helpers:
            return decision

        def change(why: Why) -> Why:
            core = self._soc.device(op.device)
            assert isinstance(core, Cpu)
            cost = CoreCost(core, self._soc)
            cycles, alone = cost.cycles(op, self._graph), cost.alone(op, self._graph)
            basis = basis_of(self._soc, op.devices)
            told = f"with {', '.join(op.helpers)} about {cycles:,} cycles, alone {alone:,}"
            return replace(
                why,
                reason=f"{why.reason}; {with_basis(told, basis)}",
                rejected=tuple(each for each in why.rejected if each[0] not in op.helpers),
                basis=joint_basis((why.basis, basis)),
            )

        return decision.with_reasons(change)

    def _with(
        self, op: Operator, helpers: Sequence[str]
    ) -> Iterator[tuple[str, dict[str, Access]]]:
        """Yield what devices need of each tensor of `op` if it had these helpers."""
        for name in filter(None, op.inputs):
            storage = self._graph.storage(name)
            yield storage, dict.fromkeys(helpers, Access.READ) | self._needs[storage]
        for name in op.outputs:
            yield name, self._needs[name] | dict.fromkeys(helpers, Access.WRITE)
