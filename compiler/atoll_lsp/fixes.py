# SPDX-License-Identifier: Apache-2.0
"""Quick fixes: the remedies of faults as changes of the texts that have to change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import accumulate
from pathlib import Path

from atoll.description.text_edits import edit_text
from atoll.diagnostics.edit import Edit, Fix, Patch
from atoll.diagnostics.errors import Fault
from atoll_lsp.analysis import Texts, absolute, layers_of, places_in, text_of


@dataclass(frozen=True, slots=True)
class Change:
    """Characters of a file that others take the place of, by index."""

    span: tuple[int, int]
    text: str


def changes_of(
    fix: Fix, fault: Fault, path: Path, texts: Texts, may_edit: Callable[[Path], bool]
) -> Mapping[Path, tuple[Change, ...]]:
    """Return the changes of each file that a fix of a fault comes to; none if nobody may do it.

    Args:
        fix: one of the fault's.
        fault: of the file at `path`.
        path: the file that was judged.
        texts: of open files.
        may_edit: tells whether a file is the user's.
    """
    changed: dict[Path, str] = {}
    for edit in fix:
        for file, step in list(_files_of(edit, fault, path, {**texts, **changed}, may_edit)):
            before = text_of(file, {**texts, **changed})
            after = edit_text(before, (step,)) if before is not None else None
            if after is None:
                return {}
            changed[file] = after
    found = {
        file: tuple(_changes(text_of(file, texts) or "", text)) for file, text in changed.items()
    }
    return {file: changes for file, changes in found.items() if changes}


def _files_of(
    edit: Edit | Patch, fault: Fault, path: Path, texts: Texts, may_edit: Callable[[Path], bool]
) -> Iterator[tuple[Path, Edit | Patch]]:
    """Yield each file that an edit changes, with the edit as it is there."""
    layers = layers_of(path, texts)
    here = absolute(fault.at) if fault.at else path
    if here not in layers or isinstance(edit, Patch) or edit.key == ("extends",):
        if may_edit(here):
            yield here, edit
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
    starts = [0, *accumulate(map(len, old))]
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for tag, first, last, begin, end in steps:
        if tag != "equal":
            yield Change((starts[first], starts[last]), "".join(new[begin:end]))
