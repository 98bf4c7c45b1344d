# SPDX-License-Identifier: Apache-2.0
"""How many bytes a cycle an accelerator gets from the memories that it works in, and how soon."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from atoll.resolve.entities import Device, Engine, PoolMemory
from atoll.resolve.places import Access, Memory, Pool

NO_OTHERS: Mapping[str, int] = MappingProxyType({})


def with_widths(
    devices: Sequence[Device],
    pools: Sequence[Pool],
    memories: Iterable[Memory],
    host: str,
    clocks: Mapping[str, int] = NO_OTHERS,
) -> tuple[Device, ...]:
    """Return the devices with the widths of each engine's memories, for estimates.

    Constants are in the first pool that holds some and that it reads, and so are its commands;
    activations may be in any pool that it writes. The bus and the memories run at the clock of
    device `host`: an engine with another one gets as many bytes in a cycle of its own as they move
    meanwhile. Devices named in `clocks` have these in place of their own.
    """
    by_name = {memory.name: memory for memory in memories}
    own = {device.name: clocks.get(device.name, device.clock) for device in devices}
    bus = own[host]

    def measure(engine: Engine) -> Engine:
        clock, read = own[engine.name], None
        written: dict[str, PoolMemory] = {}
        for pool in pools:
            access, memory = pool.reach[engine.name], by_name[pool.region.memory]
            if access is Access.WRITE and pool.role in ("workspace", "both"):
                written[pool.name] = PoolMemory(
                    memory=memory.name,
                    width=_width(pool, memory, engine, clock, bus),
                    latency=_latency(memory, clock, bus),
                )
            if read is None and access is not Access.NONE and pool.role in ("constants", "both"):
                read = pool
        constants = (
            _constants(engine, read, by_name[read.region.memory], clock, bus, written)
            if read
            else {}
        )
        return replace(
            engine,
            clock=clock,
            bus_cycles=Fraction(clock, bus),
            workspace_width=min((each.width for each in written.values()), default=Fraction(0)),
            pool_memories=written,
            **constants,
        )

    return tuple(
        measure(each)
        if isinstance(each, Engine)
        else each
        if own[each.name] == each.clock
        else replace(each, clock=own[each.name])
        for each in devices
    )


def constants_from(engine: Engine, pool: Pool, memory: Memory, bus: int) -> Engine:
    """Return an engine that reads its constants from a pool in `memory`; `bus` is in hertz."""
    found = _constants(engine, pool, memory, engine.clock, bus, engine.pool_memories)
    return replace(engine, **found)


def _constants(
    engine: Engine,
    pool: Pool,
    memory: Memory,
    clock: int,
    bus: int,
    written: Mapping[str, PoolMemory],
) -> dict[str, Any]:
    """Return what an engine has of the pool of its constants, by attribute."""
    apart = {each.memory for each in written.values()} != {memory.name}
    return {
        "constants_width": _width(pool, memory, engine, clock, bus),
        "constants_latency": _latency(memory, clock, bus),
        "constants_wait": -(-(memory.read_latency + 1) * clock // bus) if apart else 0,
    }


def _latency(memory: Memory, clock: int, bus: int) -> int:
    """Return the cycles of an engine with a clock until a memory answers."""
    return -(-memory.read_latency * clock // bus)


def _width(pool: Pool, memory: Memory, engine: Engine, clock: int, bus: int) -> Fraction:
    """Return the bytes that a pool gives in a cycle of `engine`: at most a beat a bus cycle."""
    bandwidth = pool.speed.read_bandwidth if pool.speed else 2**32
    width = min(memory.width, bandwidth)
    if clock > bus:
        width = min(width, engine.params.get("data_bytes", width))
    return Fraction(width * bus, clock)
