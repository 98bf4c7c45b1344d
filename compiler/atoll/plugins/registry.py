# SPDX-License-Identifier: Apache-2.0
"""Members of one kind by name: Atoll's own and those of other packages, loaded when asked for.

Operators, front ends and BSP emitters register in the same way; docs/extending.md shows each.
"""

import inspect
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Generic, TypeVar, cast

from atoll.diagnostics.errors import AtollError, SourceLoc, UsageError
from atoll.plugins import loading as plugins
from atoll.records import dataclass

Member = TypeVar("Member")

_OWN: dict[tuple[str, str], object] = {}
"""Atoll's own members that were loaded, by group and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry(Generic[Member]):
    """All members of one kind.

    Attributes:
        group: name of the entry points with which other packages register theirs.
        noun: what messages call a member, such as ``planning algorithm``.
        own: Atoll's members, ``module:attribute`` by name; nobody can replace them.
        interface: the class of which members are instances, or what they take as functions.
    """

    group: str
    noun: str
    own: Mapping[str, str]
    interface: type | tuple[str, ...]

    def names(self) -> tuple[str, ...]:
        """Return the names of all members, Atoll's first."""
        return (*self.own, *self.others())

    def others(self) -> tuple[str, ...]:
        """Return the names of other packages' members, sorted."""
        return tuple(sorted({*entries_in(self.group)} - {*self.own}))

    def get(self, name: str, *, at: SourceLoc | None = None) -> Member:
        """Load a member; of another package's functions and methods, failures are E111.

        A file names it at `at`.

        Raises:
            UsageError: E094; there is none of that name.
            AtollError: E041, it cannot be loaded; E110, it is not what its interface asks.
        """
        if (self.group, name) in _OWN:
            return cast("Member", _OWN[self.group, name])
        entry = self.own.get(name) or entries_in(self.group).get(name)
        if entry is None:
            remedy = f"use one of {', '.join(self.names())}"
            raise UsageError("E094", f"no {self.noun} '{name}'", at=at, remedy=remedy)
        member: object = plugins.load(entry, self.group)
        if wrong := self._lacks(member):
            message = f"{self.noun} '{name}' ('{entry}') {wrong}"
            raise AtollError("E110", message, remedy=plugins.CORRECT_MEMBER)
        if name in self.own:
            _OWN[self.group, name] = member
        elif self._runs_code:
            member = plugins.Guarded(f"{self.noun} '{name}'", member)
        return cast("Member", member)

    @property
    def _runs_code(self) -> bool:
        return not isinstance(self.interface, type) or inspect.isabstract(self.interface)

    def _lacks(self, member: object) -> str:
        """Say why `member` is not what the interface asks, or nothing."""
        if isinstance(self.interface, type):
            wanted = f"{self.interface.__module__}.{self.interface.__name__}"
            return "" if isinstance(member, self.interface) else f"is no instance of '{wanted}'"
        fits = callable(member) and plugins.takes(member, len(self.interface))
        return "" if fits else f"cannot be called as '({', '.join(self.interface)})'"


def entries_in(group: str) -> Mapping[str, str]:
    """Return what packages register in a group: ``module:attribute`` by name."""
    return _entries_on(group, tuple(sys.path))


@cache
def _entries_on(group: str, path: tuple[str, ...]) -> Mapping[str, str]:
    """Ask the packages on `path`; the first of a name counts."""
    points = reversed(tuple(entry_points(group=group)))
    return MappingProxyType({point.name: point.value for point in points})
