"""How many bytes a cycle an accelerator gets from the memories that it works in, and how soon."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from atoll.resolve.entities import Access, Device, Engine, Memory, Pool


def with_widths(
    devices: Sequence[Device], pools: Sequence[Pool], memories: Iterable[Memory], host: str
) -> tuple[Device, ...]:
    """Return the devices with the widths of each engine's memories, for estimates.

    Constants are in the first pool that holds some and that it reads; activations may be in any
    pool that it writes. The bus and the memories run at the clock of device `host`: an engine with
    another one gets as many bytes in a cycle of its own as they move meanwhile.
    """
    by_name = {memory.name: memory for memory in memories}
    bus = next(device.clock for device in devices if device.name == host)

    def used(engine: Engine, *, constants: bool) -> Iterator[tuple[str, int, Memory]]:
        """Yield each pool, its bytes in a cycle, and its memory."""
        for pool in pools:
            access, memory = pool.reach[engine.name], by_name[pool.region.memory]
            fits = access is not Access.NONE if constants else access is Access.WRITE
            role = "constants" if constants else "workspace"
            if fits and pool.role in (role, "both"):
                bandwidth = pool.speed.read_bandwidth if pool.speed else 2**32
                width = _at_its_clock(min(memory.width, bandwidth), engine, bus)
                yield pool.name, width, memory

    def known(engine: Engine) -> Engine:
        read, written = (tuple(used(engine, constants=each)) for each in (True, False))
        _, width, memory = read[0] if read else ("", 0, None)
        apart = memory and {each.name for _, _, each in written} != {memory.name}
        waits = memory.read_latency + 1 if memory and apart else 0
        return replace(
            engine,
            constants_width=width,
            constants_wait=-(-waits * engine.clock // bus),
            workspace_width=min((width for _, width, _ in written), default=0),
            pool_memories={name: (memory.name, width) for name, width, memory in written},
        )

    return tuple(known(each) if isinstance(each, Engine) else each for each in devices)


def _at_its_clock(width: int, engine: Engine, bus: int) -> int:
    """Return the bytes in a cycle of `engine` where its port gets `width` in one of the bus.

    They are rounded to the nearest: an engine a little faster than the bus gets no byte less.
    """
    if engine.clock > bus:
        width = min(width, engine.params.get("data_bytes", width))
    return max(1, (2 * width * bus + engine.clock) // (2 * engine.clock))
