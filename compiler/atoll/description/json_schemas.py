# SPDX-License-Identifier: Apache-2.0
"""Write the JSON Schemas of the descriptions, which editors use to check and complete them.

In a file that extends another one, every key may be left out or deleted.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from atoll.description.accelerator import Accelerator
from atoll.description.build import Build
from atoll.description.chip import Soc
from atoll.description.core import Core
from atoll.description.function_unit import FunctionUnit
from atoll.description.operators import DRIVERS, FEATURES
from atoll.description.shape import Shape
from atoll.description.sweep import SweepFile
from atoll.diagnostics.errors import UsageError
from atoll.utils.files import unwritable, write_text

DIALECT = "https://json-schema.org/draft/2020-12/schema"

MADE = "Made by 'atoll schema"
"""How the comment of a schema begins that Atoll wrote."""

_MODELS: dict[str, type[BaseModel]] = {
    "soc": Soc,
    "accelerator": Accelerator,
    "core": Core,
    "function_unit": FunctionUnit,
    "build": Build,
    "sweep": SweepFile,
}
NAMES = tuple(_MODELS)


def schema_text(which: str) -> str:
    """Return the JSON Schema of the description called `which`, such as ``soc``.

    Raises:
        UsageError: E094, there is no such schema.
    """
    if which not in _MODELS:
        raise UsageError("E094", f"no schema '{which}'", remedy=f"use one of {', '.join(_MODELS)}")
    schema = _close(_with_names(which, _MODELS[which].model_json_schema()))
    head = {"$schema": DIALECT, "$comment": f"{MADE} {which}'."}
    return json.dumps({**head, **_tolerant(schema)}, indent=2) + "\n"


@cache
def shape_of(which: str) -> Shape:
    """Return what a description of one of `NAMES` may say; not to be written to."""
    return _with_names(which, _MODELS[which].model_json_schema())


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write every schema into `folder` and return the files.

    Raises:
        UsageError: E092, the folder or a file in it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    written = []
    for which in _MODELS:
        path = folder / f"{which}.schema.json"
        write_text(path, schema_text(which))
        written.append(path)
    return tuple(written)


def require_schema_beside(target: Path, which: str = "soc") -> None:
    """Refuse a description whose folder holds a schema that is not ours.

    Args:
        target: the description.
        which: what it describes, one of `NAMES`.

    Raises:
        UsageError: E091.
    """
    path = _schema_beside(target, which)
    if path.exists() and MADE not in path.read_text(errors="replace"):
        raise UsageError(
            "E091",
            f"{path} exists, and Atoll did not make it",
            remedy="choose a file in another folder, or rename that one",
        )


def write_schema_beside(target: Path, which: str = "soc") -> None:
    """Write the schema that the first line of the description at `target` names.

    Raises:
        UsageError: E092, it cannot be written.
    """
    write_text(_schema_beside(target, which), schema_text(which))


def _schema_beside(target: Path, which: str) -> Path:
    return target.with_name(f"{which}.schema.json")


def _close(schema: Any) -> Any:
    """Refuse keys that match no pattern, as the models do."""
    if isinstance(schema, list):
        return [_close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _close(value) for key, value in schema.items()}
    return closed | ({"additionalProperties": False} if "patternProperties" in closed else {})


def _tolerant(schema: dict[str, Any]) -> dict[str, Any]:
    """Demand all keys only of a file that does not extend another one."""
    if "extends" not in schema["properties"]:
        return schema
    definitions = schema.pop("$defs")
    whole = {key: schema[key] for key in schema if key not in ("title", "description")}
    return {
        **{key: schema[key] for key in schema if key not in whole},
        "if": {"required": ["extends"]},
        "then": relax(whole),
        "else": whole,
        "$defs": definitions | relaxed_definitions(definitions),
    }


def _with_names(which: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Name the operators, features and drivers that an accelerator's description may use."""
    if which == "soc":
        memory = schema["$defs"]["Memory"]
        needed = memory.pop("required")
        memory["anyOf"] = [{"required": needed}, {"required": ["origin", "alias_of"]}]
    if which != "accelerator":
        return schema
    properties = schema["properties"]
    properties["driver"]["anyOf"] = [{"enum": list(DRIVERS)}, {"pattern": "/"}]
    operators = properties["operators"]
    ((names, any_operator),) = operators.pop("patternProperties").items()
    operators["properties"] = {
        kind: any_operator | _with_features(sorted(features)) for kind, features in FEATURES.items()
    }
    operators["propertyNames"] = {"pattern": names}
    operators["additionalProperties"] = any_operator | {"required": ["pattern"]}
    return schema


def _with_features(features: list[str]) -> dict[str, Any]:
    """Say what limits of an operator name: its features, or also values where it has some."""
    limits = {"propertyNames": {"enum": features}}
    return {
        "if": {"not": {"required": ["values"]}},
        "then": {"properties": {"limits": limits}},
    }


_OPTIONAL = ("required", "minProperties", "discriminator")
_NULL = {"type": "null"}
_SUFFIX = "Part"


def relaxed_definitions(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return a relaxed copy of each definition, under a name of its own."""
    return {f"{name}{_SUFFIX}": relax(shape) for name, shape in definitions.items()}


def relax(shape: Any) -> Any:
    """Return `shape` with all keys optional, and null where a mapping may have a value."""
    if isinstance(shape, list):
        return [relax(item) for item in shape]
    if not isinstance(shape, dict):
        return shape
    loose = {key: relax(value) for key, value in shape.items() if key not in _OPTIONAL}
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
