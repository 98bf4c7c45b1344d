# SPDX-License-Identifier: Apache-2.0
"""Annotations of operators: the execution scope of those of a name, a pattern or a region."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.fields import Described, must_be
from atoll.description.whom import NAMES, Whom, says_whom

_ENTRY = re.compile(rf"\s*({NAMES}?)(?:\.\.({NAMES}))?\s*=\s*(.+?)\s*")
_EXPECTED = (
    "{operators: NAME or PATTERN} or {from: NAME, to: NAME}, with 'device: NAME' or 'scope: {...}'"
)
EXAMPLE = "--on-device 'conv_2d_*=npu' or --on-device 'conv_2d_0..add_3=device_type:cpu'"


def _device_type(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise must_be("a kind of devices such as cpu, or a number of DLPack")
    return int(value) if isinstance(value, str) and value.isdecimal() else value


DeviceType = Annotated[
    int | str, BeforeValidator(_device_type), WithJsonSchema({"type": ["integer", "string"]})
]


class ScopeFields(Described):
    """The four fields of an execution scope, each of which may be left free."""

    device_type: DeviceType | None = Field(
        default=None, description="The type of the device: cpu, dsp, npu, or its number in DLPack."
    )
    virtual_device_id: int | None = Field(
        default=None, ge=0, description="The number of the device among those of its type."
    )
    target: str | None = Field(
        default=None,
        max_length=256,
        description="What generates its code, as 'atoll explain --scopes' writes it; its first "
        "word suffices where no two differ.",
    )
    memory_scope: str | None = Field(
        default=None, max_length=256, description="The pool of the results: POOL or global.POOL."
    )


class OnDevice(Whom):
    """An execution scope for operators."""

    device: str | None = Field(
        default=None, max_length=256, description="A device, for all fields of its scope."
    )
    scope: ScopeFields = Field(default=ScopeFields(), description="Fields; others are free.")
    copies: bool = Field(
        default=True,
        description="Whether results in a memory scope may be copied for who does not reach it.",
    )

    def plain(self) -> dict[str, Any]:
        """Return the same as data that reads back."""
        return self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)


def _entry(value: object) -> object:
    if isinstance(value, dict) and says_whom(value) and {"device", "scope"} & value.keys():
        return value
    raise must_be(_EXPECTED)


Annotations = Annotated[
    tuple[Annotated[OnDevice, BeforeValidator(_entry)], ...],
    Field(
        max_length=4096,
        description="Execution scopes of operators, of patterns of them, and of regions.",
        examples=["[{from: conv_2d_0, to: add_3, scope: {device_type: cpu}}]"],
    ),
]


def entry_of(text: str) -> dict[str, Any] | None:
    """Return the entry that ``OPERATORS=DEVICE`` or ``FROM..TO=FIELD:VALUE,...`` asks for.

    None if the text is neither.
    """
    found = _ENTRY.fullmatch(text)
    if not found or not found[1]:
        return None
    whom = {"from": found[1], "to": found[2]} if found[2] else {"operators": found[1]}
    fields = dict(_fields(found[3]))
    if list(fields) == [""]:
        return {**whom, "device": fields[""]}
    known = {*ScopeFields.model_fields, "copies"}
    if not fields.keys() <= known or fields.get("copies", "no") not in ("yes", "no"):
        return None
    copies = {"copies": fields.pop("copies") == "yes"} if "copies" in fields else {}
    number = fields.get("virtual_device_id")
    if number is not None and not number.isdecimal():
        return None
    scope: dict[str, Any] = dict(fields)
    if number is not None:
        scope["virtual_device_id"] = int(number)
    return {**whom, "scope": scope, **copies}


def _fields(text: str) -> list[tuple[str, str]]:
    pairs = (part.partition(":") for part in text.split(","))
    return [(name.strip(), value.strip()) if colon else ("", name) for name, colon, value in pairs]
