# SPDX-License-Identifier: Apache-2.0
"""Which cores can have one data cache, and what they then say alike."""

from collections.abc import Mapping

from atoll.description.devices import Cache, Cpu
from atoll.description.faults import note
from atoll.description.remedies import put, remove
from atoll.diagnostics.edit import Remedy
from atoll.resolve.core_instances import MAINTAINED
from atoll.resolve.draft import Draft

_OF_ONE_CORE = "scb"
"""How a core maintains no cache but its own."""

Cores = Mapping[str, Cpu]
"""Those that have a cache, by name."""


def check_shared_caches(draft: Draft) -> None:
    """Note data caches that bear a name and yet cannot be one."""
    caches: dict[str, dict[str, Cpu]] = {}
    for name, cpu in draft.cpus():
        if cpu.cache and cpu.cache.shared and draft.knows("devices", name, "cache"):
            caches.setdefault(cpu.cache.shared, {})[name] = cpu
    for shared, cores in caches.items():
        if len(cores) > 1:
            _check_alike(draft, shared, cores)
            _check_views(draft, shared, cores)
            _check_maintenance(draft, shared, cores)
        elif draft.whole("devices"):
            (core,) = cores
            draft.faults.add(
                "E262",
                f"no other core than '{core}' has the data cache '{shared}'",
                at=draft.where.at("devices", core, "cache", "shared"),
                remedy=remove("devices", core, "cache", "shared")
                + ", or write it in 'cache' of all cores that have this one",
            )


def _check_alike(draft: Draft, shared: str, cores: Cores) -> None:
    (first, one), *others = cores.items()
    for name, other in others:
        keys = [
            key
            for key in Cache.model_fields
            if getattr(one.cache, key) != getattr(other.cache, key)
        ]
        if keys:
            draft.faults.add(
                "E262",
                f"'{first}' and '{name}' have one data cache, '{shared}', and say different "
                f"{', '.join(map(repr, keys))} of it",
                at=draft.where.at("devices", name, "cache", keys[0]),
                other=note(
                    draft.where.at("devices", first, "cache", keys[0]), f"what '{first}' says"
                ),
                remedy=_as_it_is(first, one, name, keys[0]),
            )


def _as_it_is(first: str, one: Cpu, name: str, key: str) -> Remedy:
    """Say to have a core say of the cache what the first one does."""
    wanted, place = getattr(one.cache, key), ("devices", name, "cache", key)
    if isinstance(wanted, int):
        value = str(wanted).lower() if isinstance(wanted, bool) else wanted
        return put(place, value) + ", or correct the other one"
    gone = place if wanted is None else ("devices", first, "cache", key)
    return remove(*gone) + ", or write the same in both"


def _check_views(draft: Draft, shared: str, cores: Cores) -> None:
    """Note memories that would be in the cache once for each address."""
    first, *others = cores
    for memory, described in draft.soc.memories.items():
        origin = described.views.get(first, described.origin)
        for name in others:
            seen = described.views.get(name, described.origin)
            if described.cached is not False and seen != origin:
                key = name if name in described.views else first
                draft.faults.add(
                    "E262",
                    f"'{first}' sees memory '{memory}' at {origin:#010x} and '{name}' at "
                    f"{seen:#010x}: their data cache '{shared}' would keep its bytes twice",
                    at=draft.where.at("memories", memory, "views", key),
                    other=note(
                        draft.where.at("devices", name, "cache", "shared"), "they share it here"
                    ),
                    remedy=remove("memories", memory, "views", key)
                    + ", or write 'cached: false' if no data cache works on it",
                )


def _check_maintenance(draft: Draft, shared: str, cores: Cores) -> None:
    """Note a cache that two cores would maintain at once, or that none of them can."""
    names = " and ".join(f"'{name}'" for name in cores)
    registers = [name for name, core in cores.items() if core.cache and core.cache.maintenance]
    if registers and draft.host in dict(draft.cpus()) and draft.host not in cores:
        one = registers[0]
        draft.faults.add(
            "E262",
            f"registers maintain '{shared}', the one data cache of {names}: they would write them"
            f" at once, since the host, '{draft.host}', does not have the cache",
            at=draft.where.at("devices", one, "cache", "maintenance"),
            other=note(draft.where.at("devices", one, "cache", "shared"), "it is shared here"),
            remedy=put(("host",), one) + ", or name cores whose instructions maintain it",
        )
    for name, core in cores.items():
        if name not in registers and MAINTAINED.get(core.isa[:4]) == _OF_ONE_CORE:
            draft.faults.add(
                "E262",
                f"'{name}' maintains its own data cache alone, and '{shared}' is that of {names}",
                at=draft.where.at("devices", name, "cache", "shared"),
                remedy=remove("devices", name, "cache", "shared")
                + ", or write 'maintenance': registers that maintain it for all of them",
            )
