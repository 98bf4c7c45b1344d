# SPDX-License-Identifier: Apache-2.0
"""Who may do what with which pool, and which line of the description says so.

From the strongest to the weakest: the pool's entry for the device, the pool's `others`, the
device's default, the default of the pool's memory. A default of ``rw`` means ``ro`` in a ROM.

A device without a port to memory reaches what the host does, which moves its data.
"""

from collections.abc import Iterator
from difflib import get_close_matches

from atoll.description.chip import Pool
from atoll.description.tree import Key
from atoll.records import dataclass
from atoll.resolve.draft import Draft

ACCESS_OF_ROLE = {"constants": "ro", "workspace": "rw"}
_CLOSE = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The access of a device to a pool.

    Attributes:
        key: of the description's value that decides.
        weakened: a default of ``rw`` is ``ro`` here, because the memory is ROM.
    """

    access: str
    key: Key
    weakened: bool = False

    def layer(self, draft: Draft) -> str:
        """Name the layer that set it; a value that speaks for several pairs is named as well."""
        layer = draft.where.layer(*self.key)
        if self.key[-2] == "reach":
            return layer
        return ", ".join((".".join(self.key), *(["as ro of a rom"] * self.weakened), layer))


def decision(draft: Draft, name: str, device: str) -> Decision | None:
    """Return what decides the access of `device` to pool `name`, None if nothing known does."""
    for key, access in _layers(draft, name, draft.hands(device)):
        if not draft.knows(*key):
            return None
        if access is not None:
            return _decide(draft, name, access, key)
    return None


def _decide(draft: Draft, name: str, access: str, key: Key) -> Decision:
    memory = draft.soc.memories.get(draft.soc.pools[name].memory)
    weakened = key[0] != "pools" and access == "rw" and memory is not None and memory.kind == "rom"
    return Decision(access="ro" if weakened else access, key=key, weakened=weakened)


def _layers(draft: Draft, name: str, device: str) -> Iterator[tuple[Key, str | None]]:
    """Yield what could decide, the strongest first; a memory's default only if it is known."""
    pool = draft.soc.pools[name]
    yield ("pools", name, "reach", device), pool.reach.get(device)
    yield ("pools", name, "others"), pool.others
    described = draft.soc.devices.get(device)
    yield ("devices", device, "reach"), described.reach if described else None
    if not draft.knows("pools", name, "memory"):
        yield ("pools", name, "memory"), None
    elif pool.memory in draft.soc.memories:
        yield ("memories", pool.memory, "reach"), draft.soc.memories[pool.memory].reach


def access_of(draft: Draft, name: str, device: str, otherwise: str) -> str:
    """Return the access of `device` to pool `name`, `otherwise` where nothing decides it."""
    decided = decision(draft, name, device)
    return decided.access if decided else otherwise


def decisions(draft: Draft, name: str) -> Iterator[tuple[str, Decision]]:
    """Yield each described device whose access to pool `name` is decided."""
    for device, _ in draft.devices():
        if decided := decision(draft, name, device):
            yield device, decided


def undecided_devices(draft: Draft, name: str) -> tuple[str, ...]:
    """Return the devices of which pool `name` says nothing, not even under a misspelt name."""
    strangers = [word for word in draft.soc.pools[name].reach if word not in draft.soc.devices]
    missing = [
        device
        for device, _ in draft.devices()
        if draft.moves_data(device)
        and all(
            access is None and draft.knows(*key) for key, access in _layers(draft, name, device)
        )
    ]
    meant = {match for word in strangers for match in get_close_matches(word, missing, n=_CLOSE)}
    return tuple(device for device in missing if device not in meant)


def suitable(draft: Draft, pool: Pool, device: str) -> str:
    """Return the access with which `device` can use `pool` for all that its role is."""
    memory = draft.soc.memories.get(pool.memory)
    in_rom = memory is not None and memory.kind == "rom"
    if device == draft.host and not in_rom:
        return "rw"
    return "ro" if in_rom else ACCESS_OF_ROLE.get(pool.role, "rw")
