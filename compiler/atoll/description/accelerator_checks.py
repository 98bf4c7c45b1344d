# SPDX-License-Identifier: Apache-2.0
"""Hold what an accelerator says of operators against what Atoll knows.

That is: names and features, patterns, layouts of operands, and the driver.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import partial
from itertools import count

from atoll.description.accelerator import Accelerator, OperandLayout, Operator
from atoll.description.faults import Faults, nearest, nearest_word
from atoll.description.operators import DRIVERS, FEATURES, OPERATOR_GROUP, operands_of
from atoll.description.patterns import ANYTHING, PatternStep, Words, read_pattern, words_of
from atoll.description.remedies import add, like, remove, rename_fix, value_fix, write, write_pair
from atoll.description.tree import SourceMap
from atoll.diagnostics.edit import Edit, Remedy
from atoll.plugins.registry import entries_in
from atoll.records import dataclass

MADE_BY_ATOLL = frozenset({"COPY", "ETHOS_U", "RELAYOUT"})
"""Operators that no network has before placement."""

ANY_NUMBER = frozenset({"CONCATENATION"})
"""Operators of as many operands as somebody likes."""


@dataclass(frozen=True, slots=True)
class _Objection:
    path: tuple[str, ...]
    message: str
    remedy: Remedy
    code: str = "E149"


def check_patterns(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note patterns that no network can have."""
    for kind, operator in accelerator.operators.items():
        for each in _pattern_faults(kind, operator):
            at = where.at(*each.path) or where.key_at(*each.path)
            faults.add(each.code, each.message, at=at, remedy=each.remedy)


def known_words(kind: str, operator: Operator) -> Words | None:
    """Return what the description of an operator may name, None if nobody knows."""
    if any(_pattern_faults(kind, operator)):
        return None
    return words_of(kind, read_pattern(operator.pattern))


def _pattern_faults(kind: str, operator: Operator) -> Iterator[_Objection]:
    if not operator.pattern:
        return
    at = ("operators", kind, "pattern")
    steps = read_pattern(operator.pattern)
    if kind in FEATURES or kind.lower() in entries_in(OPERATOR_GROUP):
        what = f"{kind} is an operator, so it cannot name a pattern"
        yield _Objection(at, what, remove(*at) | "choose another name")
    if len(steps) == 1:
        what = f"the pattern of {kind} has one operator; a pattern merges several"
        remedy = remove(*at[:-1]) | "list the operator itself under 'operators'"
        yield _Objection(at, what, remedy)
    read = {name for step in steps for name in step.operands}
    for number, step in enumerate(steps):
        path = (*at, step.name)
        before = [each.name for each in steps[:number]]
        yield from _of_step(step, operator.pattern[step.name], before, path)
        if step.name not in read and step != steps[-1]:
            what = f"no step of the pattern reads the result of '{step.name}'"
            remedy = remove(*path) | "name it among the operands of a later step"
            yield _Objection(path, what, remedy)


def _of_step(
    step: PatternStep, text: str, before: list[str], path: tuple[str, ...]
) -> Iterator[_Objection]:
    """Yield what is wrong with a step, written as `text`, after those that are called `before`."""
    kind = step.kind
    if kind not in FEATURES and kind.lower() not in entries_in(OPERATOR_GROUP):
        known = {*FEATURES} - MADE_BY_ATOLL
        close = nearest_word(kind, known)
        meant = (value_fix(path, text.replace(kind, close, 1)),) if close else ()
        remedy = Remedy(nearest(kind, known, "remove the step"), (*meant, *remove(*path).fixes))
        yield _Objection(path, f"Atoll has no operator '{kind}'", remedy, "E116")
        return
    if kind in MADE_BY_ATOLL:
        what = f"{kind} occurs in no network: Atoll inserts it after placement"
        yield _Objection(path, what, remove(*path) | "name another operator")
    most = len(operands_of(kind))
    if kind in FEATURES and kind not in ANY_NUMBER and len(step.operands) > most:
        what = f"{kind} reads {most} tensor{'s' * (most > 1)}, and '{step.name}' names"
        yield _Objection(path, f"{what} {len(step.operands)}", write(path, kind))
    for name in filter(None, step.operands):
        if name not in before:
            what = f"'{name}' is no step before '{step.name}'"
            mended = f"{kind}({_mend_operands(step, name, before)})"
            yield _Objection(path, what, write(path, mended))


def _mend_operands(step: PatternStep, wrong: str, before: list[str]) -> str:
    """Return the operands of a step with the name that is meant, or any tensor, for a wrong one."""
    meant = next(iter(get_close_matches(wrong, before, n=1)), ANYTHING)
    return ", ".join(meant if each == wrong else each or ANYTHING for each in step.operands)


RESULT = "output"
CONSTANTS = ("filter", "bias")

Formula = Callable[[str, frozenset[str], tuple[str, ...]], None]


def check_layouts(
    accelerator: Accelerator, where: SourceMap, faults: Faults, formula: Formula
) -> None:
    """Note layouts of what is no operand, and those that cannot be; `formula` judges formulas."""
    for kind, operator in accelerator.operators.items():
        words = known_words(kind, operator)
        if words is None:
            continue
        known = frozenset({*accelerator.parameters, *words.features, *words.quantities})
        whose = words.operands
        names = [name for name in whose if whose[name][1] not in CONSTANTS]
        for name, layout in operator.layouts.items():
            at = ("operators", kind, "layouts", name)
            if name in whose and whose[name][1] in CONSTANTS:
                what = f"'{name}' of {kind} is a constant: a function under 'constants' packs it"
                faults.add("E155", what, at=where.key_at(*at), remedy=remove(*at))
            elif name not in names:
                what = f"{kind} has no operand '{name}'"
                remedy = like(name, names, partial(rename_fix, at), at)
                faults.add("E155", what, at=where.key_at(*at), remedy=remedy)
            windows = name in whose and name != RESULT and _has_windows(whose[name][0])
            for objection, remedy in _layout_faults(layout, at, windows=windows):
                faults.add("E155", objection, at=where.key_at(*at), remedy=remedy)
            for key in ("block", "row"):
                if (text := getattr(layout, key)) is not None:
                    formula(text, known, (*at, key))


def _has_windows(kind: str) -> bool:
    return "kernel_h" in FEATURES[kind]


def _layout_faults(
    layout: OperandLayout, at: tuple[str, ...], *, windows: bool
) -> list[tuple[str, Remedy]]:
    found: list[tuple[str, Remedy]] = []
    blocked = layout.order.endswith("c")
    if blocked and layout.block is None:
        what = f"the order {layout.order} has a channel block, but 'block' does not give its size"
        found.append((what, add((*at, "block"), 8) + ", for example"))
    if not blocked and layout.block is not None:
        what = f"the order {layout.order} has no channel block (a 'c' at its end)"
        order = write_pair((*at, "order"), f"{layout.order}c")
        found.append((what, remove(*at, "block") | order))
    if layout.patches and not windows:
        what = f"'{at[-1]}' of {at[1]} has no windows, so 'patches' does not apply"
        found.append((what, remove(*at, "patches")))
    return found


def check_operators(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note operators, and features or values, that there are not; others' are not known."""
    for kind, operator in accelerator.operators.items():
        if kind in FEATURES or operator.pattern:
            _check_features(kind, accelerator, where, faults)
        elif kind.lower() not in entries_in(OPERATOR_GROUP):
            at = ("operators", kind)
            faults.add(
                "E116",
                f"Atoll has no operator '{kind}'",
                at=where.key_at(*at),
                remedy=like(kind, FEATURES, partial(rename_fix, at), at),
            )


def _check_features(kind: str, accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    operator = accelerator.operators[kind]
    if (words := known_words(kind, operator)) is None:
        return
    for feature in operator.limits:
        if feature not in (*words.features, *operator.values):
            at = ("operators", kind, "limits", feature)
            faults.add(
                "E117",
                f"{kind} has no feature '{feature}'",
                at=where.key_at(*at),
                remedy=like(feature, words.features, partial(rename_fix, at), at),
            )


def check_driver(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note a driver that there is not, and registers that a driver lacks."""
    if accelerator.program or "/" in accelerator.driver:
        return
    driver, registers = accelerator.driver, accelerator.registers.map
    if driver not in DRIVERS:
        faults.add(
            "E071",
            f"there is no C driver '{driver}'",
            at=where.at("driver"),
            remedy=write(("driver",), next(iter(DRIVERS))),
        )
        return
    missing = [name for name in DRIVERS[driver] if name not in registers]
    free = (offset for offset in count(0, 4) if offset not in registers.values())
    offsets = [f"{offset:#04x}" for offset, _ in zip(free, missing, strict=False)]
    pairs = [*zip(missing, offsets, strict=True)]
    if missing:
        words = ", then ".join(f"add '{name}: {at}' to 'registers.map'" for name, at in pairs)
        edits = tuple(Edit(("registers", "map", name), at) for name, at in pairs)
        faults.add(
            "E115",
            f"the driver '{driver}' uses registers that 'map' does not have: {', '.join(missing)}",
            at=where.key_at("registers", "map"),
            remedy=Remedy(f"{words}; the offsets are those of your hardware", (edits,)),
        )
