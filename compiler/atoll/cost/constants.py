# SPDX-License-Identifier: Apache-2.0
"""From which pool accelerators read their constants, as estimates count it."""

from collections.abc import Mapping

from atoll.ir.graph import Graph
from atoll.ops.registry import COPY
from atoll.reach.candidates import homes_of, needs_of
from atoll.resolve.engine_widths import constants_from
from atoll.resolve.soc import Device, Engine, ResolvedSoc


def reader_from(device: Device, pool: str, soc: ResolvedSoc) -> Device:
    """Return a device as one that reads its constants from `pool`; as it is for "" or a core."""
    if not pool or not isinstance(device, Engine):
        return device
    held = soc.pool(pool)
    return constants_from(device, held, soc.memory(held.region.memory), soc.host_cpu.clock)


def copied_pools(graph: Graph, soc: ResolvedSoc) -> Mapping[str, str]:
    """Return the pools from which copies of constants, and operators with such copies, read them.

    By operator, as far as they are known.
    """
    packed = {op.name: graph.storage(op.packed[0]) for op in graph.operators if op.packed}
    if not packed:
        return {}
    needs = needs_of(graph, soc)
    packed |= {op.name: op.inputs[0] for op in graph.operators if op.kind == COPY}
    homes = {
        operator: homes_of(soc, needs[name], graph.tensor(name))
        for operator, name in packed.items()
    }
    return {operator: pools[0] for operator, pools in homes.items() if pools}
