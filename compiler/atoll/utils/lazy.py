# SPDX-License-Identifier: Apache-2.0
"""Names of a module that are imported from others when they are used first."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from importlib import import_module


def lazily(
    module: str, places: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a module.

    They find names in the modules of `places`.
    """

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        place = import_module(places[name])
        if not hasattr(place, name):
            import_module(f"{places[name]}.{name}")
        value: object = getattr(place, name)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> list[str]:
        return sorted({*places, *vars(sys.modules[module])})

    return find, names


class LazyTable(Mapping[str, str]):
    """A mapping that is made when somebody first looks at it."""

    def __init__(self, make: Callable[[], Mapping[str, str]]) -> None:
        self._make = make

    @cached_property
    def _made(self) -> Mapping[str, str]:
        return self._make()

    def __getitem__(self, key: str) -> str:
        """Return what is under a key."""
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        """Yield the keys."""
        return iter(self._made)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._made)

    def __repr__(self) -> str:
        """Return the text of the mapping."""
        return repr(self._made)
