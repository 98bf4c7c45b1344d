"""Load parts by name: our own lazily, third parties' through entry points."""

from importlib.metadata import EntryPoint
from typing import Any

from atoll.errors import AtollError


def load(entry: str, group: str = "atoll.parts") -> Any:
    """Import the object that ``module:Attribute`` names.

    Raises:
        AtollError: the module or the attribute is not there.
    """
    try:
        return EntryPoint(entry, entry, group).load()
    except (ImportError, AttributeError, ValueError) as fault:
        raise AtollError(
            "E041",
            f"cannot load '{entry}': {fault}",
            remedy="install the package that provides it, or correct the 'module:Attribute' name",
        ) from fault
