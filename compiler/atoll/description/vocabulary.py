# SPDX-License-Identifier: Apache-2.0
"""Words that a description of a chip may use and that other stages give a meaning to.

The JSON schemas name them, so that editors do; tests hold them against the tables of the stages.
"""

from typing import Annotated

from pydantic import Field, WithJsonSchema

from atoll.description.operators import FEATURES
from atoll.description.share import shared_folder, shipped_names
from atoll.isa.find import PATTERN, USUAL

CORES = shipped_names(shared_folder("socs") / "cores")
"""Cores that are shipped."""

ACCELERATORS = ("ethos_u55", "ethos_u65", "ethos_u85", "reef", "ripple")
"""Accelerators and engines that are shipped."""

ENGINES = ("ripple",)
"""Those that copy between memories."""

OPERATORS = (*FEATURES, *(kind.lower() for kind in FEATURES))
"""Operators that a device can be told to run."""

_PATH = {"type": "string", "pattern": r"/|\.ya?ml$"}

Isa = Annotated[
    str,
    Field(max_length=64),
    WithJsonSchema({"type": "string", "pattern": f"^({PATTERN})$", "examples": list(USUAL)}),
]
CoreName = Annotated[
    str, Field(max_length=256), WithJsonSchema({"anyOf": [{"enum": list(CORES)}, _PATH]})
]
OperatorName = Annotated[str, WithJsonSchema({"enum": list(OPERATORS)})]
AcceleratorName = Annotated[
    str,
    Field(max_length=256),
    WithJsonSchema({"anyOf": [{"enum": list(ACCELERATORS)}, _PATH]}),
]
EngineName = Annotated[
    str, Field(max_length=256), WithJsonSchema({"anyOf": [{"enum": list(ENGINES)}, _PATH]})
]
FunctionUnitPath = Annotated[str, Field(max_length=256), WithJsonSchema(_PATH)]
