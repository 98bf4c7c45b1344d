# SPDX-License-Identifier: Apache-2.0
"""Every name in the description must mean something in it."""

from collections.abc import Container, Iterator, Mapping

from atoll.description.devices import Device, Dma, Npu
from atoll.description.faults import nearest
from atoll.description.tree import Key
from atoll.resolve.draft import Draft
from atoll.resolve.storage_scope import GLOBAL, LOCAL, REGISTERS, STACK, WORKSPACE

_POOL_WORDS = frozenset({STACK, WORKSPACE, REGISTERS})
_DEVICE_WORDS = frozenset({GLOBAL, LOCAL})


def check_references(draft: Draft) -> None:
    """Note each memory and device that is named and not described."""
    memories, devices = draft.soc.memories, draft.soc.devices
    for key, name in _memory_names(draft):
        if name not in memories and draft.knows(*key) and draft.knows_names("memories"):
            _unknown(draft, "E020", "memory", key, name, tuple(memories))
    for key, name in _device_names(draft):
        if name not in devices and draft.knows(*key) and draft.knows_names("devices"):
            _unknown(draft, "E021", "device", key, name, tuple(devices))


def check_reserved(draft: Draft) -> None:
    """Note each pool or device whose name is a word of storage scopes (C1)."""
    for key in [("pools", name) for name in draft.soc.pools if name in _POOL_WORDS] + [
        ("devices", name) for name in draft.soc.devices if name in _DEVICE_WORDS
    ]:
        draft.faults.add(
            "E014",
            f"'{'.'.join(key)}': '{key[1]}' is a word of storage scopes and no name",
            at=draft.where.key_at(*key),
            remedy="choose another name, and change it everywhere",
        )


def _unknown(
    draft: Draft, code: str, what: str, key: Key, name: str, known: tuple[str, ...]
) -> None:
    is_key = key[-1] == name and key[-2:-1] in (("reach",), ("views",), ("masters",))
    otherwise = f"describe a {what} '{name}'"
    if is_key:
        named = _names_beside(draft, key)
        known = tuple(word for word in known if word not in named)
        otherwise = "delete it"
    draft.faults.add(
        code,
        f"'{'.'.join(key[:-1] if is_key else key)}' names {what} '{name}', which is not described",
        at=draft.where.key_at(*key) if is_key else draft.where.at(*key),
        remedy=nearest(name, known, otherwise),
    )


def _names_beside(draft: Draft, key: Key) -> Container[str]:
    """Return the names in a mapping by name."""
    if key[2] == "reach":
        return draft.soc.pools[key[1]].reach
    unit = draft.soc.memories[key[1]].isolation if key[-2] == "masters" else None
    return unit.masters if unit else views_of(draft)[key[:2]]


def views_of(draft: Draft) -> dict[Key, Mapping[str, int]]:
    """Return the views of each memory and device, by its key."""
    memories = ((("memories", name), each.views) for name, each in draft.soc.memories.items())
    devices = ((("devices", name), views) for name, views in draft.device_views())
    return {**dict(memories), **dict(devices)}


def _memory_names(draft: Draft) -> Iterator[tuple[Key, str]]:
    for name, cpu in draft.cpus():
        yield ("devices", name, "stack", "memory"), cpu.stack.memory
        for part, span in (("code", cpu.code), ("load", cpu.load), ("data", cpu.data)):
            if span is not None and span.memory is not None:
                yield ("devices", name, part, "memory"), span.memory
        if isinstance(cpu.mailbox, str):
            yield ("devices", name, "mailbox"), cpu.mailbox
    for name, device in draft.devices():
        yield from _memories_of_engine(("devices", name), device)
    for name, pool in draft.pools():
        yield ("pools", name, "memory"), pool.memory
    for name, described in draft.soc.memories.items():
        if described.real is not None:
            yield ("memories", name, "alias_of"), described.real


def _memories_of_engine(key: Key, device: Device) -> Iterator[tuple[Key, str]]:
    if isinstance(device, Dma):
        for index, pair in enumerate(device.moves):
            for end, memory in enumerate(pair):
                yield (*key, "moves", str(index), str(end)), memory
    if isinstance(device, Npu) and device.cache:
        for index, memory in enumerate(device.cache.memories or ()):
            yield (*key, "cache", "memories", str(index)), memory


def _device_names(draft: Draft) -> Iterator[tuple[Key, str]]:
    for pool_name, pool in draft.pools():
        for device in pool.reach:
            yield ("pools", pool_name, "reach", device), device
    for memory_name, memory in draft.soc.memories.items():
        for device in memory.isolation.masters if memory.isolation else ():
            yield ("memories", memory_name, "isolation", "masters", device), device
    for part, views in views_of(draft).items():
        for device in views:
            yield (*part, "views", device), device
    if draft.soc.host is not None:
        yield ("host",), draft.soc.host
    if draft.soc.default_device is not None:
        yield ("default_device",), draft.soc.default_device
    if draft.soc.mpool is not None:
        yield ("mpool", "device"), draft.soc.mpool.device
