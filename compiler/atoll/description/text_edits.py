# SPDX-License-Identifier: Apache-2.0
"""Edits of a description on its text: nothing but what they change, so that comments stay."""

import re

import yaml

from atoll.description.text_places import Place, TextPlaces, canonical_key, text_places
from atoll.description.tree import Key
from atoll.diagnostics.edit import Edit, Fix, Patch

_LINE_END = re.compile(r"\r\n|[\r\n]|\Z")
_COMMENT = re.compile(r"[ \t]*(?:#[^\n]*)?")


def edit_text(text: str, edits: Fix) -> str | None:
    """Return the text of a description after `edits`; None if one of them cannot be done there."""
    for edit in edits:
        if isinstance(edit, Patch):
            changed = _apply_patch(text, edit)
        else:
            places = text_places(text) if text.strip() else None
            changed = _apply_edit(places, edit) if places else None
        if changed is None:
            return None
        text = changed
    return text


def with_section(text: str, key: str, section: str) -> str | None:
    """Return a description with a section at its end, in the place of one of that key.

    None if nothing but that would change, as with braces around the whole text.
    """
    places = text_places(text)
    kept = edit_text(text, (Edit((key,), None),)) if places and places.find((key,)) else text
    if kept is None:
        return None
    mark = "\r\n" if "\r\n" in text else "\n"
    written = kept.rstrip() + 2 * mark + section.replace("\n", mark)
    try:
        same = yaml.safe_load(written) == {**yaml.safe_load(text), **yaml.safe_load(section)}
    except yaml.YAMLError:
        return None
    return written if same else None


def _apply_patch(text: str, patch: Patch) -> str | None:
    span = patch.begin, patch.begin + len(patch.old)
    return _replace(text, span, patch.new) if text[slice(*span)] == patch.old else None


def _apply_edit(places: TextPlaces, edit: Edit) -> str | None:
    if edit.everywhere:
        return _rename_everywhere(places, edit.key[-1], edit.name)
    place = places.find(edit.key)
    if edit.name:
        return _replace(places.text, place.name, edit.name) if place and place.name else None
    if edit.text is None:
        return _remove(places, edit.key, edit.begin)
    if place is None:
        return _add(places, edit.key, edit.text)
    return _with_value(places.text, place, edit.text)


def _replace(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]


def _rename_everywhere(places: TextPlaces, old: str, new: str) -> str:
    text, (word,) = places.text, canonical_key((old,))
    spans = [
        span
        for key, place in places.entries.items()
        for span, said in ((place.name, key[-1] if key else ""), (_value(place), place.text))
        if span and said is not None and canonical_key((said,)) == (word,)
    ]
    for span in sorted(spans, reverse=True):
        text = _replace(text, span, new)
    return text


def _value(place: Place) -> tuple[int, int]:
    return place.begin, place.end


def _with_value(text: str, place: Place, new: str) -> str:
    """Return the text with another value in a place."""
    is_block = place.text is None and not place.flow
    if place.name and (is_block or place.begin == place.end):
        return _replace(text, (_behind_colon(text, place.name[1]), place.end), f" {new}")
    return _replace(text, _value(place), new)


def _behind_colon(text: str, index: int) -> int:
    return text.index(":", index) + 1


def _add(places: TextPlaces, key: Key, value: str) -> str | None:
    """Return the text with a new key in the innermost mapping around it that there is."""
    depth = next((n for n in range(len(key) - 1, -1, -1) if places.find(key[:n])), None)
    written = None if depth is None else places.key_as_written(key[:depth])
    if depth is None or written is None:
        return None
    around = places.entries[written]
    for name in reversed(key[depth + 1 :]):
        value = f"{{{name}: {value}}}"
    pair = f"{key[depth]}: {value}"
    if around.listing:
        return None
    children = places.children(written)
    if around.text is not None or not children:
        return _with_value(places.text, around, f"{{{pair}}}") if written else None
    if around.flow:
        end = children[-1][1].end
        return _replace(places.text, (end, end), f", {pair}")
    first = children[0][1].name
    assert first is not None
    margin = first[0] - (places.text.rfind("\n", 0, first[0]) + 1)
    line_end = _LINE_END.search(places.text, max(around.end, _last(children[-1][1])))
    assert line_end, "a text ends"
    end, mark = line_end.start(), line_end[0] or "\n"
    return _replace(places.text, (end, end), f"{mark}{' ' * margin}{pair}")


def _last(place: Place) -> int:
    return max(place.end, place.name[1] if place.name else 0)


def _line_end(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


def _remove(places: TextPlaces, key: Key, begin: int | None) -> str | None:
    written = places.key_as_written(key)
    again = (each for _, each in places.repeated if each.name and each.name[0] == begin)
    place = places.find(key) if begin is None else next(again, None)
    if not written or place is None:
        return None
    text = places.text
    around = places.entries[written[:-1]]
    siblings = [each for _, each in places.children(written[:-1])]
    begin = place.name[0] if place.name else place.begin
    end = max(_last(place), _behind_colon(text, place.name[1]) if place.name else 0)
    if len(siblings) == 1 and written[:-1]:
        return _with_value(text, around, "[]" if around.listing else "{}")
    if around.flow:
        behind = re.compile(r"\s*,\s*").match(text, end)
        if behind and place is not siblings[-1]:
            return _replace(text, (begin, behind.end()), "")
        return _replace(text, (text[:begin].rstrip().rfind(","), end), "")
    return _without_lines(text, begin, end, siblings, place)


def _without_lines(text: str, begin: int, end: int, siblings: list[Place], place: Place) -> str:
    """Return the text without an entry of a block, and the comment behind it."""
    line = text.rfind("\n", 0, begin) + 1
    before = text[line:begin]
    if (
        not before.strip(" -")
        and before.strip(" ") in ("", "-")
        and (not before.strip() or place.name is None)
    ):
        return _replace(text, (line, min(_line_end(text, end) + 1, len(text))), "")
    following = siblings[siblings.index(place) + 1 :]
    upto = following[0].name if following else None
    comment = _COMMENT.match(text, end)
    return _replace(text, (begin, upto[0] if upto else comment.end() if comment else end), "")
