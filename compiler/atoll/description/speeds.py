# SPDX-License-Identifier: Apache-2.0
"""Clocks and latencies of a description apart from all else: no rule depends on these."""

from functools import cache

from pydantic import TypeAdapter, ValidationError

from atoll.description.chip import Soc
from atoll.description.fields import Frequency, Latency
from atoll.description.tree import Entry, Node, Scalar, SourceMap, Table
from atoll.records import dataclass

_ANY = Scalar("any", None)
_ALIAS = "alias_of"
"""A key of memories whose latencies are those of others."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A description, and the speeds in it by the names of devices and of memories.

    Attributes:
        where: the places of all that it says.
        bare: the description without them.
    """

    where: SourceMap
    bare: Node
    clocks: dict[str, int]
    latencies: dict[str, int]


def part_speeds(root: Node) -> Parted | None:
    """Return a description and its speeds, None where some cannot be read or follow from others."""
    if not isinstance(root, Table):
        return None
    entries = dict(root.entries)
    clocks = _take_out(entries, "devices", "clock")
    latencies = _take_out(entries, "memories", "read_latency")
    if clocks is None or latencies is None:
        return None
    return Parted(SourceMap(root), Table(entries, root.at), clocks, latencies)


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


def with_speeds(soc: Soc, parted: Parted) -> Soc:
    """Return the model of a description that differs from that of `soc` in its speeds alone."""
    devices, memories = dict(soc.devices), dict(soc.memories)
    for name, clock in parted.clocks.items():
        devices[name] = devices[name].model_copy(update={"clock": clock})
    for name, latency in parted.latencies.items():
        memories[name] = memories[name].model_copy(update={"read_latency": latency})
    return soc.model_copy(update={"devices": devices, "memories": memories})
