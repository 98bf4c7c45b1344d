# SPDX-License-Identifier: Apache-2.0
"""Operators that take many times as long as elsewhere, since somebody asked for that or pinned."""

from collections.abc import Iterator, Sequence

from atoll.cost.basis import basis_of, with_basis
from atoll.cost.operators import compute_cycles
from atoll.ir.graph import Graph
from atoll.ops.registry import COPY, kind_of
from atoll.place.capabilities import obstacles
from atoll.place.decision import Decision
from atoll.resolve.soc import Device, ResolvedSoc

MANY_TIMES = 10
"""How many times as long an operator takes where somebody is told about it."""


def slower_than_elsewhere(
    graph: Graph, decisions: Sequence[Decision], soc: ResolvedSoc
) -> Iterator[str]:
    """Yield a sentence about each operator that a wish or a pin made many times slower.

    Args:
        graph: before placement.
        decisions: where its operators run.
        soc: the chip.
    """
    operators = {op.name: op for op in graph.operators}
    for decision in decisions:
        op = operators.get(decision.operator)
        if op is None or op.kind == COPY or not kind_of(op).on_cores:
            continue
        chosen, others = soc.device(decision.device), tuple(_others(decision, soc))
        able = [each for each in others if not any(obstacles(op, graph, each, soc))]
        if not able:
            continue
        cycles = {e.name: compute_cycles(op, graph, e, soc) for e in (chosen, *able)}
        best = min(cycles, key=cycles.__getitem__)
        if (times := cycles[chosen.name] // max(1, cycles[best])) >= MANY_TIMES:
            figures = f"about {cycles[chosen.name]:,} cycles, and not about {cycles[best]:,}"
            yield (
                f"{op.name} takes {times:,} times as long on '{chosen.name}' as on '{best}': "
                + with_basis(figures, basis_of(soc, cycles))
            )


def _others(decision: Decision, soc: ResolvedSoc) -> Iterator[Device]:
    if decision.asked:
        yield from (each for each in (*soc.npus, soc.host_cpu) if each.name != decision.device)
    else:
        yield from map(soc.device, decision.pinned)
