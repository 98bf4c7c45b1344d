# SPDX-License-Identifier: Apache-2.0
"""Make every tensor reachable: copies where devices share no pool, and only there."""

from collections.abc import Sequence
from dataclasses import replace

from atoll.description.faults import in_order
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Tensor
from atoll.place.reach_faults import unreachable
from atoll.place.replicas import Replica, ReplicaNames, readers_of, with_exits, with_replicas
from atoll.place.routes import Routes, Step, at_home
from atoll.reach.candidates import Needs, allows, homes_of, needs_of, without_sizes
from atoll.reach.movers import covers
from atoll.resolve.soc import Access, Dma, ResolvedSoc


def insert_copies(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a graph whose every tensor has a pool that all its devices reach.

    An activation without one is copied by the host, or by a DMA engine where the host cannot,
    once for all consumers on the same side, right before the first of them. What the host reads as
    an output is copied at the end if no operator on its side reads it before. A constant is
    duplicated. Changes nothing where nothing is missing, so running it twice is the same as once.

    Raises:
        PlacementError: E060, E061; a tensor for which no copy helps.
    """
    needs, readers = needs_of(graph, soc), readers_of(graph)
    replicas: dict[str, list[Replica]] = {}
    exits: list[Replica] = []
    faults: list[Fault] = []
    names = ReplicaNames(graph)
    routes = Routes(soc)
    ways: dict[str, tuple[str, tuple[Step, ...]]] = {}
    for tensor in graph.tensors:
        wanted = needs[tensor.name]
        if not wanted or homes_of(soc, wanted, tensor):
            continue
        moved = _find_movers(tensor, wanted, soc)
        if moved is None and tensor.data is None and (way := routes.cheapest(tensor, wanted)):
            ways[tensor.name] = way
            continue
        if moved is None:
            cramped = _cramped_pools(tensor, wanted, soc)
            faults.append(unreachable(tensor, graph, wanted, soc, cramped))
            continue
        mover, groups = moved
        for group in groups[1:]:
            served = (op.name for op in readers[tensor.name] if op.device in group)
            replicas.setdefault(mover, []).append(names.replica(tensor, served))
            if tensor.name in graph.outputs and soc.host in group:
                exits.append(replicas[mover][-1])
    if faults:
        raise PlacementError.all(in_order(faults))
    for mover, made in replicas.items():
        graph = with_replicas(graph, mover, made)
    graph = with_exits(graph, exits)
    for name, (home, steps) in ways.items():
        graph = _with_way(graph, name, home, steps, routes)
    return graph


def _with_way(graph: Graph, name: str, home: str, steps: Sequence[Step], routes: Routes) -> Graph:
    """Return the graph with a tensor in its home, and a copy of it for each step of a way."""
    tensors = (at_home(each, home) if each.name == name else each for each in graph.tensors)
    graph, names = replace(graph, tensors=tuple(tensors)), ReplicaNames(graph)
    tensor, pools = graph.tensor(name), (home, *(step.target for step in steps))
    before = {step.target: step.source for step in steps}
    readers: dict[str, set[str]] = {pool: set() for pool in pools}
    for op in readers_of(graph)[name]:
        pool = routes.pool_for(op.device, pools)
        while pool != home:
            readers[pool].add(op.name)
            pool = before[pool]
    made = {home: tensor.name}
    exit_at = routes.pool_for(routes.soc.host, pools) if name in graph.outputs else home
    exits: list[Replica] = []
    for step in steps:
        source = graph.tensor(made[step.source])
        replica = names.replica(source, readers[step.target], (step.target,))
        made[step.target] = replica.tensor.name
        graph = with_replicas(graph, step.mover, (replica,))
        if step.target == exit_at:
            exits.append(replace(replica, source=name))
    return with_exits(graph, exits)


def _find_movers(
    tensor: Tensor, needs: Needs, soc: ResolvedSoc
) -> tuple[str, list[frozenset[str]]] | None:
    """Return who can make the replicas of a tensor, and the groups of its readers."""
    groups = _sides(tensor, needs, soc, soc.host)
    if groups is not None:
        return soc.host, groups
    for dma in soc.dmas if tensor.data is None else ():
        groups = _sides(tensor, needs, soc, dma.name)
        if groups is not None and _moves(dma, tensor, needs, groups, soc):
            return dma.name, groups
    return None


def _cramped_pools(tensor: Tensor, needs: Needs, soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the pools that a tensor and its replicas would be in if these were large enough."""
    roomy = without_sizes(soc)
    moved = _find_movers(tensor, needs, roomy)
    if moved is None:
        return ()
    mover, groups = moved
    found: list[str] = []
    for number, group in enumerate(groups):
        wanted: Needs = dict.fromkeys(group, Access.READ)
        if tensor.data is None:
            wanted = {**wanted, mover: Access.WRITE if number else Access.READ}
            wanted |= {} if number else {n: a for n, a in needs.items() if a is Access.WRITE}
        held = replace(tensor, pools=(), initial=None) if number else tensor
        if not homes_of(soc, wanted, held):
            pools = map(soc.pool, homes_of(roomy, wanted, held))
            found.append(max(pools, key=lambda pool: pool.room).name)
    return tuple(found)


def _moves(
    dma: Dma, tensor: Tensor, needs: Needs, groups: Sequence[frozenset[str]], soc: ResolvedSoc
) -> bool:
    """Say whether an engine moves between the memories of a tensor and of its replicas."""

    def pools(fixed: Needs, readers: frozenset[str], held: Tensor) -> tuple[str, ...]:
        return homes_of(soc, {**dict.fromkeys(readers, Access.READ), **fixed}, held)

    anywhere = replace(tensor, pools=(), initial=None)
    writers = {name: need for name, need in needs.items() if need is Access.WRITE}
    home = pools({dma.name: Access.READ} | writers, groups[0], tensor)
    return all(
        covers(dma, soc, home, pools({dma.name: Access.WRITE}, group, anywhere))
        for group in groups[1:]
    )


def _sides(
    tensor: Tensor, needs: Needs, soc: ResolvedSoc, mover: str
) -> list[frozenset[str]] | None:
    """Split the readers into groups that share a pool; the first stays with the tensor itself.

    The mover of activations reads the tensor and writes its replicas.

    Returns:
        Groups of devices, or None where no replica helps.
    """
    home: Needs = {}
    side: Needs = {}
    if tensor.data is None:
        writers = {name: need for name, need in needs.items() if need is Access.WRITE}
        home, side = {mover: Access.READ} | writers, {mover: Access.WRITE}
    left = frozenset(needs) - frozenset(home)
    groups: list[frozenset[str]] = []
    anywhere = replace(tensor, pools=(), initial=None)
    while left or not groups:
        fixed, held = (side, anywhere) if groups else (home, tensor)
        served = _most_served(held, fixed, left, soc)
        if served is None or (groups and not served):
            return None
        groups.append(served)
        left -= served
    return groups


def _most_served(
    tensor: Tensor, fixed: Needs, readers: frozenset[str], soc: ResolvedSoc
) -> frozenset[str] | None:
    """Return the largest group of readers that one pool serves along with the `fixed` needs."""
    served = (
        frozenset(name for name in readers if allows(soc.pool(pool).reach[name], Access.READ))
        for pool in homes_of(soc, fixed, tensor)
    )
    return max(served, key=len, default=None)
