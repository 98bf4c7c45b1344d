# SPDX-License-Identifier: Apache-2.0
"""Which DMA engine moves a copy; the host moves what none can (SEMANTICS P6)."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import COPY
from atoll.place.capabilities import limit_obstacles
from atoll.reach.candidates import homes_of, needs_of
from atoll.reach.movers import covers
from atoll.resolve.soc import Access, ResolvedSoc


def assign_copies(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return `graph` with each copy of the host on the first DMA engine that can move it.

    An engine can if the copy is within its limits and, with it in the host's place, source and
    destination keep candidate pools, and the engine moves between the memories of all of them.
    """
    if not soc.dmas or not any(_is_hosts(op, soc) for op in graph.operators):
        return graph
    needs = {name: dict(wanted) for name, wanted in needs_of(graph, soc).items()}
    users = _users(graph)
    operators: list[Operator] = []
    for op in graph.operators:
        engine = _engine(op, graph, soc, needs, users) if _is_hosts(op, soc) else None
        operators.append(op if engine is None else replace(op, device=engine))
    return graph.with_operators(operators)


def _is_hosts(op: Operator, soc: ResolvedSoc) -> bool:
    return op.kind == COPY and op.device == soc.host


def _users(graph: Graph) -> Mapping[str, list[Operator]]:
    """Return the operators that touch each tensor or a view of it.

    A port counts as touched by none.
    """
    users: dict[str, list[Operator]] = {}
    for op in graph.operators:
        for name in {graph.storage(each) for each in (*op.reads, *op.outputs)}:
            users.setdefault(name, []).append(op)
    return users


def _engine(
    op: Operator,
    graph: Graph,
    soc: ResolvedSoc,
    needs: dict[str, dict[str, Access]],
    users: Mapping[str, list[Operator]],
) -> str | None:
    """Return the engine for a copy, and note in `needs` that it takes the host's place."""
    source, destination = graph.storage(op.inputs[0]), graph.storage(op.outputs[0])
    for dma in soc.dmas:
        if any(limit_obstacles(op, graph, dma)):
            continue
        changed: dict[str, dict[str, Access]] = {}
        for name, access in ((source, Access.READ), (destination, Access.WRITE)):
            wanted = dict(needs[name])
            if not _host_stays(name, op, graph, soc, users):
                wanted.pop(soc.host, None)
            changed[name] = wanted | {dma.name: access}
        pools = {
            name: homes_of(soc, wanted, graph.tensor(name)) for name, wanted in changed.items()
        }
        if covers(dma, soc, pools[source], pools[destination]):
            needs.update(changed)
            return dma.name
    return None


def _host_stays(
    name: str, op: Operator, graph: Graph, soc: ResolvedSoc, users: Mapping[str, list[Operator]]
) -> bool:
    """Say whether the host touches a tensor for another reason than `op`."""
    if name in (*graph.filled, *graph.outputs):
        return True
    return any(other.device == soc.host and other is not op for other in users[name])
