# SPDX-License-Identifier: Apache-2.0
"""Quick fixes: the remedies of faults as changes of the texts that have to change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from atoll.description.text_edits import edit_text
from atoll.diagnostics.edit import Edit, Fix, Patch
from atoll.diagnostics.errors import Fault
from atoll.records import dataclass
from atoll_lsp.analysis import Texts, absolute, layers_of, places_in, text_of


@dataclass(frozen=True, slots=True)
class Change:
    """Characters of a file that others take the place of, by index."""

    span: tuple[int, int]
    text: str


def changes_of(
    fix: Fix, fault: Fault, path: Path, texts: Texts, may_edit: Callable[[Path], bool]
) -> Mapping[Path, Change]:
    """Return the change of each file that a fix of a fault comes to; none if nobody may do it.

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
    found = {file: _change(text_of(file, texts) or "", text) for file, text in changed.items()}
    return {file: each for file, each in found.items() if each.text or each.span[0] < each.span[1]}


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


def _change(before: str, after: str) -> Change:
    """Return the lines from the first to the last in which two texts differ."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = _same(old, new)
    last = _same(old[first:][::-1], new[first:][::-1])
    begin, end = sum(map(len, old[:first])), len(before) - sum(map(len, old[len(old) - last :]))
    return Change((begin, end), "".join(new[first : len(new) - last]))


def _same(one: list[str], other: list[str]) -> int:
    """Return how many lines two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
