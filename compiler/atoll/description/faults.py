# SPDX-License-Identifier: Apache-2.0
"""Collect what is wrong, so that one run reports all of it."""

import re
from collections.abc import Iterable
from dataclasses import field
from difflib import get_close_matches

from atoll.diagnostics.edit import Remedy, words_and_fixes
from atoll.diagnostics.errors import DescriptionError, Fault, SourceLoc
from atoll.records import dataclass


@dataclass(slots=True)
class Faults:
    """The faults of one stage; a fault that is added twice is reported once."""

    found: dict[Fault, None] = field(default_factory=dict)

    def add(
        self,
        code: str,
        message: str,
        *,
        at: SourceLoc | None = None,
        other: tuple[SourceLoc, str] | None = None,
        remedy: Remedy | str | None = None,
        keys: tuple[tuple[str, ...], ...] = (),
    ) -> None:
        """Note one fault and go on."""
        words, fixes = words_and_fixes(remedy)
        fault = Fault(
            code=code, message=message, at=at, other=other, remedy=words, keys=keys, fixes=fixes
        )
        self.found[fault] = None

    def raise_any(self) -> None:
        """Raise what was found, in the order of the places.

        Raises:
            DescriptionError: at least one fault was added.
        """
        if self.found:
            raise DescriptionError.all(in_order(self.found))


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Return `faults` by place; `AtollError.all` drops those that are too many."""
    return sorted(faults, key=_place)


def note(at: SourceLoc | None, text: str) -> tuple[SourceLoc, str] | None:
    """Return the other place of a clash, if that place was written at all."""
    return (at, text) if at else None


def nearest(word: str, choices: Iterable[str], otherwise: str = "delete it") -> str:
    """Return a remedy: the most similar choice or all of them, and what else would help."""
    known = sorted(choices)
    if close := nearest_word(word, known):
        return f"did you mean '{close}'? If not, {otherwise}"
    return f"use one of {', '.join(known)}, or {otherwise}" if known else otherwise


def nearest_word(word: str, choices: Iterable[str]) -> str:
    """Return the most similar choice, "" if none is like `word`."""
    spelled = {name.lower(): name for name in sorted(choices)}
    close = get_close_matches(word.lower(), spelled, n=1)
    return spelled[close[0]] if close else ""


def nearest_part(word: str, choices: Iterable[str], otherwise: str) -> str:
    """Return a remedy as `nearest` does for names of products; one with other digits is another."""
    known = tuple(choices)
    alike = [
        name
        for name in known
        if _digits(name) == _digits(word) or sorted(name) == sorted(word.lower())
    ]
    remedy = nearest(word, alike, otherwise)
    return remedy if remedy.startswith("did you mean") else nearest("", known, otherwise)


def _digits(name: str) -> list[str]:
    return re.findall(r"[0-9]+", name)


def _place(fault: Fault) -> tuple[bool, str, int, int]:
    if fault.at is None:
        return (True, "", 0, 0)
    return (False, str(fault.at.path), fault.at.line, fault.at.column)
