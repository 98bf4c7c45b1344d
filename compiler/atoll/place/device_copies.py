"""Make every tensor reachable: copies where devices share no pool, and only there."""

from dataclasses import replace

from atoll.description.faults import in_order
from atoll.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Tensor
from atoll.place.candidates import Needs, allows, homes_of, needs_of
from atoll.place.reach_faults import unreachable
from atoll.place.replicas import Replica, ReplicaNames, readers_of, with_replicas
from atoll.resolve.soc import Access, ResolvedSoc


def insert_copies(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a graph whose every tensor has a pool that all its devices reach.

    An activation without one is copied by the host, once for all consumers on the same side,
    right before the first of them. A constant is duplicated. Changes nothing where nothing is
    missing, so running it twice is the same as once.

    Raises:
        PlacementError: E060, E061; a tensor for which no copy helps.
    """
    needs, readers = needs_of(graph, soc), readers_of(graph)
    replicas: list[Replica] = []
    faults: list[Fault] = []
    names = ReplicaNames(graph)
    for tensor in graph.tensors:
        wanted = needs[tensor.name]
        if not wanted or homes_of(soc, wanted, tensor):
            continue
        groups = _sides(tensor, wanted, soc)
        if groups is None:
            faults.append(unreachable(tensor, graph, wanted, soc))
            continue
        for group in groups[1:]:
            served = (op.name for op in readers[tensor.name] if op.device in group)
            replicas.append(names.replica(tensor, served))
    if faults:
        raise PlacementError.all(in_order(faults))
    return with_replicas(graph, soc.host, replicas)


def _sides(tensor: Tensor, needs: Needs, soc: ResolvedSoc) -> list[frozenset[str]] | None:
    """Split the readers into groups that share a pool; the first stays with the tensor itself.

    The host moves activations, so it reads the tensor and writes its replicas.

    Returns:
        Groups of devices, or None where no replica helps.
    """
    home: Needs = {}
    side: Needs = {}
    if tensor.data is None:
        writers = {name: need for name, need in needs.items() if need is Access.WRITE}
        home, side = {soc.host: Access.READ} | writers, {soc.host: Access.WRITE}
    left = frozenset(needs) - frozenset(home)
    groups: list[frozenset[str]] = []
    anywhere = replace(tensor, pool="")
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
