# SPDX-License-Identifier: Apache-2.0
"""What the operators of a placed network take, in cycles of the host."""

from collections.abc import Mapping
from itertools import pairwise

from atoll.cost.constants import copied_pools, reading
from atoll.cost.cores import CoreCost
from atoll.cost.lists import joint_saving
from atoll.cost.operators import cost_on
from atoll.cost.spent import FEWEST, USUAL_POOLS, Spent
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph, Operator
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc


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
    pools = {**constants, **copied_pools(graph, soc)}
    return {
        op.name: _cycles(op, graph, soc, commands.get(op.name, 0), pools.get(op.name, ""))
        for op in graph.operators
    }


def spent_by(
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int] = FEWEST,
    constants: Mapping[str, str] = USUAL_POOLS,
) -> Mapping[str, Spent]:
    """Predict as `cycles_of`, and say what decides."""
    pools = {**constants, **copied_pools(graph, soc)}
    return {
        op.name: _spent(op, graph, soc, commands.get(op.name, 0), pools.get(op.name, ""))
        for op in graph.operators
    }


def cycles_in_order(graph: Graph, soc: ResolvedSoc) -> int:
    """Predict the cycles of all operators of a placed graph, one after the other.

    Engines that can go from one to the next by themselves do so.
    """
    devices = [soc.device(op.device) for op in graph.operators]
    saved = sum(
        joint_saving(two, soc)
        for one, two in pairwise(devices)
        if one == two and isinstance(two, Engine) and links(emitter_of(two))
    )
    return sum(cycles_of(graph, soc).values()) - saved


def _cycles(op: Operator, graph: Graph, soc: ResolvedSoc, commands: int, pool: str) -> int:
    device = reading(soc.device(op.device), pool, soc)
    if isinstance(device, Cpu) and op.helpers:
        cycles = CoreCost(device, soc).spread(op, graph, len(op.devices))
        assert cycles is not None, f"{op.name} has no {len(op.devices)} parts"
        return cycles
    return cost_on(device, soc).cycles(op, graph, commands)


def _spent(op: Operator, graph: Graph, soc: ResolvedSoc, commands: int, pool: str) -> Spent:
    if op.helpers:
        return Spent(cycles=_cycles(op, graph, soc, commands, pool), bound=Bound.CORE)
    device = reading(soc.device(op.device), pool, soc)
    return cost_on(device, soc).spent(op, graph, commands)
