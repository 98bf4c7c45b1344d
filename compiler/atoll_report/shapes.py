# SPDX-License-Identifier: Apache-2.0
"""Whether a value has the shape that a schema of `atoll.report.json_shapes` describes."""

from collections.abc import Iterator
from typing import Any

from atoll.report.json_shapes import Shape

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
    "array": list,
    "object": dict,
}


def fits(value: Any, shape: Shape) -> bool:
    """Tell whether a value is as a shape says; patterns of strings are not looked at."""
    return next(misfits(value, shape), None) is None


def misfits(value: Any, shape: Any, pointer: str = "") -> Iterator[str]:
    """Yield the places in a value that are not as a shape says."""
    if "anyOf" in shape:
        if not any(fits(value, each) for each in shape["anyOf"]):
            yield pointer
    elif "enum" in shape:
        if value not in shape["enum"]:
            yield pointer
    elif not _is_of(value, shape["type"]) or _is_below(value, shape):
        yield pointer
    elif isinstance(value, list):
        if len(value) < shape.get("minItems", 0):
            yield pointer
        for number, item in enumerate(value):
            yield from misfits(item, shape["items"], f"{pointer}/{number}")
    elif isinstance(value, dict):
        yield from _object(value, shape, pointer)


def _is_below(value: Any, shape: Any) -> bool:
    return "minimum" in shape and value < shape["minimum"]


def _is_of(value: Any, names: str | list[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in _several(names))


def _several(names: str | list[str]) -> list[str]:
    return [names] if isinstance(names, str) else names


def _object(value: dict[str, Any], shape: Any, pointer: str) -> Iterator[str]:
    known = shape.get("properties", {})
    yield from (f"{pointer}/{key}" for key in shape.get("required", ()) if key not in value)
    rest = shape.get("additionalProperties", True)
    for key, item in value.items():
        inner = known.get(key, rest)
        if inner is False:
            yield f"{pointer}/{key}"
        elif inner is not True:
            yield from misfits(item, inner, f"{pointer}/{key}")
