# SPDX-License-Identifier: Apache-2.0
"""What a JSON schema allows at a place of a document."""

from collections.abc import Mapping
from typing import Any

from atoll.description.tree import inside

Shape = Mapping[str, Any]


def shape_at(schema: Shape, path: tuple[str, ...], data: Any) -> Shape:
    """Return the part of `schema` for the value at `path` of `data`; empty if there is none.

    Alternatives are decided by what `data` holds on the way, such as the kind of a device.
    """
    shape: Shape = resolve_shape(schema, schema, data)
    for name in path:
        data = inside(data, name)
        shape = resolve_shape(child_of(shape, name), schema, data)
    return shape


def keys_of(shape: Shape) -> tuple[str, ...]:
    """Return the keys that a mapping of this shape may have; empty if they are free."""
    return tuple(shape.get("properties", {}))


def is_open(shape: Shape) -> bool:
    """Tell whether a mapping of this shape has keys of the user's choice."""
    return free_child(shape) is not None


def kinds_of(shape: Shape) -> Mapping[str, tuple[str, ...]]:
    """Return the keys of each alternative of a top-level mapping whose entries have a kind."""
    devices = free_child(shape["properties"].get("devices", {})) or {}
    tags: Mapping[str, str] = devices.get("discriminator", {}).get("mapping", {})
    return {
        tag: keys_of(resolve_shape({"$ref": target}, shape, None)) for tag, target in tags.items()
    }


def example_of(shape: Shape, key: str) -> str | None:
    """Return a value that `key` of a mapping of this shape could have."""
    examples = child_of(shape, key).get("examples", ())
    return str(examples[0]) if examples else None


def child_of(shape: Shape, name: str) -> Shape:
    """Return what `shape` says of the value under `name`; empty if it says nothing."""
    if name in shape.get("properties", {}):
        child: Shape = shape["properties"][name]
        return child
    if name.isdigit() and isinstance(shape.get("items"), Mapping):
        item: Shape = shape["items"]
        return item
    return free_child(shape) or {}


def free_child(shape: Shape) -> Shape | None:
    """Return what a mapping says of the values of keys that the user chooses, if it has such."""
    for candidate in (
        shape.get("additionalProperties"),
        *shape.get("patternProperties", {}).values(),
    ):
        if isinstance(candidate, Mapping):
            return candidate
    return None


def resolve_shape(shape: Shape, schema: Shape, data: Any) -> Shape:
    """Return what `shape` stands for: what it refers to, and the alternative that `data` takes."""
    if "$ref" in shape:
        return resolve_shape(schema["$defs"][shape["$ref"].rpartition("/")[2]], schema, data)
    if "discriminator" in shape:
        tag = data.get(shape["discriminator"]["propertyName"]) if isinstance(data, dict) else None
        target = shape["discriminator"]["mapping"].get(tag) if isinstance(tag, str) else None
        return resolve_shape({"$ref": target}, schema, data) if target else {}
    if "anyOf" in shape and shape["anyOf"][-1] == {"type": "null"}:
        return resolve_shape(shape["anyOf"][0], schema, data)
    return shape


def may_be(shape: Shape, schema: Shape, value: Any) -> bool:
    """Tell whether a value is of a form that `shape` has: a mapping, a list, or one of neither."""
    if "$ref" in shape:
        return may_be(schema["$defs"][shape["$ref"].rpartition("/")[2]], schema, value)
    if parts := (*shape.get("anyOf", ()), *shape.get("oneOf", ())):
        return any(may_be(part, schema, value) for part in parts)
    form = "object" if isinstance(value, Mapping) else "array" if isinstance(value, list) else ""
    named = "" if "enum" in shape or "const" in shape else shape.get("type", form)
    return form == named if form else named not in ("object", "array")
