# SPDX-License-Identifier: Apache-2.0
"""Storage scopes: names of choice sets, which passes only narrow (rules C1 and C2).

A place is one word: ``registers``, ``stack``, ``workspace``, the name of a pool, or the name of
one stack such as ``cpu.stack``. ``stack`` stands for the stack of whoever runs the code and
``workspace`` for any pool that a planner may choose; a named place is one of theirs.
"""

import re
from collections.abc import Iterable
from dataclasses import field

from atoll.description.faults import nearest
from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc

GLOBAL = "global"
ON_STACK = "global.stack"
IN_WORKSPACE = "global.workspace"
LOCAL = "local"

REGISTERS, STACK, WORKSPACE = "registers", "stack", "workspace"

_FIXED = {
    GLOBAL: (STACK, WORKSPACE),
    ON_STACK: (STACK,),
    IN_WORKSPACE: (WORKSPACE,),
    LOCAL: (REGISTERS, STACK),
}
_WORD = r"[a-z][a-z0-9_]*"
_POOL = re.compile(rf"global\.({_WORD})")
_OWN_STACK = re.compile(rf"{_WORD}(\.{_WORD})?\.stack")


@dataclass(frozen=True, slots=True)
class ScopeNames:
    """What the scopes of a chip can name, in canonical order."""

    pools: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()

    @classmethod
    def of(cls, soc: ResolvedSoc) -> "ScopeNames":
        """Return the pools and stacks of a chip."""
        return cls(
            pools=tuple(pool.name for pool in soc.pools),
            stacks=tuple(stack.name for cpu in soc.cpus for stack in cpu.stacks),
        )

    @property
    def scopes(self) -> tuple[str, ...]:
        """Every scope that there is."""
        return (*_FIXED, *(f"{GLOBAL}.{pool}" for pool in self.pools), *self.stacks)


@dataclass(frozen=True, slots=True)
class StorageScope:
    """A scope and the places that it allows; prints as its name."""

    name: str
    places: frozenset[str] = field(compare=False)

    def __str__(self) -> str:
        return self.name

    def within(self, other: "StorageScope") -> bool:
        """Tell whether every place that this scope allows is one that `other` allows."""
        return all(
            place in other.places or _general(place) in other.places for place in self.places
        )


def parse_scope(name: str, names: ScopeNames | None = None) -> StorageScope:
    """Return the scope `name`.

    Args:
        name: such as ``global``, ``global.stack``, ``global.sram``, ``cpu.io.stack``, ``local``.
        names: the pools and stacks that exist; None accepts every well-formed name.

    Raises:
        UsageError: E029; there is no such scope, the message names the nearest one.
    """
    places = _places(name)
    if places is None or (names is not None and name not in names.scopes):
        known = names.scopes if names else tuple(_FIXED)
        raise UsageError(
            "E029",
            f"no storage scope '{name}'",
            remedy=nearest(name, known, "describe that pool or stack"),
        )
    return StorageScope(name, frozenset(places))


def scope_of_pool(pool: str) -> StorageScope:
    """Return the scope that allows one pool only."""
    return StorageScope(f"{GLOBAL}.{pool}", frozenset({pool}))


def narrows(scope: str, before: str) -> bool:
    """Tell whether every place that `scope` allows is one that `before` allows.

    A name that is no scope narrows nothing but itself.
    """
    after, earlier = _places(scope), _places(before)
    if after is None or earlier is None:
        return scope == before
    return StorageScope(scope, frozenset(after)).within(StorageScope(before, frozenset(earlier)))


def _places(name: str) -> Iterable[str] | None:
    """Return the places of a well-formed scope, None for anything else."""
    if name in _FIXED:
        return _FIXED[name]
    if pool := _POOL.fullmatch(name):
        return (pool[1],)
    return (name,) if _OWN_STACK.fullmatch(name) else None


def _general(place: str) -> str:
    """Return the kind of place that a named place is one of."""
    if place in (REGISTERS, STACK, WORKSPACE):
        return place
    return STACK if place.endswith(f".{STACK}") else WORKSPACE


def pool_of(scope: str) -> str:
    """Return the pool that a scope names, "" if it names none."""
    found = _POOL.fullmatch(scope) if scope not in _FIXED else None
    return found[1] if found else ""


def meet(scope: str, other: str) -> tuple[str, ...]:
    """Return the places that two scopes both allow, in a stable order; () if there are none.

    Of a place and the kind that it is one of, the place is what both allow.
    """
    first, second = tuple(_places(scope) or ()), tuple(_places(other) or ())
    common = [p for p in first if p in second or _general(p) in second]
    common += [p for p in second if p not in common and _general(p) in first]
    return tuple(common)
