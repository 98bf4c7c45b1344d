# SPDX-License-Identifier: Apache-2.0
"""Campaigns: progress as trials end, turns of kinds, what is held against the tested."""

from collections.abc import Iterator, Sequence

import pytest

from atoll.diagnostics.progress import line
from atoll_sim.campaign import report
from atoll_sim.campaign.trials import Campaign, Trial, follow, group, rotate

KINDS = ("early", "late", "never")


def trial(kind: str, *wrong: str) -> Trial[str, int]:
    return Trial(kind=kind, subject=f"{kind} one", result=len(wrong), end="done", wrong=wrong)


def campaign(*trials: Trial[str, int], sound: bool = True) -> Campaign[str, int, str]:
    return Campaign(soc="chip", model="net", seed=1, baseline="", sound=sound, trials=trials)


def test_progress_is_told_as_each_trial_ends() -> None:
    told: list[str] = []
    begun: list[int] = []

    def trials() -> Iterator[int]:
        for number in range(3):
            assert len(told) == number
            begun.append(number)
            yield number

    def say(ended: Sequence[int]) -> str:
        return f"{len(ended)} of 3"

    def note(what: str, /, *, left: float | None = None) -> None:
        told.append(line(what, left))

    assert follow(trials(), 3, say, note) == (0, 1, 2) == tuple(begun)
    assert told == ["1 of 3, under 1 s left", "2 of 3, under 1 s left", "3 of 3, under 1 s left"]


@pytest.mark.parametrize("first", range(7))
def test_kinds_take_turns_from_the_first_that_is_not_skipped(first: int) -> None:
    turn = [*rotate(KINDS, first)]
    assert turn[0] == KINDS[first % 3]
    assert sorted(turn) == sorted(KINDS)
    assert turn[1] == KINDS[(first + 1) % 3]


def test_trials_are_grouped_in_an_order_without_empty_kinds() -> None:
    trials = [trial("late"), trial("early"), trial("late", "x"), trial("odd")]
    assert [*group(trials)] == ["late", "early", "odd"]
    found = group(trials, order=KINDS)
    assert {name: len(same) for name, same in found.items()} == {"early": 1, "late": 2, "odd": 1}
    assert [*found] == ["early", "late", "odd"]
    assert [*group(trials, lambda each: each.end)] == ["done"]


def test_a_campaign_passes_if_its_baseline_is_sound_and_nothing_is_wrong() -> None:
    assert campaign().passed
    assert campaign(trial("early")).passed
    assert not campaign(trial("early"), trial("late", "it hangs")).passed
    assert not campaign(trial("early"), sound=False).passed
    assert [*report.lines([campaign(trial("early"))])] == ["net, early one: done"]


def test_kinds_that_were_not_tried_are_named_with_the_reason() -> None:
    def told(*trials: Trial[str, int]) -> list[str]:
        words = {"done": "not tried", "option": "--count", "absent": "have none"}
        return [*report.untried_kinds(KINDS, trials, **words)]

    assert told(trial("late")) == ["not tried, --count 3 or more tries them too: early, never"]
    assert told(*[trial("late")] * 3) == ["not tried, these networks have none: early, never"]
    assert told(*map(trial, KINDS)) == []
