# SPDX-License-Identifier: Apache-2.0
"""The record of an operator: the words that the host's driver needs to play its steps.

A record begins with the number of the operator's kind among those of the program. Then comes a
word for each value that is known when memory is planned; what depends on a repetition's count is
computed while the steps run.
"""

from collections.abc import Iterator, Mapping, Sequence

from atoll.program.expressions import (
    Applied,
    Expression,
    Name,
    Number,
    c_text,
    names_of,
    value_of,
)
from atoll.program.steps import ADDRESS, MOVES, Step, Verb
from atoll.records import dataclass

WORD = 0xFFFF_FFFF
WORD_BYTES = 4


@dataclass(frozen=True, slots=True)
class Layout:
    """The words of the records of one kind of operator.

    Attributes:
        slots: what each word holds; word 0 is the number of the kind.
    """

    slots: tuple[Expression, ...]

    @property
    def size(self) -> int:
        """Bytes of a record."""
        return WORD_BYTES * (1 + len(self.slots))

    def place(self, expression: Expression) -> int:
        """Return the word that holds an expression."""
        return 1 + self.slots.index(expression)

    def pack(self, kind: int, values: Mapping[str, int]) -> bytes:
        """Return a record of kind number `kind`; `values` are those of all names."""
        words = (kind, *(value_of(slot, values) for slot in self.slots))
        return b"".join((word & WORD).to_bytes(WORD_BYTES, "little") for word in words)

    def values(self, record: bytes, counts: Mapping[str, int]) -> Mapping[Expression, int]:
        """Return what a record says, and the counts of the repetitions."""
        words = {
            slot: int.from_bytes(record[4 * at : 4 * at + 4], "little")
            for at, slot in enumerate(self.slots, start=1)
        }
        return words | {Name(name): count for name, count in counts.items()}


def layout_of(steps: Sequence[Step]) -> Layout:
    """Return the layout of the records of an operator with these steps."""
    return Layout(tuple(dict.fromkeys(_slots(steps, frozenset()))))


def _slots(steps: Sequence[Step], counts: frozenset[str]) -> Iterator[Expression]:
    for step in steps:
        if step.verb in MOVES:
            yield Name(step.buffer + ADDRESS)
        for expression in step.expressions:
            yield from _known_parts(expression, counts)
        if step.verb is Verb.REPEAT:
            yield from _slots(step.steps, counts | {step.name})


def _known_parts(expression: Expression, counts: frozenset[str]) -> Iterator[Expression]:
    """Yield the greatest parts that no count is in; a number needs no word."""
    if isinstance(expression, Number):
        return
    if not names_of(expression) & counts:
        yield expression
    elif isinstance(expression, Applied):
        yield from _known_parts(expression.left, counts)
        yield from _known_parts(expression.right, counts)


def compute(expression: Expression, known: Mapping[Expression, int]) -> int:
    """Compute an expression as C does: each part is a word."""
    if expression in known:
        return known[expression] & WORD
    match expression:
        case Number(value):
            return value & WORD
        case Applied(operation, left, right):
            parts = Applied(operation, Number(compute(left, known)), Number(compute(right, known)))
            return value_of(parts, {}) & WORD
    raise AssertionError(f"no record has {expression}")


def in_c(expression: Expression, layout: Layout) -> str:
    """Write an expression in C; ``r`` is the record, and counts have their names."""
    named: dict[Expression, str] = {slot: f"r[{layout.place(slot)}]" for slot in layout.slots}
    named |= {Name(name): f"n_{name}" for name in names_of(expression) if Name(name) not in named}
    return c_text(expression, named)
