# SPDX-License-Identifier: Apache-2.0
"""How many bytes a cycle an accelerator gets from the memories that it works in, and how soon."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from atoll.resolve.entities import Device, Engine, PoolMemory
from atoll.resolve.places import Access, Memory, Pool


def with_widths(
    devices: Sequence[Device], pools: Sequence[Pool], memories: Iterable[Memory], host: str
) -> tuple[Device, ...]:
    """Return the devices with the widths of each engine's memories, for estimates.

    Constants are in the first pool that holds some and that it reads, and so are its commands;
    activations may be in any pool that it writes. The bus and the memories run at the clock of
    device `host`: an engine with another one gets as many bytes in a cycle of its own as they move
    meanwhile.
    """
    by_name = {memory.name: memory for memory in memories}
    bus = next(device.clock for device in devices if device.name == host)

    def pool_widths(engine: Engine, *, constants: bool) -> Iterator[tuple[str, Fraction, Memory]]:
        """Yield each pool, its bytes in a cycle, and its memory."""
        for pool in pools:
            access, memory = pool.reach[engine.name], by_name[pool.region.memory]
            fits = access is not Access.NONE if constants else access is Access.WRITE
            role = "constants" if constants else "workspace"
            if fits and pool.role in (role, "both"):
                yield pool.name, _width(pool, memory, engine, bus), memory

    def measure(engine: Engine) -> Engine:
        read, written = (tuple(pool_widths(engine, constants=each)) for each in (True, False))
        engine = replace(
            engine,
            bus_cycles=Fraction(engine.clock, bus),
            workspace_width=min((width for _, width, _ in written), default=Fraction(0)),
            pool_memories={
                name: PoolMemory(
                    memory=memory.name, width=width, latency=_latency(memory, engine, bus)
                )
                for name, width, memory in written
            },
        )
        if not read:
            return engine
        (pool,) = (each for each in pools if each.name == read[0][0])
        return constants_from(engine, pool, read[0][2], bus)

    return tuple(measure(each) if isinstance(each, Engine) else each for each in devices)


def constants_from(engine: Engine, pool: Pool, memory: Memory, bus: int) -> Engine:
    """Return an engine that reads its constants from a pool in `memory`; `bus` is in hertz."""
    apart = {each.memory for each in engine.pool_memories.values()} != {memory.name}
    return replace(
        engine,
        constants_width=_width(pool, memory, engine, bus),
        constants_latency=_latency(memory, engine, bus),
        constants_wait=-(-(memory.read_latency + 1) * engine.clock // bus) if apart else 0,
    )


def _latency(memory: Memory, engine: Engine, bus: int) -> int:
    """Return the cycles of `engine` until a memory answers."""
    return -(-memory.read_latency * engine.clock // bus)


def _width(pool: Pool, memory: Memory, engine: Engine, bus: int) -> Fraction:
    """Return the bytes that a pool gives in a cycle of `engine`: at most a beat a bus cycle."""
    bandwidth = pool.speed.read_bandwidth if pool.speed else 2**32
    width = min(memory.width, bandwidth)
    if engine.clock > bus:
        width = min(width, engine.params.get("data_bytes", width))
    return Fraction(width * bus, engine.clock)
