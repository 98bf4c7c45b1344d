# SPDX-License-Identifier: Apache-2.0
"""The changes between two sets of things, each as a sentence."""

from collections.abc import Iterator, Sequence

from atoll.api.differences import Change
from atoll_compare.chip_values import NO_REACH, REACH, Thing, Value


def changes(first: Sequence[Thing], second: Sequence[Thing]) -> Iterator[Change]:
    """Yield what differs, in the order of the second's things, then what only the first has."""
    old = {(thing.kind, thing.name): thing for thing in first}
    new = {(thing.kind, thing.name): thing for thing in second}
    for key, thing in new.items():
        if key in old:
            yield from _inside(old[key], thing)
        else:
            text = f"{_subject(thing)} is new: {thing.summary}"
            yield Change(thing.kind, thing.name, "", None, thing.summary, text)
    for key, thing in old.items():
        if key not in new:
            text = f"{_subject(thing)} is gone: {thing.summary}"
            yield Change(thing.kind, thing.name, "", thing.summary, None, text)


def _inside(old: Thing, new: Thing) -> Iterator[Change]:
    for key in {**old.values, **new.values}:
        absent = NO_REACH if key.startswith(REACH) else None
        before, after = old.values.get(key, absent), new.values.get(key, absent)
        if before != after:
            text = f"{_subject(new)}{_change_text(key, before, after)}"
            yield Change(
                *(new.kind, new.name, key),
                before.raw if before else None,
                after.raw if after else None,
                text,
            )


def _subject(thing: Thing) -> str:
    return f"{thing.kind} '{thing.name}'" if thing.name else f"the {thing.kind}"


def _change_text(key: str, before: Value | None, after: Value | None) -> str:
    """Say what became of a value, to be read after the thing that has it."""
    if before is None:
        return f": {key} is {after.text if after else ''}, was not there"
    if after is None:
        return f": {key} is not there any more, was {before.text}"
    if key.startswith(REACH):
        return _reach(key.removeprefix(REACH), before, after)
    if before.grows and before.number is not None and after.number is not None:
        verb = "grew" if after.number > before.number else "shrank"
        subject = "" if key == "size" else f": {key}"
        return f"{subject} {verb} from {before.text} to {after.text}"
    if key == "origin":
        return f" moved from {before.text} to {after.text}"
    return f": {key} is {after.text}, was {before.text}"


def _reach(device: str, before: Value, after: Value) -> str:
    if before == NO_REACH:
        return f": '{device}' reaches it now, {after.text}"
    if after == NO_REACH:
        return f": '{device}' reaches it no more, was {before.text}"
    return f": '{device}' has {after.text}, had {before.text}"
