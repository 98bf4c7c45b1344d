# SPDX-License-Identifier: Apache-2.0
"""Hold the patterns of an accelerator's operators against the operators that there are."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from atoll.description.accelerator import Accelerator, Operator
from atoll.description.faults import Faults, nearest
from atoll.description.operators import FEATURES, OPERATOR_GROUP, operands_of
from atoll.description.patterns import ANYTHING, PatternStep, Words, read_pattern, words_of
from atoll.description.tree import SourceMap
from atoll.plugins.registry import registered

MADE_BY_ATOLL = frozenset({"COPY", "ETHOS_U", "RELAYOUT"})
"""Operators that no network has before placement."""

ANY_NUMBER = frozenset({"CONCATENATION"})
"""Operators of as many operands as somebody likes."""


@dataclass(frozen=True, slots=True)
class _Objection:
    path: tuple[str, ...]
    message: str
    remedy: str
    code: str = "E149"


def check_patterns(accelerator: Accelerator, where: SourceMap, faults: Faults) -> None:
    """Note patterns that no network can have."""
    for kind, operator in accelerator.operators.items():
        for each in _objections(kind, operator):
            at = where.at(*each.path) or where.key_at(*each.path)
            faults.add(each.code, each.message, at=at, remedy=each.remedy)


def known_words(kind: str, operator: Operator) -> Words | None:
    """Return what the description of an operator may name, None if nobody knows."""
    if any(_objections(kind, operator)):
        return None
    return words_of(kind, read_pattern(operator.pattern))


def _objections(kind: str, operator: Operator) -> Iterator[_Objection]:
    if not operator.pattern:
        return
    at = ("operators", kind, "pattern")
    steps = read_pattern(operator.pattern)
    if kind in FEATURES or kind.lower() in registered(OPERATOR_GROUP):
        what = f"{kind} is an operator, so it cannot name a pattern"
        yield _Objection(at, what, f"remove 'operators.{kind}.pattern', or choose another name")
    if len(steps) == 1:
        what = f"the pattern of {kind} has one operator; a pattern merges several"
        remedy = f"remove 'operators.{kind}', or list the operator itself under 'operators'"
        yield _Objection(at, what, remedy)
    read = {name for step in steps for name in step.operands}
    for number, step in enumerate(steps):
        path = (*at, step.name)
        yield from _of_step(step, [each.name for each in steps[:number]], path)
        if step.name not in read and step != steps[-1]:
            what = f"no step of the pattern reads the result of '{step.name}'"
            remedy = f"remove '{'.'.join(path)}', or name it among the operands of a later step"
            yield _Objection(path, what, remedy)


def _of_step(step: PatternStep, before: list[str], path: tuple[str, ...]) -> Iterator[_Objection]:
    """Yield what is wrong with a step after those that are called `before`."""
    kind = step.kind
    if kind not in FEATURES and kind.lower() not in registered(OPERATOR_GROUP):
        remedy = nearest(kind, {*FEATURES} - MADE_BY_ATOLL, "remove the step")
        yield _Objection(path, f"Atoll has no operator '{kind}'", remedy, "E116")
        return
    if kind in MADE_BY_ATOLL:
        what = f"{kind} occurs in no network: Atoll inserts it after placement"
        yield _Objection(path, what, f"remove '{'.'.join(path)}', or name another operator")
    most = len(operands_of(kind))
    if kind in FEATURES and kind not in ANY_NUMBER and len(step.operands) > most:
        what = f"{kind} reads {most} tensor{'s' * (most > 1)}, and '{step.name}' names"
        yield _Objection(path, f"{what} {len(step.operands)}", f"write '{kind}'")
    for name in filter(None, step.operands):
        if name not in before:
            what = f"'{name}' is no step before '{step.name}'"
            yield _Objection(path, what, f"write '{kind}({_mended(step, name, before)})'")


def _mended(step: PatternStep, wrong: str, before: list[str]) -> str:
    """Return the operands of a step with the name that is meant, or any tensor, for a wrong one."""
    meant = next(iter(get_close_matches(wrong, before, n=1)), ANYTHING)
    return ", ".join(meant if each == wrong else each or ANYTHING for each in step.operands)
