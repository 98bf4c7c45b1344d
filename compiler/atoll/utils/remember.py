# SPDX-License-Identifier: Apache-2.0
"""What pure functions of frozen values returned, at hand for the same values."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Result = TypeVar("Result")

MOST_OPERATORS = 500
"""Of networks whose programs, plans and costs are kept; those of larger ones take much memory."""

_TABLES: list[dict[Hashable, Any]] = []
_LOCK = Lock()


def remember(
    key: Callable[..., Hashable], most: int
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Return a decorator of functions whose results depend on the values of `key` alone.

    Args:
        key: gets the arguments, which need not be hashable; its result holds all that counts. None
            where the result shall not be kept.
        most: results that are kept; those that were made first make room.
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        known = OrderedDict[Hashable, Result]()
        _TABLES.append(known)

        @wraps(function)
        def remembering(*arguments: Any) -> Result:
            wanted = key(*arguments)
            found = known.get(wanted)
            if found is None:
                found = function(*arguments)
                with _LOCK:
                    if len(known) >= most:
                        known.popitem(last=False)
                    if wanted is not None:
                        known[wanted] = found
            return found

        return remembering

    return decorate


def count_results() -> int:
    """Return how many results are at hand; none are in a fresh process."""
    return sum(map(len, _TABLES))


def forget() -> None:
    """Forget all results, as a fresh process begins."""
    with _LOCK:
        for table in _TABLES:
            table.clear()


class Alike:
    """Values that have no hash, or none that is made soon, as a key: equal where they are equal.

    Attributes:
        sign: part of what they say that has a hash; equal values have equal ones.
    """

    __slots__ = ("_hash", "sign", "values")

    def __init__(self, sign: Hashable, *values: object) -> None:
        self.sign = sign
        self.values = values
        self._hash = hash(sign)

    def __hash__(self) -> int:
        """Return the hash of the sign."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare signs and values."""
        if self is other:
            return True
        return isinstance(other, Alike) and self.sign == other.sign and self.values == other.values
