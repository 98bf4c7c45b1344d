"""How much a host has to do for the steps of a program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atoll.program.expressions import value_of
from atoll.program.record import WORD_BYTES
from atoll.program.steps import MOVES, Step, Verb


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts.

    Attributes:
        accesses: registers that are written and waits.
        moves: pushes and pops.
        words: that these move.
        turns: of repetitions.
    """

    accesses: int = 0
    moves: int = 0
    words: int = 0
    turns: int = 0

    def __add__(self, other: "Effort") -> "Effort":
        return Effort(
            self.accesses + other.accesses,
            self.moves + other.moves,
            self.words + other.words,
            self.turns + other.turns,
        )


def effort_of(steps: Sequence[Step], values: Mapping[str, int]) -> Effort:
    """Count what steps do, repetitions by the effort of their first and their last turn.

    Raises:
        ExpressionError: a formula has no value.
    """
    total = Effort()
    for step in steps:
        if step.verb is Verb.REPEAT:
            total += _repeated(step, values)
        elif step.verb in MOVES:
            size = max(0, value_of(step.expressions[1], values))
            total += Effort(moves=1, words=-(-size // WORD_BYTES))
        else:
            total += Effort(accesses=1)
    return total


def _repeated(step: Step, values: Mapping[str, int]) -> Effort:
    times = max(0, value_of(step.expressions[0], values))
    if not times:
        return Effort()
    one = effort_of(step.steps, {**values, step.name: 0})
    last = effort_of(step.steps, {**values, step.name: times - 1})
    others = times - 1
    return Effort(
        one.accesses * others + last.accesses,
        one.moves * others + last.moves,
        one.words * others + last.words,
        one.turns * others + last.turns + times,
    )
