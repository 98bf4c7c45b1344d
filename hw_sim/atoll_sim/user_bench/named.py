# SPDX-License-Identifier: Apache-2.0
"""Parts of a chip by name, of which a wrong one is answered with those that there are."""

from collections.abc import Iterable, Mapping
from typing import NoReturn, TypeVar

Part = TypeVar("Part")


class Named(dict[str, Part]):
    """A mapping whose `KeyError` says what there is."""

    def __init__(self, what: str, parts: Mapping[str, Part]) -> None:
        """Take the parts; `what` is what a person calls one of them."""
        super().__init__(parts)
        self._what = what

    def __missing__(self, name: str) -> NoReturn:
        raise lookup_error(self._what, name, self)


def lookup_error(what: str, name: str, known: Iterable[str]) -> KeyError:
    """Return the error of a name that nothing has."""
    names = ", ".join(known)
    return KeyError(f"no {what} '{name}'; there {f'are {names}' if names else 'is none'}")
