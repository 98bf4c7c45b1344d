# SPDX-License-Identifier: Apache-2.0
"""Where a tensor may live: the pools that every device touching it reaches."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from atoll.ir.graph import Graph, Tensor
from atoll.reach.rooms import has_room
from atoll.resolve.soc import Access, Pool, ResolvedSoc, once_per_chip

WORKSPACE_ROLES = frozenset({"workspace", "both"})
CONSTANT_ROLES = frozenset({"constants", "both"})
STATE_ROLES = WORKSPACE_ROLES | {"state"}

Needs = Mapping[str, Access]


def allows(reach: Access, need: Access) -> bool:
    """Say whether a device with access `reach` may do what `need` says."""
    return need is Access.NONE or reach is Access.WRITE or reach is need


def roles_of(tensor: Tensor) -> frozenset[str]:
    """Return the roles of pools that hold such tensors."""
    if tensor.initial is not None:
        return STATE_ROLES
    return WORKSPACE_ROLES if tensor.data is None else CONSTANT_ROLES


def pools_for(soc: ResolvedSoc, needs: Needs, roles: frozenset[str], size: int) -> tuple[str, ...]:
    """Return the pools of some role that can hold `size` bytes and give every device its need.

    Returns:
        Pool names, the preferred one first; of pools that hold states those for states alone.
    """
    key = roles, *needs.items()
    if key not in soc.known:
        reached = (
            pool
            for pool in by_preference(soc)
            if pool.role in roles and not unmet_needs(pool, needs)
        )
        soc.known[key] = tuple(sorted(reached, key=lambda pool: pool.role != "state"))
    return tuple([pool.name for pool in soc.known[key] if has_room(pool, size, soc)])


def heaps_for(soc: ResolvedSoc, needs: Needs) -> tuple[str, ...]:
    """Return the pools that keep a heap and give every device its need, best first."""
    pools = (pool for pool in by_preference(soc) if pool.heap and not unmet_needs(pool, needs))
    return tuple(pool.name for pool in pools)


def homes_of(soc: ResolvedSoc, needs: Needs, tensor: Tensor) -> tuple[str, ...]:
    """Return the pools that may hold `tensor`, best first: of its own if it has any."""
    pools = pools_for(soc, needs, roles_of(tensor), tensor.size)
    return tuple(name for name in tensor.pools if name in pools) if tensor.pools else pools


@once_per_chip
def without_sizes(soc: ResolvedSoc) -> ResolvedSoc:
    """Return the chip with pools that have room for all."""
    pools = (replace(pool, region=replace(pool.region, size=1 << 40)) for pool in soc.pools)
    return replace(soc, pools=tuple(pools))


def by_preference(soc: ResolvedSoc) -> tuple[Pool, ...]:
    """Return the chip's pools, those to try first in front."""
    return soc.preferred_pools


def unmet_needs(pool: Pool, needs: Needs) -> dict[str, Access]:
    """Return the devices whose need `pool` does not meet, and what each needs."""
    return {name: need for name, need in needs.items() if not allows(pool.reach[name], need)}


def needs_of(graph: Graph, soc: ResolvedSoc) -> Mapping[str, Needs]:
    """Return what each device does with each tensor of a placed graph.

    The producer writes and consumers read; the host writes the graph's inputs and states and
    reads its outputs. Where constants are packed into private memory, an accelerator does not touch
    those that they are made of. A tensor that nothing touches has no needs, nor has a view: its
    storage is touched.
    """
    needs: dict[str, dict[str, Access]] = {tensor.name: {} for tensor in graph.tensors}
    for name in graph.outputs:
        needs[name][soc.host] = Access.READ
    for op in graph.operators:
        for name in op.reads:
            if op.packed and graph.tensor(name).data is not None:
                continue
            for device in op.devices:
                needs[graph.storage(name)].setdefault(device, Access.READ)
    for op in graph.operators:
        for name in op.outputs:
            needs[graph.storage(name)] |= dict.fromkeys(op.devices, Access.WRITE)
    for name in graph.filled:
        needs[name][soc.host] = Access.WRITE
    return MappingProxyType(needs)


def candidate_pools(graph: Graph, soc: ResolvedSoc) -> Mapping[str, tuple[str, ...]]:
    """Return the pools in which each tensor of a placed graph may live, best first.

    A tensor without candidates needs a copy: see `atoll.place.device_copies`.
    """
    needs = needs_of(graph, soc)
    return MappingProxyType(
        {tensor.name: homes_of(soc, needs[tensor.name], tensor) for tensor in graph.tensors}
    )
