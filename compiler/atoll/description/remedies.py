# SPDX-License-Identifier: Apache-2.0
"""Remedies that are edits: each makes its words and its data of the same key and value."""

from collections.abc import Callable, Iterable

from atoll.description.edits import set_key
from atoll.description.faults import nearest_word
from atoll.description.tree import Key
from atoll.diagnostics.edit import Edit, Fix, Remedy

FEW = 3
"""Names of which each is offered as an edit."""


def remove(*key: str) -> Remedy:
    """Say to remove a key or an item."""
    return Remedy(f"remove '{'.'.join(key)}'", ((Edit(key),),))


def rename(key: Key, name: str) -> Remedy:
    """Say to rename a key."""
    return Remedy(f"rename '{'.'.join(key)}' to '{name}'", (rename_fix(key, name),))


def write(key: Key, value: object) -> Remedy:
    """Say to write another value in the place of one."""
    return Remedy(f"write '{value}'", (value_fix(key, value),))


def write_pair(key: Key, value: object) -> Remedy:
    """Say the same with the key."""
    return Remedy(f"write '{key[-1]}: {value}'", (value_fix(key, value),))


def put(key: Key, value: object) -> Remedy:
    """Say the same with the whole key, where the message points elsewhere."""
    return Remedy(f"set '{'.'.join(key)}' to {value}", (value_fix(key, value),))


def add(key: Key, value: object) -> Remedy:
    """Say to add a key that is missing."""
    return Remedy(f"add '{key[-1]}: {value}'", (value_fix(key, value),))


def value_fix(key: Key, value: object) -> Fix:
    """Return the fix that gives a key a value."""
    return (set_key(key, value),)


def rename_fix(key: Key, name: str) -> Fix:
    """Return the fix that gives a key another name."""
    return (Edit(key, name=name),)


def like(word: str, known: Iterable[str], become: Callable[[str], Fix], step: Key = ()) -> Remedy:
    """Say to write the name that is meant, else to remove a step, or to write a number.

    Args:
        word: what is no name.
        known: all names.
        become: returns the fix that writes a name instead.
        step: what goes if no name is meant; without it a number can stand there.
    """
    names = sorted(known)
    gone = remove(*step) if step else Remedy("write '0'", (become("0"),))
    if close := nearest_word(word, names):
        return Remedy(
            f"did you mean '{close}'? If not, delete it",
            (become(close), *(gone.fixes if step else ())),
        )
    if not names:
        return gone
    return gone | Remedy(
        f"use one of {', '.join(names)}", tuple(map(become, names)) if len(names) <= FEW else ()
    )
