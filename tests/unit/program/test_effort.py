# SPDX-License-Identifier: Apache-2.0
"""What a host does for steps is counted as if it did them one by one."""

import random
from collections.abc import Mapping, Sequence

from tests.effort import cases

from atoll.program.effort import Effort, effort_of
from atoll.program.steps import Step, Verb


def step(verb: Verb, value: str = "0", *, offset: str = "0", steps: Sequence[Step] = ()) -> Step:
    return Step(
        verb=verb,
        name="turn" if verb is Verb.REPEAT else "WINDOW",
        value=value,
        buffer="input" if verb is Verb.PUSH else "",
        offset=offset,
        mask=0,
        equals=0,
        steps=tuple(steps),
    )


def one_by_one(steps: Sequence[Step], values: Mapping[str, int]) -> Effort:
    """Count without any shortcut."""
    total = Effort()
    for each in steps:
        if each.verb is Verb.REPEAT:
            times = int(each.value)
            total += Effort(turns=times)
            for turn in range(times):
                total += one_by_one(each.steps, {**values, "turn": turn})
        else:
            total += effort_of([each], values)
    return total


def test_bytes_are_moved_one_by_one_where_words_cannot_be() -> None:
    assert effort_of([step(Verb.PUSH, "11")], {}) == Effort(moves=1, words=2, bytes=3)
    assert effort_of([step(Verb.PUSH, "8", offset="2")], {}) == Effort(moves=1, bytes=8)
    assert effort_of([step(Verb.WRITE)], {}) == Effort(accesses=1)


def test_repetitions_are_counted_as_they_are() -> None:
    """All turns but the last move as much; where they begin is a multiple of the turn."""
    chance = random.Random(1)
    for _ in range(cases(200)):
        pitch, size, times = chance.randint(1, 40), chance.randint(1, 40), chance.randint(0, 19)
        start = chance.randint(0, 8)
        inner = [step(Verb.PUSH, f"{size}", offset=f"{start} + {pitch} * turn"), step(Verb.WRITE)]
        repeated = [step(Verb.REPEAT, f"{times}", steps=inner)]
        assert effort_of(repeated, {}) == one_by_one(repeated, {})
