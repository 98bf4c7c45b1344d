"""Write the JSON Schemas of the descriptions, which editors use to check and complete them."""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from atoll.description.accelerator import Accelerator
from atoll.description.build import Build
from atoll.description.schema import Soc
from atoll.errors import UsageError
from atoll.files import unwritable, write_text

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_MODELS: dict[str, type[BaseModel]] = {
    "soc": Soc,
    "accelerator": Accelerator,
    "build": Build,
}
NAMES = tuple(_MODELS)


def schema_text(which: str) -> str:
    """Return the JSON Schema of the description called `which`, such as ``soc``.

    Raises:
        UsageError: E094, there is no such schema.
    """
    if which not in _MODELS:
        raise UsageError("E094", f"no schema '{which}'", remedy=f"use one of {', '.join(_MODELS)}")
    schema = _closed(_MODELS[which].model_json_schema())
    return json.dumps({"$schema": DIALECT, **_tolerant(schema)}, indent=2) + "\n"


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


def _closed(schema: Any) -> Any:
    """Refuse keys that match no pattern, as the models do."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    return closed | ({"additionalProperties": False} if "patternProperties" in closed else {})


def _tolerant(schema: dict[str, Any]) -> dict[str, Any]:
    """Demand all keys only of a file that does not extend another one."""
    if "extends" not in schema["properties"]:
        return schema
    definitions = {"$defs": schema.pop("$defs")}
    whole = {key: schema[key] for key in schema if key not in ("title", "description")}
    names: dict[str, Any] = {key: {} for key in schema["properties"]}
    return {
        **{key: schema[key] for key in schema if key not in whole},
        "if": {"required": ["extends"]},
        "then": {"properties": names, "additionalProperties": False},
        "else": whole,
        **definitions,
    }
