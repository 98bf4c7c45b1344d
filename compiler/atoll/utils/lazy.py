# SPDX-License-Identifier: Apache-2.0
"""Names of a module that are imported from others when they are used first."""

import sys
from collections.abc import Callable, Mapping
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
