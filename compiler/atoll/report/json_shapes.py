# SPDX-License-Identifier: Apache-2.0
"""Words to write JSON Schemas with, for the objects that commands print."""

from collections.abc import Mapping

Shape = Mapping[str, object]

TEXT: Shape = {"type": "string"}
FLAG: Shape = {"type": "boolean"}
COUNT: Shape = {"type": "integer", "minimum": 0}
NUMBER: Shape = {"type": "integer"}
TEXT_OR_NUMBER: Shape = {"type": ["string", "integer"]}
RATIO: Shape = {"type": "number", "minimum": 0}
SECONDS: Shape = {"type": "number", "minimum": 0}


def maybe(shape: Shape) -> Shape:
    """Allow null as well."""
    return {"anyOf": [shape, {"type": "null"}]}


def each(shape: Shape) -> Shape:
    """Describe a list of such items."""
    return {"type": "array", "items": shape}


def mapping_of(shape: Shape) -> Shape:
    """Describe an object with any keys and such values."""
    return {"type": "object", "additionalProperties": shape}


def one_or_more(shape: Shape) -> Shape:
    """Describe one object, or a list of them where there are several networks."""
    return {"anyOf": [shape, {**each(shape), "minItems": 2}]}


def object_of(**shapes: Shape) -> Shape:
    """Describe an object that has these keys and no other."""
    return {
        "type": "object",
        "properties": shapes,
        "required": list(shapes),
        "additionalProperties": False,
    }


def choice(*words: str) -> Shape:
    """Describe one of some words."""
    return {"enum": list(words)}


BASIS: Shape = {
    "type": "string",
    "minLength": 1,
    "description": "What the figure rests on, separated by commas: measured, vela, formula, "
    "assumed, emitter, published, told, own code in the place of a target's, "
    "picorv32 in the place of another core, driver picorv32 in that of the host's driver.",
}
BAND = maybe(object_of(low=RATIO, high=RATIO))
"""How far a figure may lie below and above, as shares of it; null where that is not known."""
PLACE = object_of(path=TEXT, line=COUNT, column=COUNT)
FAULT = object_of(
    code={"type": "string", "pattern": "^E[0-9]{3}$"},
    message=TEXT,
    at=maybe(PLACE),
    other=maybe(object_of(at=PLACE, note=TEXT)),
    remedy=maybe(TEXT),
    tried=maybe(object_of(assignments=COUNT, all=FLAG)),
)
FAULTS = object_of(faults={**each(FAULT), "minItems": 1})
