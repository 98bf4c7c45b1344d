# SPDX-License-Identifier: Apache-2.0
"""What a description comes to: the value of a key and the layer that set it; bytes left."""

from collections.abc import Iterator, Mapping
from typing import Any

from atoll.description.edits import to_yaml_line
from atoll.description.text_places import TextPlaces, canonical_key
from atoll.description.tree import Key, inside, plain
from atoll.diagnostics.units import format_size
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table
from atoll_lsp.analysis import Analysis
from atoll_lsp.completion import shape_for

_CELLS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("memories", "origin"): ("memories", "from"),
    ("memories", "size"): ("memories", "size"),
    ("memories", "kind"): ("memories", "kind"),
    ("memories", "width"): ("memories", "width"),
    ("memories", "banks"): ("memories", "banks"),
    ("memories", "read_latency"): ("memories", "read latency"),
    ("pools", "memory"): ("pools", "memory"),
    ("pools", "role"): ("pools", "role"),
    ("pools", "size"): ("pools", "size"),
    ("pools", "alignment"): ("pools", "align"),
    ("pools", "preference"): ("pools", "preference"),
    ("pools", "read_bandwidth"): ("speeds", "read"),
    ("pools", "write_bandwidth"): ("speeds", "write"),
    ("pools", "latency"): ("speeds", "latency"),
    ("pools", "burst"): ("speeds", "burst"),
    ("pools", "clock"): ("speeds", "clock"),
    ("devices", "kind"): ("devices", "kind"),
    ("devices", "clock"): ("devices", "clock"),
    ("devices", "loader"): ("devices", "loader"),
}
"""Where `atoll explain` has the value of a key: its table and column."""


def hover_text(known: Analysis, key: Key) -> str | None:
    """Return what there is to say of the value at `key`, as Markdown; None if nothing is known."""
    key = canonical_key(key)
    data = plain(known.root) if known.root else {}
    said = list(_explanation(known, key)) if known.soc else []
    if not said and (written := _value_text(data, key)) is not None:
        said.append(f"`{written}`")
    about = str(shape_for(known.kind, key, data).get("description", "")).partition("\n")[0]
    said += [about] if about else []
    return "\n\n".join([f"**{'.'.join(key)}**", *said]) if said else None


def _explanation(known: Analysis, key: Key) -> Iterator[str]:
    """Yield what `atoll explain` says of a key."""
    tables = {each.key: each for each in known.tables._tables} if known.tables else {}
    if len(key) == 2 and (row := _row(tables, key[0], key[1])):
        yield "\n".join(f"- {name}: {value}" for name, value in row.items() if value)
    elif value := _value(known, tables, key):
        yield f"`{value}`"
    if layer := known.layers.get(".".join(key)):
        yield f"set by: {layer}"


def _row(tables: Mapping[str, Table], table: str, name: str) -> Mapping[str, str]:
    """Return the row of a table that begins with `name`, by column."""
    if (found := tables.get(table)) is None:
        return {}
    rows = (dict(zip(found.columns, map(str, row), strict=True)) for row in found.rows)
    return next((row for row in rows if row[found.columns[0]] == name), {})


def _value(known: Analysis, tables: Mapping[str, Table], key: Key) -> str | None:
    if len(key) == 3 and (cell := _CELLS.get((key[0], key[2]))):
        return _row(tables, cell[0], key[1]).get(cell[1])
    if key[0] == "pools" and key[2:3] == ("reach",) and len(key) == 4 and known.tables:
        rows = known.tables.rows("reach_layers")
        here = [row for row in rows if (row["pool"], row["device"]) == (key[1], key[3])]
        return str(here[0]["access"]) if here else None
    if (written := _value_text(plain(known.root) if known.root else {}, key)) is not None:
        return written
    default = dict(known.description.values()).get(key) if known.description else None
    return None if default is None else to_yaml_line(default)


def _value_text(data: Any, key: Key) -> str | None:
    for name in key:
        data = inside(data, name)
    return None if data is None or isinstance(data, dict | list) else to_yaml_line(data)


def bytes_left(known: Analysis, places: TextPlaces) -> Iterator[tuple[int, str]]:
    """Yield what is left of each memory and pool of a chip, with the index behind its name."""
    if known.soc is None:
        return
    left = dict(_free_room(known.soc._resolved))
    for key, place in places.entries.items():
        if place.name and len(key) == 2 and (words := left.get(canonical_key(key))):
            yield place.name[1], words


def _free_room(soc: ResolvedSoc) -> Iterator[tuple[Key, str]]:
    for memory in soc.memories:
        taken = [(each.origin, each.end) for each in soc.regions() if each.memory == memory.name]
        left = memory.size - _covered_bytes(taken)
        yield ("memories", memory.name), f"{format_size(left)} of {format_size(memory.size)} left"
    for pool in soc.pools:
        room = format_size(pool.room)
        yield ("pools", pool.name), f"{room} for buffers"


def _covered_bytes(spans: list[tuple[int, int]]) -> int:
    """Return the bytes that lie in at least one span."""
    count, reached = 0, 0
    for begin, end in sorted(spans):
        count += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return count
