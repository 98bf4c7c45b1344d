# SPDX-License-Identifier: Apache-2.0
"""Who may touch which pool: every pair is decided, and every device can work."""

from collections.abc import Mapping
from itertools import count, groupby

from atoll.description.chip import Memory as MemoryModel
from atoll.description.chip import Pool as PoolModel
from atoll.description.devices import Npu
from atoll.description.faults import note
from atoll.description.remedies import put, remove
from atoll.diagnostics.edit import Remedy
from atoll.diagnostics.units import format_size
from atoll.resolve.draft import Draft
from atoll.resolve.reach import (
    ACCESS_OF_ROLE,
    access_of,
    decision,
    decisions,
    suitable,
    undecided_devices,
)
from atoll.resolve.soc import Access, Memory, Pool, PoolSpeed, Region

_BLOCK = 16
"""Alignment of a heap's blocks, bytes."""

_KINDS_OF_ROLE = {"constants": ("rom", "ram"), "workspace": ("ram",), "both": ("ram",)}
_KINDS_OF_ROLE |= {"state": ("ram",)}


_LINKERS_OWN = (
    *("ARM", "COMMON", "atoll", "bss", "comment", "data", "debug", "eh_frame", "got", "iplt"),
    *("note", "plt", "rel", "rela", "riscv", "rodata", "sbss", "sdata", "shstrtab", "srodata"),
    *("strtab", "symtab", "text", "vectors"),
)
"""First parts of names of sections that linker scripts place."""


def check_pools(draft: Draft) -> None:
    """Note undecided pairs, accesses that a memory cannot give, and devices without pools."""
    for name, pool in draft.pools():
        _check_memory_kind(draft, name, pool)
        _check_filling(draft, name, pool)
        _check_heap(draft, name, pool)
        _check_section(draft, name, pool)
        _check_speed(draft, name, pool)
        if missing := undecided_devices(draft, name):
            _note_undecided(draft, name, pool, missing)
        reach = {access_of(draft, name, device, "rw") for device, _ in draft.devices()}
        if reach == {"none"} and draft.whole("devices"):
            draft.faults.add(
                "E036",
                f"no device reaches pool '{name}'",
                at=draft.where.key_at("pools", name, "reach"),
                remedy="let a device reach it, or delete the pool",
            )
    workers = [
        name
        for name, device in draft.devices()
        if isinstance(device, Npu) and draft.knows("devices", name, "kind")
    ]
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
    clock = draft.soc.devices[draft.host or ""].clock
    return tuple(
        Pool(
            name=name,
            region=regions[name],
            role=pool.role,
            alignment=pool.alignment,
            preference=pool.preference,
            reach={device: Access(each.access) for device, each in decisions(draft, name)},
            provided=pool.provided,
            section=pool.section,
            speed=speed_of(pool, draft.soc.memories[pool.memory], clock),
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


def speed_of(pool: PoolModel, memory: MemoryModel | Memory, clock: int) -> PoolSpeed:
    """Return how fast a pool is: what is not said is as its memory, at the clock of the host."""
    return PoolSpeed(
        read_bandwidth=pool.read_bandwidth or memory.width,
        write_bandwidth=pool.write_bandwidth or memory.width,
        latency=memory.read_latency if pool.latency is None else pool.latency,
        burst=pool.burst or 0,
        clock=pool.clock or clock,
    )


def _check_speed(draft: Draft, name: str, pool: PoolModel) -> None:
    memory = draft.soc.memories.get(pool.memory)
    if not draft.knows("memories", pool.memory):
        return
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


def _note_undecided(draft: Draft, name: str, pool: PoolModel, missing: tuple[str, ...]) -> None:
    """Note the pairs of one pool; where another file adds the devices, at the first of these."""
    where = draft.where
    at, added = where.key_at("pools", name, "reach"), where.key_at("devices", missing[0])
    elsewhere = at and added and at.path != added.path
    entries = ", ".join(f"{device}: {suitable(draft, pool, device)}" for device in missing)
    draft.faults.add(
        "E033",
        f"pool '{name}' does not say whether {_list_names(missing)}"
        f" {'reaches' if len(missing) == 1 else 'reach'} it",
        at=added if elsewhere else at,
        other=note(at, "the pool is here") if elsewhere else None,
        remedy=f"add '{entries}' to 'pools.{name}.reach' ('none' where it does not reach it),"
        " or 'others: none' to the pool",
    )


def _list_names(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " and ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)


def _check_memory_kind(draft: Draft, name: str, pool: PoolModel) -> None:
    memory = draft.soc.memories.get(pool.memory)
    if memory is None or not _knows_place(draft, name, pool):
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
    if memory.kind == "ram":
        return
    writing = [(each.key, device) for device, each in decisions(draft, name) if each.access == "rw"]
    for key, group in groupby(sorted(writing), lambda item: item[0]):
        draft.faults.add(
            "E034",
            f"{_list_names(tuple(device for _, device in group))} cannot write pool '{name}',"
            f" because memory '{pool.memory}' is rom",
            at=draft.where.at(*key),
            remedy=f"write '{key[-1]}: ro'",
        )


def _check_filling(draft: Draft, name: str, pool: PoolModel) -> None:
    """Constants come with the image; in RAM the host writes them before anything runs."""
    memory = draft.soc.memories.get(pool.memory)
    if pool.role in ("workspace", "state") or memory is None or not _knows_place(draft, name, pool):
        return
    if pool.provided == "application" and pool.role == "both":
        draft.faults.add(
            "E034",
            f"pool '{name}' is for constants and workspace: an application provides either, not"
            " both in one pool",
            at=draft.where.at("pools", name, "provided"),
            remedy="delete 'provided', or use 'role: workspace' or 'role: constants'",
        )
    filling = decision(draft, name, draft.host or "")
    if memory.kind == "ram" and filling and filling.access != "rw":
        draft.faults.add(
            "E034",
            f"pool '{name}' is for constants in RAM, which '{draft.host}' cannot fill at start",
            at=draft.where.at(*filling.key),
            remedy=f"write '{draft.host}: rw' in its 'reach', or put the pool in a memory of"
            " kind rom",
        )


def _check_heap(draft: Draft, name: str, pool: PoolModel) -> None:
    """Blocks are given out by the host, which writes them, in memory that the image knows."""
    at = draft.where.at("pools", name, "heap")
    if pool.heap % _BLOCK:
        draft.faults.add(
            "E035",
            f"the heap of pool '{name}' has {pool.heap} bytes, not a multiple of {_BLOCK}",
            at=at,
            remedy=f"use {-(-pool.heap // _BLOCK) * _BLOCK}, for example",
        )
    reasons = {
        f"it is for {pool.role}": pool.role in ("constants", "state"),
        "the application provides it": pool.provided == "application",
        f"'{draft.host}' cannot write it": access_of(draft, name, draft.host or "", "rw") != "rw",
    }
    reason = next((reason for reason, holds in reasons.items() if holds), None)
    if pool.heap and reason and draft.knows("pools", name):
        draft.faults.add(
            "E034",
            f"pool '{name}' cannot keep a heap: {reason}",
            at=at,
            remedy="delete 'heap', or keep it in another pool",
        )


def _check_section(draft: Draft, name: str, pool: PoolModel) -> None:
    """An application's section is its own, and belongs to one pool."""
    section = pool.section
    if section is None:
        return
    key = ("pools", name, "section")
    at, gone = draft.where.at(*key), remove(*key)
    if pool.provided != "application":
        draft.faults.add(
            "E218",
            f"pool '{name}' has section '{section}' of the application, which does not provide it",
            at=at,
            remedy=gone
            if pool.role in ("both", "state")
            else put(("pools", name, "provided"), "application")
            | Remedy("remove 'section'", gone.fixes),
        )
    if _parts(section)[0] in _LINKERS_OWN:
        draft.faults.add(
            "E218",
            f"section '{section}' of pool '{name}' is one that linker scripts place elsewhere",
            at=at,
            remedy=put(key, _own_section(draft, name)),
        )
    for other, earlier in draft.pools():
        if other == name:
            break
        if earlier.section and _is_nested(earlier.section, section):
            draft.faults.add(
                "E219",
                f"section '{section}' of pool '{name}' and section '{earlier.section}' of pool"
                f" '{other}' would take each other's bytes",
                at=at,
                other=note(draft.where.at("pools", other, "section"), "the other one is here"),
                remedy=put(key, _own_section(draft, name)),
            )


def _own_section(draft: Draft, name: str) -> str:
    """Return a section for a pool that is nobody's."""
    taken = [pool.section for _, pool in draft.pools() if pool.section]
    words = (f"{name.upper()}{'_POOL' * number}" for number in count())
    return next(
        word
        for word in words
        if word not in _LINKERS_OWN and not any(_is_nested(word, each) for each in taken)
    )


def _parts(section: str) -> tuple[str, ...]:
    return tuple(section.strip(".").split("."))


def _is_nested(one: str, other: str) -> bool:
    """Tell whether a name is the other one, or that with a dot and more behind it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _knows_place(draft: Draft, name: str, pool: PoolModel) -> bool:
    keys = (("pools", name, "memory"), ("pools", name, "role"), ("memories", pool.memory, "kind"))
    return all(draft.knows(*key) for key in keys)


def _check_reach(draft: Draft, device: str) -> None:
    if not draft.whole("pools"):
        return
    for role, access in ACCESS_OF_ROLE.items():
        if role == "constants" and draft.may_run_program(device):
            continue
        pools = {
            name: pool
            for name, pool in draft.pools()
            if pool.role in (role, "both") or not draft.knows("pools", name, "role")
        }
        if any(access_of(draft, name, device, "rw") in (access, "rw") for name in pools):
            continue
        fitting = next(iter(pools), None)
        draft.faults.add(
            "E036",
            f"'{device}' reaches no pool for {role}",
            at=draft.where.key_at("devices", device),
            remedy=f"write '{device}: {suitable(draft, pools[fitting], device)}' in the 'reach'"
            f" of pool '{fitting}'"
            if fitting
            else f"describe a pool with 'role: {role}'",
        )
