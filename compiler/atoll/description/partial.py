# SPDX-License-Identifier: Apache-2.0
"""Check a document and repair a copy of it, so that one fault hides no other one.

A key that is misspelt is taken for the one that is meant. What is missing or refused becomes a
gap: the model holds a placeholder there, and later stages ask `Gaps` before they judge it.
"""

import re
from collections.abc import Container, Iterable
from itertools import chain, count
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from atoll.description.faults import Faults
from atoll.description.messages import Problem, problems, schema_of
from atoll.description.shape import Shape, child_of, free_child, keys_of, resolve_shape, shape_at
from atoll.description.tree import Entry, Key, Listing, Node, Plain, SourceMap, Table, inside, plain
from atoll.description.yaml_text import read_yaml
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Gaps:
    """Keys whose values are missing or refused; a model holds something arbitrary there."""

    keys: frozenset[Key] = frozenset()

    def knows(self, *key: str) -> bool:
        """Tell whether the value at `key`, with all around and below it, is as it was written."""
        return not (self.keys and any(gap[: len(key)] == key[: len(gap)] for gap in self.keys))

    def has(self, *key: str) -> bool:
        """Tell whether there is any value at `key`, be it with gaps below it."""
        return not (self.keys and any(gap == key[: len(gap)] for gap in self.keys))

    def whole(self, table: str) -> bool:
        """Tell whether all entries of the top-level mapping `table` are at hand."""
        return not any(
            gap[:1] == (table,) and len(gap) <= len((table, "name")) for gap in self.keys
        )


Model = TypeVar("Model", bound=BaseModel)

MAX_REPAIRS = 8
"""Rounds of repair; what one of them brings to light is reported with the rest."""


@dataclass(frozen=True, slots=True)
class Partial(Generic[Model]):
    """A document, as far as it can be read.

    Attributes:
        model: None if there is nothing to check any further.
        where: the places of its keys and values, under the names that are meant.
        gaps: where `model` is not what was written.
    """

    model: Model | None
    where: SourceMap
    gaps: Gaps


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartDescription(Generic[Model]):
    """The YAML of a core, an accelerator or a function unit, checked in itself."""

    path: Path
    model: Model
    where: SourceMap


def read_part(
    model: type[Model], path: Path, at: SourceLoc | None, faults: Faults
) -> tuple[Model, SourceMap, Gaps]:
    """Read the file of a part, which a chip names at `at`, as far as `model` allows.

    Raises:
        DescriptionError: it cannot be read, or nothing of it can be checked.
    """
    read = read_model(model, SourceMap(read_yaml(path, at, faults)), faults)
    if read.model is None:
        faults.raise_any()
    assert read.model is not None, "it has no faults"
    return read.model, read.where, read.gaps


def read_model(model: type[Model], where: SourceMap, faults: Faults) -> Partial[Model]:
    """Read the document of `where` as far as `model` allows, and note what it does not allow."""
    data, gaps = plain(where.root), set[Key]()
    if fault := _of_another_kind(model, where, data):
        faults.found |= {fault: None}
        return Partial(None, where, Gaps(frozenset()))
    for _ in range(MAX_REPAIRS):
        try:
            valid = model.model_validate(data)
        except ValidationError as error:
            found = tuple(problems(model, error, where, data))
        else:
            return Partial(valid, where, Gaps(frozenset(gaps)))
        faults.found |= dict.fromkeys(problem.fault for problem in found if problem.fault)
        root = where.root
        for problem in found:
            if problem.meant is not None:
                root = _rename_entry(root, problem.path, problem.meant)
                _rename(data, problem.path, problem.meant)
            elif (gap := _repair(data, problem, schema_of(model))) is not None:
                gaps.add(gap)
        if root is not where.root:
            where = SourceMap(root)
    return Partial(None, where, Gaps(frozenset(gaps)))


_KINDS = {
    "soc": "a chip",
    "accelerator": "an accelerator",
    "core": "a core",
    "function_unit": "a function unit",
}
"""What a description is of, by its first key."""


def _of_another_kind(model: type[BaseModel], where: SourceMap, data: Any) -> Fault | None:
    """Return a fault if a description has nothing of `model`, and is of something else."""
    fields = model.model_fields.items()
    needed = {name for name, field in fields if field.is_required()} - {"version"}
    wanted = next((key for key in _KINDS if key in needed), None)
    if wanted is None or not isinstance(data, dict) or needed & data.keys():
        return None
    found = next((key for key in _KINDS if key in data), None)
    if found is None:
        return None
    return Fault(
        code="E190",
        message=f"this file describes {_KINDS[found]}, and not {_KINDS[wanted]}",
        at=where.key_at(found),
        remedy=f"give the YAML of {_KINDS[wanted]}, which has '{wanted}: NAME'",
    )


def _repair(data: Any, problem: Problem, schema: Shape) -> Key | None:
    """Change what a problem names into something allowed; return the key that is a gap now."""
    parent, key, table = _table_of(data, problem.path)
    if table is None:
        return None
    if problem.unknown:
        table.pop(key, None)
        return None
    if problem.bad_key:
        return _without_name(parent, key, table, schema, data)
    shape = shape_at(schema, parent, data)
    if problem.kind_of_device is not None:
        table[key] = problem.kind_of_device
    elif key in keys_of(shape) and key not in shape.get("required", ()):
        table.pop(key, None)
    else:
        table[key] = placeholder(child_of(shape, key), schema)
    return (*parent, key)


def _without_name(
    parent: Key, key: str, table: dict[str, Any], schema: Shape, data: Any
) -> Key | None:
    """Replace a device, memory or pool of an impossible name; drop such an entry elsewhere."""
    if key not in table:
        return None
    del table[key]
    if len(parent) > 1:
        return (*parent, key)
    shape = shape_at(schema, parent, data)
    name = spare_name(shape, table)
    table[name] = placeholder(child_of(shape, name), schema)
    return (*parent, name)


def _table_of(data: Any, path: Key) -> tuple[Key, str, dict[str, Any] | None]:
    """Return the innermost mapping on the way to `path`, its path, and the next key."""
    table, parent, value = data, Key(), data
    for number, name in enumerate(path[:-1], start=1):
        value = inside(value, name)
        if isinstance(value, dict):
            table, parent = value, path[:number]
    known = bool(path) and isinstance(table, dict)
    return parent, path[len(parent)] if path else "", table if known else None


def _rename(data: Any, path: Key, meant: str) -> None:
    _, key, table = _table_of(data, path)
    if table is not None and key in table:
        table[meant] = table.pop(key)


def _rename_entry(node: Node, path: Key, meant: str) -> Node:
    """Return `node` with the entry at `path` under the name that is meant.

    An entry that lies below one which was renamed before keeps its name until the next round.
    """
    name, *rest = path
    if isinstance(node, Listing):
        items = list(node.items)
        items[int(name)] = _rename_entry(items[int(name)], tuple(rest), meant)
        return Listing(tuple(items), node.at)
    assert isinstance(node, Table), path
    entries = dict(node.entries)
    if name not in entries:
        return node
    entry = entries.pop(name) if not rest else entries[name]
    if rest:
        entries[name] = Entry(entry.key_at, _rename_entry(entry.value, tuple(rest), meant))
    else:
        entries[meant] = entry
    return Table(entries, node.at)


_WORDS = ("unknown", "UNKNOWN", "unknown:unknown", "0x0")
"""Stand for any name and text; the first that is allowed."""


def placeholder(shape: Shape, schema: Shape) -> Plain:
    """Return the least value that `shape` of `schema` allows."""
    shape = resolve_shape(shape, schema, {"kind": "cpu"})
    if "const" in shape:
        constant: Plain = shape["const"]
        return constant
    if "enum" in shape:
        first: Plain = shape["enum"][0]
        return first
    if "anyOf" in shape:
        return placeholder(shape["anyOf"][0], schema)
    match shape.get("type"):
        case "object":
            return _table(shape, schema)
        case "array":
            least = shape.get("minItems", 0)
            items = shape.get("prefixItems") or [shape.get("items", {})] * least
            return [placeholder(item, schema) for item in items]
        case "integer" | "number":
            return max(int(shape.get("minimum", 0)), 0)
        case "boolean":
            return False
        case _:
            return _word(shape.get("pattern", ""), shape.get("examples", ()))


def _table(shape: Shape, schema: Shape) -> dict[str, Any]:
    properties = shape.get("properties", {})
    table: dict[str, Any] = {
        key: placeholder(properties[key], schema) for key in shape.get("required", ())
    }
    child = free_child(shape)
    if shape.get("minProperties") and child is not None:
        table[spare_name(shape, ())] = placeholder(child, schema)
    return table


def spare_name(shape: Shape, taken: Container[str]) -> str:
    """Return a name that a mapping of this shape allows and that is not `taken`."""
    pattern = next(iter(shape.get("patternProperties", {})), "")
    closed: Iterable[str] = shape.get("propertyNames", {}).get("enum", ())
    names = chain(closed, (f"{_word(pattern)}_{number}" for number in count()))
    return next(name for name in names if name not in taken)


def _word(pattern: str, examples: Iterable[str] = ()) -> str:
    words = (*_WORDS, *examples)
    return next((word for word in words if re.search(pattern, word)), _WORDS[0])
