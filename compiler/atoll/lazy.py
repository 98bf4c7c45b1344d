"""Names of a module that are imported from others when they are used first."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazily(module: str, places: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a module, which finds names in the modules of `places`."""

    def find(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        place = import_module(places[name])
        if not hasattr(place, name):
            import_module(f"{places[name]}.{name}")
        value: object = getattr(place, name)
        setattr(sys.modules[module], name, value)
        return value

    return find
