# SPDX-License-Identifier: Apache-2.0
"""Check a document and repair a copy of it, so that one fault hides no other one.

A key that is misspelt is taken for the one that is meant. What is missing or refused becomes a
gap: the model holds a placeholder there, and later stages ask `Gaps` before they judge it.
"""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from atoll.description.faults import Faults
from atoll.description.gaps import Gaps
from atoll.description.messages import Problem, problems, schema_of
from atoll.description.placeholder import placeholder, spare_name
from atoll.description.shape import Shape, child_of, keys_of, shape_at
from atoll.description.tree import Entry, Key, Listing, Node, SourceMap, Table, inside, plain
from atoll.diagnostics.errors import Fault

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


def read_model(model: type[Model], where: SourceMap, faults: Faults) -> Partial[Model]:
    """Read the document of `where` as far as `model` allows, and note what it does not allow."""
    root, data, gaps = where.root, plain(where.root), set[Key]()
    if fault := _of_another_kind(model, where, data):
        faults.found |= {fault: None}
        return Partial(None, where, Gaps(frozenset()))
    for _ in range(MAX_REPAIRS):
        try:
            valid = model.model_validate(data)
        except ValidationError as error:
            found = tuple(problems(model, error, SourceMap(root), data))
        else:
            return Partial(valid, SourceMap(root), Gaps(frozenset(gaps)))
        faults.found |= dict.fromkeys(problem.fault for problem in found if problem.fault)
        for problem in found:
            if problem.meant is not None:
                root = _renamed(root, problem.path, problem.meant)
                _rename(data, problem.path, problem.meant)
            elif (gap := _repair(data, problem, schema_of(model))) is not None:
                gaps.add(gap)
    return Partial(None, SourceMap(root), Gaps(frozenset(gaps)))


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


def _renamed(node: Node, path: Key, meant: str) -> Node:
    """Return `node` with the entry at `path` under the name that is meant.

    An entry that lies below one which was renamed before keeps its name until the next round.
    """
    name, *rest = path
    if isinstance(node, Listing):
        items = list(node.items)
        items[int(name)] = _renamed(items[int(name)], tuple(rest), meant)
        return Listing(tuple(items), node.at)
    assert isinstance(node, Table), path
    entries = dict(node.entries)
    if name not in entries:
        return node
    entry = entries.pop(name) if not rest else entries[name]
    if rest:
        entries[name] = Entry(entry.key_at, _renamed(entry.value, tuple(rest), meant))
    else:
        entries[meant] = entry
    return Table(entries, node.at)
