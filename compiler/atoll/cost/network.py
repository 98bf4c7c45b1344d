# SPDX-License-Identifier: Apache-2.0
"""What the operators of a placed network take, in cycles of the host."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from atoll.cost.constants import copied_pools, reader_from
from atoll.cost.lists import joint_saving
from atoll.cost.operators import cost_on
from atoll.cost.spent import (
    BOTH_ENDS,
    FEWEST,
    NO_LISTS,
    USUAL_POOLS,
    DeviceCost,
    HostEnds,
    Spent,
)
from atoll.ir.graph import Graph
from atoll.resolve.soc import ResolvedSoc


def cycles_of(
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int] = FEWEST,
    constants: Mapping[str, str] = USUAL_POOLS,
) -> Mapping[str, int]:
    """Predict the cycles of every operator of a placed graph on its device, by name.

    Args:
        graph: placed.
        soc: the chip.
        commands: of operators that take more than the fewest, how many.
        constants: the pool of the constants of operators, where that is not the first one; what is
            copied ahead is read from the copy.
    """
    costs = _costs(graph, soc, constants)
    return {
        op.name: cost.cycles(op, graph, commands.get(op.name, 0))
        for op, cost in zip(graph.operators, costs, strict=True)
    }


def cost_by_operator(
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int] = FEWEST,
    constants: Mapping[str, str] = USUAL_POOLS,
    ends: Mapping[str, HostEnds] = NO_LISTS,
) -> dict[str, Spent]:
    """Predict as `cycles_of`, and say what decides; `ends` are those of operators in lists."""
    costs = _costs(graph, soc, constants)
    return {
        op.name: cost.predict(op, graph, commands.get(op.name, 0), ends.get(op.name, BOTH_ENDS))
        for op, cost in zip(graph.operators, costs, strict=True)
    }


def cycles_in_order(graph: Graph, soc: ResolvedSoc) -> int:
    """Predict the cycles of all operators of a placed graph, one after the other.

    Engines that can go from one to the next by themselves do so.
    """
    devices = [soc.device(op.device) for op in graph.operators]
    saved = sum(joint_saving(two, soc) for one, two in pairwise(devices) if one == two)
    return sum(cycles_of(graph, soc).values()) - saved


def _costs(graph: Graph, soc: ResolvedSoc, constants: Mapping[str, str]) -> Iterator[DeviceCost]:
    """Yield what knows the cost of each operator on its device, as one that reads its constants."""
    pools, known = {**constants, **copied_pools(graph, soc)}, soc.known
    for op in graph.operators:
        key = "cost from", op.device, pools.get(op.name, "")
        if key not in known:
            known[key] = cost_on(reader_from(soc.device(key[1]), key[2], soc), soc)
        yield known[key]
