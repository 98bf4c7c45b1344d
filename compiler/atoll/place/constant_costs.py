"""From which pool accelerators read their constants, as estimates count it."""

from collections.abc import Mapping
from typing import TypeVar

from atoll.ir.graph import Graph
from atoll.place.candidates import homes_of, needs_of
from atoll.resolve.engine_widths import constants_from
from atoll.resolve.soc import Device, Engine, ResolvedSoc

AnyDevice = TypeVar("AnyDevice", bound=Device)


def reading(device: AnyDevice, pool: str, soc: ResolvedSoc) -> AnyDevice:
    """Return a device as one that reads its constants from `pool`; as it is for "" or a core."""
    if not pool or not isinstance(device, Engine):
        return device
    held = soc.pool(pool)
    return constants_from(device, held, soc.memory(held.region.memory), soc.host_cpu.clock)


def packed_pools(graph: Graph, soc: ResolvedSoc) -> Mapping[str, str]:
    """Return the pool of the constants that are copied for operators, by operator."""
    packed = {op.name: graph.storage(op.packed[0]) for op in graph.operators if op.packed}
    if not packed:
        return {}
    needs = needs_of(graph, soc)
    homes = {
        operator: homes_of(soc, needs[name], graph.tensor(name))
        for operator, name in packed.items()
    }
    return {operator: pools[0] for operator, pools in homes.items() if pools}
