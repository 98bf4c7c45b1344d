# SPDX-License-Identifier: Apache-2.0
"""A chip that differs from one that was resolved before in clocks and latencies alone.

No rule depends on these: they take the place of those of the other chip.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from atoll.description.chip import Soc
from atoll.description.faults import Faults
from atoll.description.fields import Frequency, Latency
from atoll.description.loader import Description, describe, load_parts
from atoll.description.tree import Entry, Node, Scalar, SourceMap, Table
from atoll.resolve.draft import Draft
from atoll.resolve.engine_widths import with_widths
from atoll.resolve.pools import speed_of
from atoll.resolve.resolver import resolve
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import share_timeless
from atoll.utils.lazy import LazyTable
from atoll.utils.remember import Alike, remember

CHIPS_AT_HAND = 64
"""Chips that a process keeps by what they are beside speeds, and chips that were made of them."""

_ANY = Scalar("any", None)
_ALIAS = "alias_of"
"""A key of memories whose latencies are those of others."""


@dataclass(frozen=True, slots=True)
class _Parted:
    """A description, and the speeds in it by the names of devices and of memories.

    Attributes:
        bare: the description without them.
    """

    where: SourceMap
    bare: Node
    clocks: dict[str, int]
    latencies: dict[str, int]


def resolve_at_speeds(root: Node, folder: Path) -> ResolvedSoc | None:
    """Return what `root` implies, None where speeds do not tell it from another chip.

    Raises:
        DescriptionError: the description cannot mean a buildable chip.
    """
    parted = _part(root)
    if parted is None:
        return None
    first = _resolve_first(parted, folder)
    told, faults = first.source, Faults()
    assert told is not None
    if told.where is parted.where:
        return first
    parts = load_parts(told.soc, told.where, told.gaps, folder, faults)
    if faults.found or parts != (told.accelerators, told.cores, told.function_units):
        return None  # a file of a core or an accelerator has changed
    return _at_speeds(first, parted)


def _part(root: Node) -> _Parted | None:
    if not isinstance(root, Table):
        return None
    entries = dict(root.entries)
    clocks = _take_out(entries, "devices", "clock")
    latencies = _take_out(entries, "memories", "read_latency")
    if clocks is None or latencies is None:
        return None
    return _Parted(SourceMap(root), Table(entries, root.at), clocks, latencies)


def _take_out(entries: dict[str, Entry], section: str, key: str) -> dict[str, int] | None:
    """Take the values of a key of all devices or memories out; return them, None if one is none."""
    found: dict[str, int] = {}
    table = entries[section].value if section in entries else None
    if not isinstance(table, Table):
        return None
    named = dict(table.entries)
    for name, entry in table.entries.items():
        inner = entry.value.entries if isinstance(entry.value, Table) else {}
        if _ALIAS in inner:
            return None
        if key in inner:
            value = inner[key].value
            try:
                found[name] = _type_of(key).validate_python(getattr(value, "value", None))
            except ValidationError:
                return None
            bare = {**inner, key: Entry(inner[key].key_at, _ANY)}
            named[name] = Entry(entry.key_at, Table(bare, entry.value.at))
    entries[section] = Entry(entries[section].key_at, Table(named, table.at))
    return found


@cache
def _type_of(key: str) -> TypeAdapter[int]:
    return TypeAdapter(Frequency if key == "clock" else Latency)


def _first_key(parted: _Parted, folder: Path) -> Alike:
    scalars = (
        entry.value.value
        for key, entry in parted.where.entries.items()
        if isinstance(entry.value, Scalar) and key[2:] not in (("clock",), ("read_latency",))
    )
    return Alike((folder, *scalars), parted.bare)


@remember(_first_key, most=CHIPS_AT_HAND)
def _resolve_first(parted: _Parted, folder: Path) -> ResolvedSoc:
    return resolve(describe(parted.where, folder, Faults()))


def _speeds_key(first: ResolvedSoc, parted: _Parted) -> Alike:
    sign = first.shape_sign, *parted.clocks.values(), *parted.latencies.values()
    return Alike(sign, first.source, parted.where)


@remember(_speeds_key, most=CHIPS_AT_HAND)
def _at_speeds(first: ResolvedSoc, parted: _Parted) -> ResolvedSoc:
    told = first.source
    assert told is not None
    if parted.where == told.where:
        return first  # asked again
    description = replace(told, where=parted.where, soc=_model(told, parted))
    draft = Draft(description=description, faults=Faults())
    memories = tuple(
        replace(each, read_latency=parted.latencies.get(each.name, each.read_latency))
        for each in first.memories
    )
    pools = tuple(
        replace(each, speed=speed_of(draft, draft.soc.pools[each.name])) for each in first.pools
    )
    devices = tuple(
        replace(each, clock=parted.clocks.get(each.name, each.clock)) for each in first.devices
    )
    made = replace(
        first,
        devices=with_widths(devices, pools, memories, first.host),
        memories=memories,
        pools=pools,
        layers=LazyTable(lambda: resolve(description).layers),
        source=description,
    )
    return share_timeless(made, first)


def _model(told: Description, parted: _Parted) -> Soc:
    """Return the model of a description with its speeds."""
    devices, memories = dict(told.soc.devices), dict(told.soc.memories)
    for name, clock in parted.clocks.items():
        devices[name] = devices[name].model_copy(update={"clock": clock})
    for name, latency in parted.latencies.items():
        memories[name] = memories[name].model_copy(update={"read_latency": latency})
    return told.soc.model_copy(update={"devices": devices, "memories": memories})
