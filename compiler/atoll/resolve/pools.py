"""Who may touch which pool: every pair is decided, and every device can work."""

from collections.abc import Mapping

from atoll.description.schema import Npu
from atoll.description.schema import Pool as PoolModel
from atoll.resolve.draft import Draft
from atoll.resolve.soc import Access, Pool, PoolSpeed, Region
from atoll.units import format_size

_ACCESS_OF_ROLE = {"constants": "ro", "workspace": "rw"}
_BLOCK = 16
"""Alignment of a heap's blocks, bytes."""

_KINDS_OF_ROLE = {"constants": ("rom", "ram"), "workspace": ("ram",), "both": ("ram",)}


def check_pools(draft: Draft) -> None:
    """Note undecided pairs, accesses that a memory cannot give, and devices without pools."""
    for name, pool in draft.pools():
        _check_memory_kind(draft, name, pool)
        _check_filling(draft, name, pool)
        _check_heap(draft, name, pool)
        _check_speed(draft, name, pool)
        for device, _ in draft.devices():
            if device not in pool.reach:
                _undecided(draft, name, pool, device)
        if pool.reach and set(pool.reach.values()) == {"none"}:
            draft.faults.add(
                "E036",
                f"no device reaches pool '{name}'",
                at=draft.where.key_at("pools", name, "reach"),
                remedy="let a device reach it, or delete the pool",
            )
    workers = [name for name, device, _ in draft.engines() if isinstance(device, Npu)]
    if draft.host in draft.soc.devices:
        workers.insert(0, draft.host)
    for worker in workers:
        _check_reach(draft, worker)


def fits_memory(draft: Draft, pool: PoolModel) -> bool:
    """Tell whether the pool's memory is described and can play its role."""
    memory = draft.soc.memories.get(pool.memory)
    return memory is not None and memory.kind in _KINDS_OF_ROLE[pool.role]


def resolve_pools(draft: Draft, regions: Mapping[str, Region]) -> tuple[Pool, ...]:
    """Return the pools by preference and name; the draft has no faults."""
    return tuple(
        Pool(
            name=name,
            region=regions[name],
            role=pool.role,
            alignment=pool.alignment,
            preference=pool.preference,
            reach={device: Access(pool.reach[device]) for device, _ in draft.devices()},
            provided=pool.provided,
            speed=_speed(draft, pool),
            heap=pool.heap,
            at=draft.where.key_at("pools", name),
        )
        for name, pool in draft.pools()
    )


def check_heaps(draft: Draft, regions: Mapping[str, Region]) -> None:
    """Note heaps that leave nothing of their pool; `regions` may lack some."""
    for name, pool in draft.pools():
        region = regions.get(name)
        if pool.heap and region and region.size < pool.heap + _BLOCK:
            draft.faults.add(
                "E032",
                f"the heap of pool '{name}' takes {format_size(pool.heap)} of its"
                f" {format_size(region.size)}: nothing is left to plan",
                at=draft.where.at("pools", name, "heap"),
                remedy="make the heap smaller or the pool larger",
            )


def _uses(pool: PoolModel) -> str:
    return "constants and workspace" if pool.role == "both" else pool.role


def _speed(draft: Draft, pool: PoolModel) -> PoolSpeed:
    memory = draft.soc.memories[pool.memory]
    host = draft.soc.devices[draft.host or ""]
    return PoolSpeed(
        read_bandwidth=pool.read_bandwidth or memory.width,
        write_bandwidth=pool.write_bandwidth or memory.width,
        latency=memory.read_latency if pool.latency is None else pool.latency,
        burst=pool.burst or 0,
        clock=pool.clock or host.clock,
    )


def _check_speed(draft: Draft, name: str, pool: PoolModel) -> None:
    memory = draft.soc.memories.get(pool.memory)
    for key in ("read_bandwidth", "write_bandwidth"):
        asked = getattr(pool, key)
        if memory and asked and asked > memory.width * memory.banks:
            most = memory.width * memory.banks
            draft.faults.add(
                "E045",
                f"pool '{name}' moves {asked} B per cycle, and memory '{pool.memory}' at most"
                f" {most}: its width times its banks",
                at=draft.where.at("pools", name, key),
                remedy=f"use at most {most}",
            )


def _undecided(draft: Draft, name: str, pool: PoolModel, device: str) -> None:
    access = _ACCESS_OF_ROLE.get(pool.role, "rw")
    draft.faults.add(
        "E033",
        f"pool '{name}' does not say whether '{device}' reaches it",
        at=draft.where.key_at("pools", name, "reach"),
        remedy=f"add '{device}: {access}' to 'reach' if it does, or '{device}: none' if not",
    )


def _check_memory_kind(draft: Draft, name: str, pool: PoolModel) -> None:
    memory = draft.soc.memories.get(pool.memory)
    if memory is None:
        return
    if not fits_memory(draft, pool):
        draft.faults.add(
            "E034",
            f"pool '{name}' is for {_uses(pool)}, and memory '{pool.memory}' is {memory.kind}",
            at=draft.where.at("pools", name, "role"),
            remedy=f"put it in a memory of kind {' or '.join(_KINDS_OF_ROLE[pool.role])}, "
            "or change its role",
        )
        return
    for device, access in pool.reach.items():
        if memory.kind == "rom" and access == "rw":
            draft.faults.add(
                "E034",
                f"'{device}' cannot write pool '{name}', because memory '{pool.memory}' is rom",
                at=draft.where.at("pools", name, "reach", device),
                remedy=f"write '{device}: ro'",
            )


def _check_filling(draft: Draft, name: str, pool: PoolModel) -> None:
    """Constants come with the image; in RAM the host writes them before anything runs."""
    memory = draft.soc.memories.get(pool.memory)
    if pool.role == "workspace" or memory is None:
        return
    if pool.provided == "application":
        draft.faults.add(
            "E034",
            f"pool '{name}' is for constants, which the image carries, not the application",
            at=draft.where.at("pools", name, "provided"),
            remedy="delete 'provided', or use 'role: workspace'",
        )
    if memory.kind == "ram" and draft.host and pool.reach.get(draft.host) in ("ro", "none"):
        draft.faults.add(
            "E034",
            f"pool '{name}' is for constants in RAM, which '{draft.host}' cannot fill at start",
            at=draft.where.at("pools", name, "reach", draft.host),
            remedy=f"write '{draft.host}: rw', or put the pool in a memory of kind rom",
        )


def _check_heap(draft: Draft, name: str, pool: PoolModel) -> None:
    """Blocks are given out by the host, which writes them, in memory that the image knows."""
    at = draft.where.at("pools", name, "heap")
    if pool.heap % _BLOCK:
        draft.faults.add(
            "E035",
            f"the heap of pool '{name}' has {pool.heap} bytes, no multiple of {_BLOCK}",
            at=at,
            remedy=f"use {-(-pool.heap // _BLOCK) * _BLOCK}, for example",
        )
    reasons = {
        f"it is for {pool.role}": pool.role == "constants",
        "the application provides it": pool.provided == "application",
        f"'{draft.host}' cannot write it": pool.reach.get(draft.host or "", "rw") != "rw",
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if pool.heap and reason:
        draft.faults.add(
            "E034",
            f"pool '{name}' cannot keep a heap: {reason}",
            at=at,
            remedy="delete 'heap', or keep it in another pool",
        )


def _check_reach(draft: Draft, device: str) -> None:
    for role, access in _ACCESS_OF_ROLE.items():
        pools = {name: pool for name, pool in draft.pools() if pool.role in (role, "both")}
        if any(pool.reach.get(device, access) in (access, "rw") for pool in pools.values()):
            continue
        fitting = next(iter(pools), None)
        draft.faults.add(
            "E036",
            f"'{device}' reaches no pool for {role}",
            at=draft.where.key_at("devices", device),
            remedy=f"write '{device}: {access}' in the 'reach' of pool '{fitting}'"
            if fitting
            else f"describe a pool with 'role: {role}'",
        )
