# SPDX-License-Identifier: Apache-2.0
"""One change of a description, as data: what a remedy says in words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a description.

    Attributes:
        key: what is changed.
        text: YAML of the new value, None if the key keeps its value or goes.
        name: the new name of the key, "" if it keeps its own.
        everywhere: the name changes wherever it is used.
    """

    key: tuple[str, ...]
    text: str | None = None
    name: str = ""
    everywhere: bool = False


Candidate = tuple[Edit, ...]
"""Edits that belong together."""
