"""What a JSON schema allows at a place of a document."""

from collections.abc import Mapping
from typing import Any

Shape = Mapping[str, Any]


def shape_at(schema: Shape, path: tuple[str, ...], data: Any) -> Shape:
    """Return the part of `schema` for the value at `path` of `data`; empty if there is none.

    Alternatives are decided by what `data` holds on the way, such as the kind of a device.
    """
    shape: Shape = _deref(schema, schema, data)
    for name in path:
        data = data.get(name) if isinstance(data, dict) else None
        shape = _deref(_child(shape, name), schema, data)
    return shape


def keys_of(shape: Shape) -> tuple[str, ...]:
    """Return the keys that a mapping of this shape may have; empty if they are free."""
    return tuple(shape.get("properties", {}))


def is_open(shape: Shape) -> bool:
    """Tell whether a mapping of this shape has keys of the user's choice."""
    return _free_child(shape) is not None


def example_of(shape: Shape, key: str) -> str | None:
    """Return a value that `key` of a mapping of this shape could have."""
    examples = shape.get("properties", {}).get(key, {}).get("examples", ())
    return str(examples[0]) if examples else None


def _child(shape: Shape, name: str) -> Shape:
    if name in shape.get("properties", {}):
        child: Shape = shape["properties"][name]
        return child
    if name.isdigit() and isinstance(shape.get("items"), Mapping):
        item: Shape = shape["items"]
        return item
    return _free_child(shape) or {}


def _free_child(shape: Shape) -> Shape | None:
    for candidate in (
        shape.get("additionalProperties"),
        *shape.get("patternProperties", {}).values(),
    ):
        if isinstance(candidate, Mapping):
            return candidate
    return None


def _deref(shape: Shape, schema: Shape, data: Any) -> Shape:
    if "$ref" in shape:
        return _deref(schema["$defs"][shape["$ref"].rpartition("/")[2]], schema, data)
    if "discriminator" in shape:
        tag = data.get(shape["discriminator"]["propertyName"]) if isinstance(data, dict) else None
        target = shape["discriminator"]["mapping"].get(tag) if isinstance(tag, str) else None
        return _deref({"$ref": target}, schema, data) if target else {}
    if "anyOf" in shape and shape["anyOf"][-1] == {"type": "null"}:
        return _deref(shape["anyOf"][0], schema, data)
    return shape
