# SPDX-License-Identifier: Apache-2.0
"""Bugs planted in a function unit and in a core's adapter are named by their kits."""

from collections.abc import Callable, Iterator

import pytest
from benchmarks import planted_units
from benchmarks.planted_units import CORE, UNIT, UnitBug, judge_core, judge_unit

pytestmark = [pytest.mark.rtl, pytest.mark.slow]


@pytest.mark.parametrize(
    ("judge", "bug", "said"),
    [
        (judge_unit, UNIT[1], "call 1: it never answers"),
        (judge_unit, UNIT[4], "the answer changes before it is taken"),
        (judge_unit, UNIT[5], "an answer that nobody asked for"),
        (judge_core, CORE[0], "WritesNameTheirBytes failed"),
        (judge_core, CORE[2], "interrupts: result 30 is 0x1, not 0x0"),
        (judge_core, CORE[4], "loads and stores: the core stands still"),
    ],
    ids=lambda value: value.name if isinstance(value, UnitBug) else "",
)
def test_a_planted_bug_is_named(
    judge: Callable[[UnitBug | None], Iterator[str]], bug: UnitBug, said: str
) -> None:
    assert said in next(judge(bug), "")


@pytest.mark.parametrize("judge", [judge_unit, judge_core])
def test_without_a_bug_nothing_is_said(judge: Callable[[UnitBug | None], Iterator[str]]) -> None:
    assert next(judge(None), "") == ""


def test_a_bug_whose_text_is_gone_is_an_error() -> None:
    with pytest.raises(ValueError, match="its text is there 0 times"):
        planted_units.change("module other; endmodule", UNIT[0])
