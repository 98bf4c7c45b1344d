# SPDX-License-Identifier: Apache-2.0
"""All JSON Schemas: of the descriptions that Atoll reads, and of what its commands print."""

import json
from pathlib import Path

from atoll.description import json_schemas as descriptions
from atoll.diagnostics.errors import UsageError
from atoll.report.json_shapes import FAULTS
from atoll.report.output_schemas import OUTPUTS
from atoll.utils.files import write_text

SUFFIX = "-output"
"""`run-output` is the schema of what `atoll run --json` prints."""


def schema_names() -> tuple[str, ...]:
    """Return the names that `schema_text` takes."""
    return (*descriptions.NAMES, *(f"{command}{SUFFIX}" for command in OUTPUTS))


def schema_text(which: str) -> str:
    """Return the JSON Schema called `which`, such as ``soc`` or ``run-output``.

    Raises:
        UsageError: E094, there is no such schema.
    """
    if which not in schema_names():
        remedy = f"use one of {', '.join(schema_names())}"
        raise UsageError("E094", f"no schema '{which}'", remedy=remedy)
    if which in descriptions.NAMES:
        return descriptions.schema_text(which)
    command = which.removesuffix(SUFFIX)
    words, shape = OUTPUTS[command]
    schema = {
        "$schema": descriptions.DIALECT,
        "title": f"atoll {command} --json",
        "description": f"Status 0: {words}. Status 1: the same, or the faults of the input.",
        "anyOf": [shape, FAULTS],
    }
    return json.dumps(schema, indent=2) + "\n"


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write every schema into `folder` and return the files.

    Raises:
        UsageError: E092, the folder or a file in it cannot be written.
    """
    written = list(descriptions.write_schemas(folder))
    for command in OUTPUTS:
        path = folder / f"{command}{SUFFIX}.schema.json"
        write_text(path, schema_text(f"{command}{SUFFIX}"))
        written.append(path)
    return tuple(written)
