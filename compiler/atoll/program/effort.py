# SPDX-License-Identifier: Apache-2.0
"""How much a host has to do for the steps of a program."""

from collections.abc import Mapping, Sequence

from atoll.program.expressions import value_of
from atoll.program.record import WORD_BYTES
from atoll.program.steps import MOVES, Step, Verb
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts.

    Attributes:
        accesses: registers that are written and waits.
        moves: pushes and pops.
        words: that these move as such.
        bytes: that they move one by one: of rows that begin within a word, and of rests.
        turns: of repetitions.
    """

    accesses: int = 0
    moves: int = 0
    words: int = 0
    bytes: int = 0
    turns: int = 0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            self.accesses + other.accesses,
            self.moves + other.moves,
            self.words + other.words,
            self.bytes + other.bytes,
            self.turns + other.turns,
        )

    def __mul__(self, times: int) -> "Effort":
        return Effort(
            self.accesses * times,
            self.moves * times,
            self.words * times,
            self.bytes * times,
            self.turns * times,
        )


def effort_of(steps: Sequence[Step], values: Mapping[str, int]) -> Effort:
    """Count what steps do, repetitions by the effort of some first turns and of the last one.

    Raises:
        ExpressionError: a formula has no value.
    """
    total = Effort()
    for step in steps:
        if step.verb is Verb.REPEAT:
            total += _repetition_effort(step, values)
        elif step.verb in MOVES:
            size = max(0, value_of(step.expressions[1], values))
            whole = 0 if value_of(step.expressions[0], values) % WORD_BYTES else size // WORD_BYTES
            total += Effort(moves=1, words=whole, bytes=size - whole * WORD_BYTES)
        else:
            total += Effort(accesses=1)
    return total


def _repetition_effort(step: Step, values: Mapping[str, int]) -> Effort:
    """Count a repetition: where in a word its rows begin comes back every fourth turn."""
    times = max(0, value_of(step.expressions[0], values))
    if not times:
        return Effort()
    total = effort_of(step.steps, {**values, step.name: times - 1}) + Effort(turns=times)
    for turn in range(min(times - 1, WORD_BYTES)):
        alike = len(range(turn, times - 1, WORD_BYTES))
        total += effort_of(step.steps, {**values, step.name: turn}) * alike
    return total
