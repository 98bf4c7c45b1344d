# SPDX-License-Identifier: Apache-2.0
"""All that a network needs of a chip at once: what is missing is given until the network fits."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from atoll.diagnostics.errors import AtollError, Refusal
from atoll.resolve.remedy.growth import grow
from atoll.resolve.soc import ResolvedSoc

_ROUNDS = 12
"""Trials, after which the remedy is the best that is known."""

Attempt = Callable[[ResolvedSoc], Mapping[str, int] | Refusal]
"""Compiles for a chip; returns the bytes that are used, by dotted key of what they are used of, or
why the chip does not suffice."""


def with_whole_need(error: Refusal, soc: ResolvedSoc, attempt: Attempt) -> AtollError:
    """Return `error` with the smallest remedy known with which everything fits.

    Args:
        error: a refusal by a compiler.
        soc: the chip that it refused.
        attempt: the compiler.
    """
    search = _Search(soc, attempt)
    remedy = search.run(error)
    if remedy is None:
        return error
    wants = tuple(search.wants.items())
    return type(error).all(replace(each, remedy=remedy, wants=wants) for each in error.faults)


def with_room(error: AtollError, soc: ResolvedSoc) -> AtollError:
    """Return `error` with the edits that give all faults what they want, memories included."""
    wants = error.wants
    found = grow(soc, wants) if wants else None
    if found is None:
        return error
    said = (replace(each, remedy=found[0]) if each.wants else each for each in error.faults)
    return type(error).all(said)


class _Search:
    def __init__(self, soc: ResolvedSoc, attempt: Attempt) -> None:
        self.wants: dict[str, int] = {}
        self._soc = soc
        self._attempt = attempt
        self._guessed: set[str] = set()

    def run(self, error: Refusal) -> str | None:
        """Return the remedy, None if nothing better than that of `error` is known."""
        remedy: str | None = None
        for _ in range(_ROUNDS):
            if not all(fault.wants for fault in error.faults):
                return remedy
            self._want(error)
            found = grow(self._soc, self.wants)
            if found is None:
                return remedy
            remedy = found[0]
            used = self._attempt(found[1])
            if isinstance(used, Mapping):
                return self._trim(used) or remedy
            error = used
        return remedy

    def _want(self, error: Refusal) -> None:
        """Add what `error` wants; what is asked for one by one is guessed to double each time."""
        for fault in error.faults:
            for key, size in fault.wants:
                known = self.wants.get(key, 0)
                if known and fault.code == "E061" and size > known:
                    self._guessed.add(key)
                    size = max(size, 2 * known)
                self.wants[key] = max(known, size)

    def _trim(self, used: Mapping[str, int]) -> str | None:
        """Return the remedy that gives no more than is used, if guesses were more than that."""
        exact = {k: used[k] if k in self._guessed else size for k, size in self.wants.items()}
        found = grow(self._soc, exact) if self._guessed else None
        if found is None or not isinstance(self._attempt(found[1]), Mapping):
            return None
        self.wants = exact
        return found[0]
