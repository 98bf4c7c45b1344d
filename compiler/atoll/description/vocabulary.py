"""Words that a description of a chip may use and that other stages give a meaning to.

The JSON schemas name them, so that editors do; tests hold them against the tables of the stages.
"""

import re
from typing import Annotated

from pydantic import Field, WithJsonSchema

from atoll.description.operators import FEATURES
from atoll.description.share import shared_folder, shipped_names

ISA = re.compile(r"rv32im?a?c?(_zba)?(_zbb)?(_zbs)?")
"""Instruction sets that a back end generates code for, in RISC-V's canonical order."""

ISAS = ("rv32im", "rv32imc", "rv32imac", "rv32imc_zba_zbb_zbs")
"""The usual ones of them, which messages and editors propose."""

CORES = shipped_names(shared_folder("socs") / "cores")
"""Cores that are shipped."""

ACCELERATORS = ("reef", "ripple")
"""Accelerators and engines that are shipped."""

ENGINES = ("ripple",)
"""Those that copy between memories."""

OPERATORS = (*FEATURES, *(kind.lower() for kind in FEATURES))
"""Operators that a device can be told to run."""

_PATH = {"type": "string", "pattern": r"/|\.ya?ml$"}

Isa = Annotated[
    str,
    Field(max_length=64),
    WithJsonSchema({"type": "string", "pattern": f"^({ISA.pattern})$", "examples": list(ISAS)}),
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
