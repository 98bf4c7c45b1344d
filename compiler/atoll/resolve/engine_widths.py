"""How many bytes a cycle an accelerator gets from the memories that it works in."""

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

    def widths(engine: Engine, *, constants: bool) -> Iterator[int]:
        for pool in pools:
            access = pool.reach[engine.name]
            fits = access is not Access.NONE if constants else access is Access.WRITE
            role = "constants" if constants else "workspace"
            if fits and pool.role in (role, "both"):
                bandwidth = pool.speed.read_bandwidth if pool.speed else 2**32
                yield _at_its_clock(min(by_name[pool.region.memory].width, bandwidth), engine, bus)

    return tuple(
        replace(
            device,
            constants_width=next(widths(device, constants=True), 0),
            workspace_width=min(widths(device, constants=False), default=0),
        )
        if isinstance(device, Engine)
        else device
        for device in devices
    )


def _at_its_clock(width: int, engine: Engine, bus: int) -> int:
    """Return the bytes in a cycle of `engine` where its port gets `width` in one of the bus.

    They are rounded to the nearest: an engine a little faster than the bus gets no byte less.
    """
    if engine.clock > bus:
        width = min(width, engine.params.get("data_bytes", width))
    return max(1, (2 * width * bus + engine.clock) // (2 * engine.clock))
