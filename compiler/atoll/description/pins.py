# SPDX-License-Identifier: Apache-2.0
"""Pins and scopes as people write them: where a tensor shall lie, in which order of pools.

A pin is an ordered list of pools, ``dtcm@8KiB,sram:out``: the buffer lies in the first one with
room. A scope is a choice set, ``global.stack``. Both count where a tensor is written, where
operators read it, or on both sides.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from atoll.description.fields import Described, must_be
from atoll.description.identifiers import identifier
from atoll.description.whom import Whom, says_whom
from atoll.diagnostics.units import format_size, parse_size

Side = Literal["in", "out", "both"]
SIDES = ("in", "out", "both")

WORD = r"[A-Za-z_]\w{0,255}"

_ON_CHIP = r"[A-Za-z_][\w-]{0,255}"
_POOL = r"[A-Za-z_][\w.-]{0,255}"
_SIDE = rf"(?::({'|'.join(SIDES)}))?"
_SIZE = r"(?:[0-9][0-9_]*(?:\.[0-9]+)? ?(?:[KMG]i)?B|0x[0-9a-fA-F_]{1,20}|[0-9][0-9_]*)"
_CHOICE = rf"({_POOL})(?:@({_SIZE}))?"
_CHAIN = rf"{_POOL}(?:@{_SIZE})?(?: ?, ?{_POOL}(?:@{_SIZE})?)*"
PIN = re.compile(rf"({_CHAIN}){_SIDE}")
SCOPE = re.compile(rf"({_ON_CHIP}(?:\.[\w-]{{1,256}}){{0,9}}){_SIDE}")

EXPECTED_PIN = (
    "POOL, POOL:in, POOL:out, POOL:both, POOL@SIZE,POOL, {pool: POOL, size: 8 KiB, applies: in}, "
    "{pools: [POOL, POOL], applies: in}, or a list of these"
)
EXPECTED_SCOPE = "SCOPE, SCOPE:in, SCOPE:out, {scope: SCOPE, applies: in}, or a list of these"


def _scope_name(written: str) -> str:
    """Return the one spelling of a scope; in a pool, dots are part of its name."""
    first, dot, rest = written.partition(".")
    parts = (rest,) if first == "global" else rest.split(".")
    return ".".join((identifier(first), *map(identifier, parts))) if dot else first


PoolName = Annotated[str, AfterValidator(identifier)]
ScopeName = Annotated[str, AfterValidator(_scope_name)]


class PoolChoice(Described):
    """One of the pools of a pin.

    Attributes:
        size: the buffer has to end within so many bytes of the pool's start, else the next pool of
            the list is tried; None for the whole pool.
    """

    pool: PoolName
    size: int | None = None

    def __str__(self) -> str:
        size = "" if self.size is None else f"@{format_size(self.size).replace(' ', '')}"
        return f"{self.pool}{size}"


class Pin(Described):
    """Pools for one tensor, the first choice in front.

    Attributes:
        applies: ``out`` where it is written, ``in`` where operators read it, ``both``.
    """

    choices: tuple[PoolChoice, ...]
    applies: Side = "both"

    @classmethod
    def to(cls, *pools: str, applies: Side = "both") -> "Pin":
        """Return the pin to pools without size hints."""
        return cls(choices=tuple(PoolChoice(pool=pool) for pool in pools), applies=applies)

    @property
    def pools(self) -> tuple[str, ...]:
        """The names of the pools, in order."""
        return tuple(choice.pool for choice in self.choices)

    @property
    def words(self) -> str:
        """The list of pools alone."""
        return ",".join(map(str, self.choices))

    def plain(self) -> dict[str, Any]:
        """Return the same as data that reads back."""
        return {"pools": [str(choice) for choice in self.choices], "applies": self.applies}

    def __str__(self) -> str:
        return f"{self.words}:{self.applies}"


class ScopePin(Described):
    """The scope of one tensor, on one side or both."""

    scope: ScopeName
    applies: Side = "both"

    def __str__(self) -> str:
        return f"{self.scope}:{self.applies}"


class SetScope(Whom):
    """The scope of what operators read and write: of those of a name, or of a region."""

    scope: ScopeName = Field(
        max_length=256, description="The storage scope.", examples=["global.sram"]
    )
    applies: Side = Field(
        default="out",
        description="Which tensors of these operators are meant: 'out' what they write, 'in' what "
        "they read, as they read it, 'both'.",
    )

    def plain(self) -> dict[str, Any]:
        """Return the same as data that reads back."""
        return self.model_dump(by_alias=True, exclude_none=True)

    def __str__(self) -> str:
        return f"{self.scope}:{self.applies}"


def _set_scope(value: Any) -> Any:
    if isinstance(value, dict) and not says_whom(value):
        raise must_be("{operators: NAME, scope: SCOPE} or {from: NAME, to: NAME, scope: SCOPE}")
    return value


def _choices(text: str) -> tuple[PoolChoice, ...]:
    found = re.findall(_CHOICE, text)
    return tuple(PoolChoice(pool=pool, size=parse_size(s) if s else None) for pool, s in found)


def pin_of(text: str) -> Pin | None:
    """Return the pin that a text says, None if it says none."""
    found = PIN.fullmatch(text)
    try:
        return Pin(choices=_choices(found[1]), applies=_side(found[2])) if found else None
    except ValueError:
        return None


def scope_of(text: str) -> ScopePin | None:
    """Return the scope and the side that a text says, None if it says none."""
    found = SCOPE.fullmatch(text)
    return ScopePin(scope=found[1], applies=_side(found[2])) if found else None


def _side(word: str | None) -> Side:
    sides: dict[str | None, Side] = {"in": "in", "out": "out", "both": "both"}
    return sides.get(word, "both")


def _pins(value: object) -> tuple[Pin, ...]:
    """Read one pin or a list; those of a list that speak of one side are its pools in order."""
    items = value if isinstance(value, list | tuple) else [value]
    if not items:
        raise must_be(EXPECTED_PIN)
    found: list[Pin] = []
    chains: dict[Side, int] = {}
    for item in items:
        pin = _pin(item)
        if isinstance(item, dict) and "pools" in item:
            found.append(pin)
        elif pin.applies in chains:
            chain = found[chains[pin.applies]]
            found[chains[pin.applies]] = Pin(
                choices=(*chain.choices, *pin.choices), applies=pin.applies
            )
        else:
            chains[pin.applies] = len(found)
            found.append(pin)
    return tuple(found)


def _pin(value: Any) -> Pin:
    if isinstance(value, Pin):
        return value
    if isinstance(value, str) and (pin := pin_of(value)):
        return pin
    if not isinstance(value, dict):
        raise must_be(EXPECTED_PIN)
    rest = dict(value)
    applies = rest.pop("applies", "both")
    pools = rest.pop("pools", None)
    choices = _read_list(pools) if pools is not None and not rest else _read_mapping(rest)
    if choices is None or (pools is not None and rest) or applies not in SIDES:
        raise must_be(EXPECTED_PIN)
    return Pin(choices=choices, applies=applies)


def _read_list(pools: object) -> tuple[PoolChoice, ...] | None:
    if not isinstance(pools, list | tuple) or not pools:
        return None
    found: list[PoolChoice] = []
    for each in pools:
        if isinstance(each, str) and re.fullmatch(_CHAIN, each):
            found += _choices(each)
        elif isinstance(each, dict) and (described := _read_mapping(each)):
            found += described
        else:
            return None
    return tuple(found)


def _read_mapping(value: Any) -> tuple[PoolChoice, ...] | None:
    """Read ``{pool: POOL, size: SIZE}``."""
    rest = dict(value)
    pool, size = rest.pop("pool", None), rest.pop("size", None)
    if not isinstance(pool, str) or rest or isinstance(size, bool):
        return None
    if isinstance(size, str):
        try:
            size = parse_size(size)
        except ValueError:
            return None
    if size is not None and (not isinstance(size, int) or size < 0):
        return None
    return (PoolChoice(pool=pool, size=size),)


def _scopes(value: object) -> tuple[ScopePin, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    found = tuple(map(_scope, items))
    if not found:
        raise must_be(EXPECTED_SCOPE)
    return found


def _scope(value: Any) -> ScopePin:
    match value:
        case ScopePin():
            return value
        case str() if found := scope_of(value):
            return found
        case {"scope": str(scope), **rest} if SCOPE.fullmatch(scope) and (
            not rest or (rest.keys() == {"applies"} and rest["applies"] in SIDES)
        ):
            return ScopePin(scope=scope, applies=_side(str(rest.get("applies"))))
        case _:
            raise must_be(EXPECTED_SCOPE)


_APPLIES = {"enum": list(SIDES)}
_TEXT = {"type": "string", "pattern": f"^{PIN.pattern}$"}
_BYTES = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string"}]}
_ONE_POOL = {"pool": {"type": "string"}, "size": _BYTES}


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [required],
        "additionalProperties": False,
    }


_SEVERAL = {
    "type": "array",
    "minItems": 1,
    "items": {"anyOf": [{"type": "string"}, _object("pool", **_ONE_POOL)]},
}
_ONE = [
    _TEXT,
    _object("pool", **_ONE_POOL, applies=_APPLIES),
    _object("pools", pools=_SEVERAL, applies=_APPLIES),
]
_ONE_SCOPE = [
    {"type": "string", "pattern": f"^{SCOPE.pattern}$"},
    _object("scope", scope={"type": "string"}, applies=_APPLIES),
]


def _or_list(one: list[dict[str, Any]]) -> WithJsonSchema:
    several = {"type": "array", "items": {"anyOf": one}, "minItems": 1}
    return WithJsonSchema({"anyOf": [*one, several]})


Pins = Annotated[tuple[Pin, ...], BeforeValidator(_pins), _or_list(_ONE)]
Scopes = Annotated[tuple[ScopePin, ...], BeforeValidator(_scopes), _or_list(_ONE_SCOPE)]
SetScopes = Annotated[SetScope, BeforeValidator(_set_scope)]


class RolePins(Described):
    """Pools for all tensors of a role that have no pin of their own."""

    workspace: Pins = Field(
        default=(),
        description="What is neither a constant nor a state.",
        examples=["[{pool: dtcm, size: 8 KiB}, sram]"],
    )
    constants: Pins = Field(
        default=(), description="Weights, tables and commands.", examples=["[itcm, flash]"]
    )
    inputs: Pins = Field(
        default=(), description="The network's inputs, in the place of 'workspace'."
    )
    outputs: Pins = Field(
        default=(), description="The network's outputs, in the place of 'workspace'."
    )


ROLES = tuple(RolePins.model_fields)
