# SPDX-License-Identifier: Apache-2.0
"""What a remedy says, in words and as data: changes of a description."""

from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a description.

    Attributes:
        key: what is changed.
        text: YAML of the new value, None if the key keeps its value or goes.
        name: the new name of the key, "" if it keeps its own.
        everywhere: the name changes wherever it is used.
        begin: index of the key's first character, of a key that is given twice.
    """

    key: tuple[str, ...]
    text: str | None = None
    name: str = ""
    everywhere: bool = False
    begin: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """One change of a text that is no plain data.

    Attributes:
        begin: index of the first character of `old`.
        old: what is there.
        new: what takes its place.
    """

    begin: int
    old: str
    new: str = ""


Candidate = tuple[Edit, ...]
"""Edits that belong together."""

Fix = tuple[Edit | Patch, ...]
"""The same, or patches, the last of a text first."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would help.

    Attributes:
        text: in words.
        fixes: each of what the words say, in their order; none where that is no edit.
    """

    text: str
    fixes: tuple[Fix, ...] = ()

    def __or__(self, other: "Remedy | str") -> "Remedy":
        """Return the choice of two."""
        text, fixes = words_and_fixes(other)
        return Remedy(f"{self.text}, or {text}", self.fixes + fixes)

    def __add__(self, words: str) -> "Remedy":
        """Return the same with more words."""
        return Remedy(self.text + words, self.fixes)


def words_and_fixes(remedy: Remedy | str | None) -> tuple[str | None, tuple[Fix, ...]]:
    """Return the two parts of a remedy, which may be words alone."""
    return (remedy.text, remedy.fixes) if isinstance(remedy, Remedy) else (remedy, ())
