# SPDX-License-Identifier: Apache-2.0
"""Quick fixes: the remedies of faults as changes of the texts that have to change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

from atoll.description.text_edits import edit_text
from atoll.diagnostics.edit import Edit
from atoll.diagnostics.errors import Fault
from atoll_lsp.analysis import Texts, absolute, layers_of, places_in, text_of


@dataclass(frozen=True, slots=True)
class Change:
    """Lines of a file that others take the place of; lines count from 0, `last` is not changed."""

    first: int
    last: int
    text: str


def fixes(
    fault: Fault, path: Path, texts: Texts, may_edit: Callable[[Path], bool]
) -> Mapping[Path, tuple[Change, ...]] | None:
    """Return the changes of each file that a fault's remedy asks for; None if it is no edit.

    Args:
        fault: of the file at `path`.
        path: the file that was judged.
        texts: of open files.
        may_edit: tells whether a file is the user's.
    """
    changed: dict[Path, str] = {}
    for edit in fault.edits:
        steps = list(_files_of(edit, fault, path, {**texts, **changed}, may_edit))
        for file, step in steps:
            before = text_of(file, {**texts, **changed})
            after = edit_text(before, (step,)) if before is not None else None
            if after is None:
                return None
            changed[file] = after
    found = {
        file: tuple(_changes(text_of(file, texts) or "", text)) for file, text in changed.items()
    }
    return {file: changes for file, changes in found.items() if changes} or None


def _files_of(
    edit: Edit, fault: Fault, path: Path, texts: Texts, may_edit: Callable[[Path], bool]
) -> Iterator[tuple[Path, Edit]]:
    """Yield each file that an edit changes, with the edit as it is there."""
    layers = layers_of(path, texts)
    if fault.at and (part := absolute(fault.at)) not in layers:
        if may_edit(part):
            yield part, edit
        return
    mine = [layer for layer in layers if layer == path or may_edit(layer)]
    if edit.everywhere:
        yield from ((layer, edit) for layer in mine)
        return
    for depth in (len(edit.key), len(edit.key) - 1):
        for layer in layers:
            places = places_in(layer, texts)
            if depth and places and places.find(edit.key[:depth]):
                if layer in mine:
                    yield layer, edit
                    return
                break
    if not edit.name:
        yield path, edit if edit.text is not None else replace(edit, text="null")


def _changes(before: str, after: str) -> Iterator[Change]:
    """Yield the lines in which two texts differ."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    for tag, first, last, begin, end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            yield Change(first, last, "".join(new[begin:end]))
