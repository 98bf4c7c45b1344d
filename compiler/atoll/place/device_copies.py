"""Make every tensor reachable: copies where devices share no pool, and only there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from atoll.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.candidates import Needs, allows, needs_of, pools_for, roles_of
from atoll.place.copy_engines import covers
from atoll.place.reach_faults import unreachable
from atoll.resolve.soc import Access, Dma, ResolvedSoc

COPY = "copy"


@dataclass(frozen=True, slots=True)
class Replica:
    """A second tensor with the content of `source`, for devices that cannot read the first.

    Attributes:
        source: name of the tensor that it repeats.
        tensor: the new one.
        devices: those that read it in place of `source`.
        mover: the device that makes it.
    """

    source: str
    tensor: Tensor
    devices: frozenset[str]
    mover: str

    def serves(self, op: Operator) -> bool:
        """Say whether `op` reads the replica."""
        return op.device in self.devices and self.source in op.inputs


def insert_copies(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a graph whose every tensor has a pool that all its devices reach.

    An activation without one is copied by the host, or by a DMA engine where the host cannot,
    once for all consumers on the same side, right before the first of them. A constant is
    duplicated. Changes nothing where nothing is missing, so running it twice is the same as once.

    Raises:
        PlacementError: E060, E061; a tensor for which no copy helps.
    """
    needs = needs_of(graph, soc)
    replicas: list[Replica] = []
    faults: list[Fault] = []
    names = {tensor.name for tensor in graph.tensors}
    for tensor in graph.tensors:
        wanted = needs[tensor.name]
        if not wanted or pools_for(soc, wanted, roles_of(tensor), tensor.size):
            continue
        moved = _moved(tensor, wanted, soc)
        if moved is None:
            faults.append(unreachable(tensor, graph, wanted, soc))
        else:
            mover, groups = moved
            replicas += (_replica(tensor, group, mover, names) for group in groups[1:])
    if faults:
        raise PlacementError.all(faults)
    return _rewired(graph, replicas) if replicas else graph


def _moved(
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


def _moves(
    dma: Dma, tensor: Tensor, needs: Needs, groups: Sequence[frozenset[str]], soc: ResolvedSoc
) -> bool:
    """Say whether an engine moves between the memories of a tensor and of its replicas."""

    def pools(fixed: Needs, readers: frozenset[str]) -> tuple[str, ...]:
        wanted = {**dict.fromkeys(readers, Access.READ), **fixed}
        return pools_for(soc, wanted, roles_of(tensor), tensor.size)

    writers = {name: need for name, need in needs.items() if need is Access.WRITE}
    home = pools({dma.name: Access.READ} | writers, groups[0])
    return all(
        covers(dma, soc, home, pools({dma.name: Access.WRITE}, group)) for group in groups[1:]
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
    while left or not groups:
        served = _most_served(tensor, side if groups else home, left, soc)
        if served is None or (groups and not served):
            return None
        groups.append(served)
        left -= served
    return groups


def _most_served(
    tensor: Tensor, fixed: Needs, readers: frozenset[str], soc: ResolvedSoc
) -> frozenset[str] | None:
    """Return the largest group of readers that one pool serves along with the `fixed` needs."""
    pools = pools_for(soc, fixed, roles_of(tensor), tensor.size)
    served = (
        frozenset(name for name in readers if allows(soc.pool(pool).reach[name], Access.READ))
        for pool in pools
    )
    return max(served, key=len, default=None)


def _replica(source: Tensor, devices: frozenset[str], mover: str, names: set[str]) -> Replica:
    """Make a replica with a name that is not in `names`, and add it there."""
    name = next(name for number in count(1) if (name := f"{source.name}_copy{number}") not in names)
    names.add(name)
    return Replica(source.name, replace(source, name=name, index=-1), devices, mover)


def _rewired(graph: Graph, replicas: Sequence[Replica]) -> Graph:
    tensors = (*graph.tensors, *(replica.tensor for replica in replicas))
    operators = tuple(_operators(graph, replicas))
    return replace(graph, tensors=tensors, operators=operators)


def _operators(graph: Graph, replicas: Sequence[Replica]) -> Iterator[Operator]:
    """Yield the operators with their inputs renamed, and copies where first needed."""
    names = {op.name for op in graph.operators}
    pending = [replica for replica in replicas if replica.tensor.data is None]
    for op in graph.operators:
        for replica in [each for each in pending if each.serves(op)]:
            pending.remove(replica)
            yield _copy(replica, names)
        renamed = {each.source: each.tensor.name for each in replicas if each.serves(op)}
        yield replace(op, inputs=tuple(renamed.get(name, name) for name in op.inputs))


def _copy(replica: Replica, names: set[str]) -> Operator:
    name = next(name for number in count() if (name := f"{COPY}_{number}") not in names)
    names.add(name)
    return Operator(
        name=name,
        kind=COPY,
        inputs=(replica.source,),
        outputs=(replica.tensor.name,),
        attributes={},
        device=replica.mover,
    )
