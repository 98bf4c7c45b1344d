# SPDX-License-Identifier: Apache-2.0
"""What can be written at a place of a description: keys, names, words, and units."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from atoll.description.accelerator_files import known_accelerators
from atoll.description.core_files import known_cores
from atoll.description.json_schemas import shape_of
from atoll.description.shape import Shape, child_of, resolve_shape, shape_at
from atoll.description.share import shared_folder, shipped_names
from atoll.description.tree import Key, plain
from atoll.records import dataclass
from atoll_lsp.analysis import Analysis, Kind
from atoll_lsp.cursor import Cursor
from atoll_lsp.names import names_in, table_of_key, table_of_value

Sort = Literal["key", "name", "word", "unit"]

_UNITS = {"KiB": ("B", "KiB", "MiB", "GiB"), "MHz": ("Hz", "kHz", "MHz", "GHz")}
"""Units of quantities, by the one that tells a pattern of such."""

_NUMBER = re.compile(r"[0-9][0-9_]*(?:\.[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that can be written.

    Attributes:
        text: replaces the word before the cursor.
        about: what it means, in the words of the schema.
    """

    text: str
    sort: Sort
    about: str = ""


def offers(kind: Kind, cursor: Cursor, known: Analysis | None, own: frozenset[str]) -> list[Offer]:
    """Return what can be written at `cursor`.

    Args:
        kind: what the file describes.
        cursor: the place.
        known: of the last state of the file that was YAML.
        own: the keys that the mapping around the cursor has in this file.
    """
    data = plain(known.root) if known and known.root else {}
    found = _Place(shape_of(kind), kind, _merge(data, cursor.before), known)
    given: list[Offer] = []
    if cursor.writes_key:
        given += found.keys(cursor.path, own)
    if cursor.writes_value:
        given += found.values(cursor.path, cursor.word)
    return list({each.text: each for each in given}.values())


def shape_for(kind: Kind, path: Key, data: Any) -> Shape:
    """Return what the schema says of the value at `path`, its own words on it included."""
    schema = shape_of(kind)
    if not path:
        return schema
    said = child_of(shape_at(schema, path[:-1], data), path[-1])
    whole = resolve_shape(said, schema, _at(data, path))
    return {**whole, **{key: said[key] for key in ("description", "default") if key in said}}


def _merge(below: Any, above: Any) -> Any:
    """Return nested mappings of two sources; what is before the cursor counts."""
    if isinstance(below, list) and isinstance(above, dict):
        return {**{str(n): item for n, item in enumerate(below)}, **above}
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: _merge(below.get(key), item) for key, item in above.items()}}


def _at(data: Any, path: Key) -> Any:
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
    return data


@dataclass(frozen=True, slots=True)
class _Place:
    schema: Shape
    kind: Kind
    data: Any
    known: Analysis | None

    def keys(self, path: Key, own: frozenset[str]) -> Iterator[Offer]:
        """Yield the keys that a mapping may have and has not."""
        shape = shape_at(self.schema, path, self.data)
        if "discriminator" in (said := self._alternatives(path)):
            shape = {"properties": self._of_every_kind(said)}
        for key, child in shape.get("properties", {}).items():
            if key not in own:
                yield Offer(key, "key", self._about(child))
        for name in self._names(table_of_key((*path, ""))):
            if name not in own:
                yield Offer(name, "name", _device_words(self.data, name))
        if path[:1] == ("devices",) and path[2:] == ("params",):
            yield from self._parameters(path[1], own)

    def values(self, path: Key, word: str) -> Iterator[Offer]:
        """Yield the values that a key or an item may have."""
        tagged = self._alternatives(path[:-1])
        if tagged and path[-1] == tagged["discriminator"]["propertyName"]:
            for tag in tagged["discriminator"]["mapping"]:
                yield Offer(tag, "word")
        said = child_of(shape_at(self.schema, path[:-1], self.data), path[-1])
        about = self._about(said)
        for part in _parts(said, self.schema):
            for choice in _choices(part):
                yield Offer(choice, "word", about)
            yield from _quantities(part, word, about)
        for name in self._names(table_of_value(path)):
            yield Offer(name, "name", about)
        for name in _installed_names(path) if self.kind == "soc" else ():
            yield Offer(name, "name", about)
        for example in said.get("examples", ()):
            if isinstance(example, str) and not word:
                yield Offer(example, "word", f"{about} For example.".strip())

    def _alternatives(self, path: Key) -> Shape:
        """Return the alternatives at a place of which none is chosen yet, else nothing."""
        said = child_of(shape_at(self.schema, path[:-1], self.data), path[-1]) if path else {}
        tag = said.get("discriminator", {}).get("propertyName")
        value = _at(self.data, (*path, tag)) if tag else None
        return said if tag and value not in said["discriminator"]["mapping"] else {}

    def _of_every_kind(self, said: Shape) -> dict[str, Any]:
        shapes = (
            resolve_shape({"$ref": target}, self.schema, None)
            for target in said["discriminator"]["mapping"].values()
        )
        first, *rest = ({**shape["properties"]} for shape in shapes)
        return {key: first[key] for key in first if all(key in each for each in rest)}

    def _about(self, said: Shape) -> str:
        whole = {**resolve_shape(said, self.schema, None), **said}
        default = whole.get("default")
        words = str(whole.get("description", "")).partition("\n")[0]
        words = words or ", ".join(c for part in _parts(said, self.schema) for c in _choices(part))
        is_plain = isinstance(default, str | int | float | bool)
        return f"{words} Default: {_yaml_word(default)}.".strip() if is_plain else words

    def _names(self, table: str | None) -> tuple[str, ...]:
        if table is None or self.kind != "soc":
            return ()
        if table.startswith("threads."):
            core = _at(self.data, ("devices", table.partition(".")[2], "stack", "threads"))
            return tuple(core) if isinstance(core, dict) else ()
        return names_in(self.data)[table]

    def _parameters(self, device: str, own: frozenset[str]) -> Iterator[Offer]:
        said = self.known.description if self.known else None
        part = said.accelerators.get(device) if said else None
        for name, parameter in part.model.parameters.items() if part else ():
            if name not in own:
                yield Offer(name, "key", f"Default: {parameter.default}.")


def _device_words(data: Any, name: str) -> str:
    kind = _at(data, ("devices", name, "kind"))
    return f"The device '{name}', kind: {kind}." if isinstance(kind, str) else ""


def _parts(shape: Shape, schema: Shape) -> Iterator[Shape]:
    """Yield the alternatives of a shape that are no alternatives themselves."""
    if "$ref" in shape:
        yield from _parts(resolve_shape({"$ref": shape["$ref"]}, schema, None), schema)
    for part in shape.get("anyOf", ()):
        yield from _parts(part, schema)
    if "$ref" not in shape and "anyOf" not in shape:
        yield shape


def _choices(shape: Shape) -> Iterator[str]:
    if shape.get("type") == "boolean":
        yield from ("true", "false")
    if "const" in shape:
        yield _yaml_word(shape["const"])
    yield from map(_yaml_word, shape.get("enum", ()))


def _yaml_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quantities(shape: Shape, word: str, about: str) -> Iterator[Offer]:
    number = _NUMBER.match(word)
    for sign, units in _UNITS.items():
        if sign in str(shape.get("pattern", "")):
            for unit in units:
                yield Offer(f"{number[0] if number else 1} {unit}", "unit", about)


def _installed_names(path: Key) -> tuple[str, ...]:
    match path:
        case ("devices", _, "core"):
            return known_cores()
        case ("devices", _, "accelerator" | "engine"):
            return known_accelerators()
        case ("extends",):
            return shipped_names(shared_folder("socs"))
    return ()
