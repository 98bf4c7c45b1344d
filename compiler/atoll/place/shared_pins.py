# SPDX-License-Identifier: Apache-2.0
"""Tensors of which all that touch them have to reach one and the same pool."""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.ir.graph import Graph, Tensor
from atoll.ops.registry import COPY
from atoll.place.asked_scopes import PinRequest
from atoll.place.replicas import readers_of
from atoll.place.requests import Requests
from atoll.reach.candidates import pools_for, roles_of
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc


@dataclass(frozen=True, slots=True)
class SharedPin:
    """What is asked of a tensor that may not be copied.

    Attributes:
        pools: those that hold it, the first choice in front.
        readers: the operators that read it there.
    """

    pools: tuple[str, ...]
    readers: frozenset[str]


SharedPins = Mapping[str, SharedPin]
"""Such tensors, by the name of their storage."""

NO_PINS: SharedPins = MappingProxyType({})


def may_share(graph: Graph, soc: ResolvedSoc, requests: Requests) -> bool:
    """Tell whether other devices may help: there is a list of pools, and no pin leaves none."""
    shared = {
        name: asked
        for name, asked in requests.pins.items()
        if name not in requests.free and any(each.joint and each.pin.pools for each in asked)
    }
    lists = any(len(each.pin.pools) > 1 for asked in shared.values() for each in asked)
    return lists and all(_pools_left(graph.tensor(name), shared[name], soc) for name in shared)


def shared_pins(graph: Graph, soc: ResolvedSoc, requests: Requests) -> SharedPins:
    """Return the tensors that one pool has to serve, with the pools that are left to them."""
    found: dict[str, SharedPin] = {}
    readers = readers_of(graph)
    for name, asked in requests.pins.items():
        joint = [each for each in asked if each.joint and each.pin.pools]
        if not joint or name in requests.free or graph.tensor(name).data is not None:
            continue
        storage = graph.storage(name)
        pools = _pools_left(graph.tensor(name), asked, soc)
        reading = frozenset(op.name for op in readers[name] if op.kind != COPY)
        if other := found.get(storage):
            pools = tuple(pool for pool in other.pools if pool in pools)
            reading |= other.readers
        found[storage] = SharedPin(pools, reading)
    return found


def _pools_left(tensor: Tensor, asked: tuple[PinRequest, ...], soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the pools that all requests of where a tensor is written leave, in their order."""
    holding = pools_for(soc, {}, roles_of(tensor), tensor.size)
    writing = [each.pin for each in asked if each.writes and each.pin.pools]
    left = tuple(
        pool
        for pool in writing[0].pools
        if pool in holding and all(pool in pin.pools for pin in writing)
    )
    tight = {
        choice.pool
        for pin in writing
        for choice in pin.choices
        if choice.size is not None and choice.size < tensor.size
    }
    return tuple(pool for pool in left if pool not in tight) or left
