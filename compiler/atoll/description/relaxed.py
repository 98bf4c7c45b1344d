# SPDX-License-Identifier: Apache-2.0
"""The JSON schema of a file that extends another: every key may be left out or deleted."""

from typing import Any

_OPTIONAL = ("required", "minProperties", "discriminator")
_NULL = {"type": "null"}
_SUFFIX = "Part"


def relaxed_definitions(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a relaxed copy of each definition, under a name of its own."""
    return {f"{name}{_SUFFIX}": relaxed(shape) for name, shape in definitions.items()}


def relaxed(shape: Any) -> Any:
    """Return `shape` with all keys optional, and null where a mapping may have a value."""
    if isinstance(shape, list):
        return [relaxed(item) for item in shape]
    if not isinstance(shape, dict):
        return shape
    loose = {key: relaxed(value) for key, value in shape.items() if key not in _OPTIONAL}
    for children in ("properties", "patternProperties"):
        if isinstance(loose.get(children), dict):
            loose[children] = {key: _or_null(child) for key, child in loose[children].items()}
    if "oneOf" in loose:
        loose["anyOf"] = loose.pop("oneOf")
    if "$ref" in loose:
        loose["$ref"] = f"{loose['$ref']}{_SUFFIX}"
    return loose


def _or_null(child: Any) -> Any:
    if not isinstance(child, dict) or _NULL in child.get("anyOf", ()):
        return child
    return {"anyOf": [child, _NULL]}
