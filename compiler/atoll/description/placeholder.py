# SPDX-License-Identifier: Apache-2.0
"""Something valid to put where a description holds nothing usable."""

import re
from collections.abc import Container, Iterable
from itertools import count
from typing import Any

from atoll.description.shape import Shape, free_child, resolved
from atoll.description.tree import Plain

_WORDS = ("unknown", "UNKNOWN", "unknown:unknown", "0x0")
"""Stand for any name and text; the first that is allowed."""


def placeholder(shape: Shape, schema: Shape) -> Plain:
    """Return the least value that `shape` of `schema` allows."""
    shape = resolved(shape, schema, {"kind": "cpu"})
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
        case "integer":
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
    names = (f"{_word(pattern)}_{number}" for number in count())
    return next(name for name in names if name not in taken)


def _word(pattern: str, examples: Iterable[str] = ()) -> str:
    words = (*_WORDS, *examples)
    return next((word for word in words if re.search(pattern, word)), _WORDS[0])
