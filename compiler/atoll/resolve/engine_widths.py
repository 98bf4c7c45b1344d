"""How many bytes a cycle an accelerator gets from the memories that it works in."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from atoll.resolve.entities import Access, Device, Engine, Memory, Pool


def with_widths(
    devices: Iterable[Device], pools: Sequence[Pool], memories: Iterable[Memory]
) -> tuple[Device, ...]:
    """Return the devices with the widths of each engine's memories, for estimates.

    Constants are in the first pool that holds some and that it reads; activations may be in any
    pool that it writes.
    """
    by_name = {memory.name: memory for memory in memories}

    def widths(engine: Engine, *, constants: bool) -> Iterator[int]:
        for pool in pools:
            access = pool.reach[engine.name]
            fits = access is not Access.NONE if constants else access is Access.WRITE
            role = "constants" if constants else "workspace"
            if fits and pool.role in (role, "both"):
                bandwidth = pool.speed.read_bandwidth if pool.speed else 2**32
                yield min(by_name[pool.region.memory].width, bandwidth)

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
