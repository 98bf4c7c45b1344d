# SPDX-License-Identifier: Apache-2.0
"""Several operators that an accelerator takes as one, and the names that its formulas then have."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Annotated

from atoll.description.fields import text
from atoll.description.operators import FEATURES, QUANTITIES, operands_of
from atoll.records import dataclass

ANYTHING = "_"
RESULT = "output"

_STEP = re.compile(
    r"([A-Z][A-Z0-9_]{0,31}) *(?:\( *([a-z_][a-z0-9_]*(?: *, *[a-z_][a-z0-9_]*)*) *\))?"
)

StepText = Annotated[str, *text(_STEP, "an operator such as ADD, or ADD(one, _) with its operands")]


@dataclass(frozen=True, slots=True)
class PatternStep:
    """One operator of a pattern.

    Attributes:
        name: what the names of its features and operands begin with in formulas.
        kind: of the operator, in capitals.
        operands: names of the steps whose results its inputs are, in order; "" for a tensor that
            comes from outside, as all inputs do for which there is no entry.
    """

    name: str
    kind: str
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What the description of an operator, or of a pattern, may name.

    Attributes:
        features: of limits and formulas.
        quantities: further numbers of formulas.
        operands: the tensors that it reads and makes, each with the kind of the operator that
            does and what that one calls it.
        inner: tensors between the operators of a pattern, which lie nowhere.
    """

    features: tuple[str, ...]
    quantities: tuple[str, ...]
    operands: Mapping[str, tuple[str, str]]
    inner: tuple[str, ...] = ()


def read_pattern(pattern: Mapping[str, str]) -> tuple[PatternStep, ...]:
    """Return the steps of a pattern.

    Where none names its operands, each reads the result of the step before.
    """
    steps = tuple(_step(name, written) for name, written in pattern.items())
    if any(step.operands for step in steps):
        return steps
    return (*steps[:1], *(replace(each, operands=(one.name,)) for one, each in pairwise(steps)))


def _step(name: str, written: str) -> PatternStep:
    match = _STEP.fullmatch(written)
    assert match, f"{written} passed its check"
    kind, operands = match[1], match[2]
    named = tuple(each.strip() for each in operands.split(",")) if operands else ()
    return PatternStep(name, kind, tuple("" if each == ANYTHING else each for each in named))


def words_of(kind: str, pattern: tuple[PatternStep, ...]) -> Words | None:
    """Return the words of an operator in capitals, or of a pattern.

    They are None where an operator is one of another package, whose words nobody knows yet.
    """
    if not pattern:
        if kind not in FEATURES:
            return None
        operands = {name: (kind, name) for name in (*operands_of(kind), RESULT)}
        return Words(
            features=FEATURES[kind], quantities=QUANTITIES.get(kind, ()), operands=operands
        )
    if any(step.kind not in FEATURES for step in pattern):
        return None
    operands = {
        f"{step.name}_{operand}": (step.kind, operand)
        for step in pattern
        for at, operand in enumerate(operands_of(step.kind))
        if not any(step.operands[at : at + 1])
    }
    return Words(
        features=("macs", *_lines_with_prefix(pattern, FEATURES)),
        quantities=tuple(_lines_with_prefix(pattern, QUANTITIES)),
        operands={**operands, RESULT: (pattern[-1].kind, RESULT)},
        inner=tuple(f"{step.name}_{RESULT}" for step in pattern[:-1]),
    )


def _lines_with_prefix(
    pattern: tuple[PatternStep, ...], table: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    for step in pattern:
        for name in table.get(step.kind, ()):
            yield f"{step.name}_{name}"
