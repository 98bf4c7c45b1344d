"""Small parts of the skyline kernel: which blocks are unplaced, which plan is better."""

from collections.abc import Iterator
from contextlib import contextmanager

from atoll.ir.expressions import Operand, add, cast, minimum, multiply, subtract
from atoll.ir.tir import Expr, Type
from atoll.memory.kernel_writer import KernelWriter, Value, op
from atoll.memory.skyline_layout import BUFFERS, WORD, WORDS

NAME = "atoll_memory_skyline"
_CHUNK = 6
"""Logarithm of how many blocks are looked at before asking whether to go on."""


class SkylineWriter(KernelWriter):
    """The function that is being written."""

    def __init__(self) -> None:
        super().__init__(NAME, BUFFERS)
        self.words = self.builder.let("words", self.state[WORDS])

    @contextmanager
    def when_open(self, row: Expr, block: Expr) -> Iterator[None]:
        """Run what is inside where a block is unplaced in a plan."""
        word = self.at["open"][add(multiply(row, self.words), op(">>", block, WORD))]
        bit = cast(op("&", block, (1 << WORD) - 1), Type.I64)
        with self.builder.when(op("==", op("&", op(">>", word, bit), 1), 1)):
            yield

    @contextmanager
    def until(self, enough: Value, most: Operand, first: Expr, beyond: Expr) -> Iterator[Expr]:
        """Repeat for places from `first` on as long as `enough` is less than `most`."""
        builder = self.builder
        rest = builder.let("rest", add(subtract(beyond, first), (1 << _CHUNK) - 1))
        with builder.loop("chunk", 0, op(">>", rest, _CHUNK)) as chunk:
            start = builder.let("start", add(first, op("<<", chunk, _CHUNK)))
            stop = builder.let("stop", minimum(add(start, 1 << _CHUNK), beyond))
            with (
                builder.when(op("<", enough.get(), most)),
                builder.loop("place", start, stop) as place,
                builder.when(op("<", enough.get(), most)),
            ):
                yield place

    def fits(self, row: Expr, begin: Expr, end: Expr, skipped: Expr) -> Expr:
        """Return 1 if an unplaced block other than `skipped` lives within [begin, end)."""
        at, found = self.at, self.variable("found", Type.I32, 0)
        first, beyond = at["from_begin"][begin], at["from_begin"][end]
        with self.until(found, 1, first, beyond) as block:
            within = op("&", op("<=", at["end"][block], end), op("!=", block, skipped))
            with self.builder.when(within), self.when_open(row, block):
                found.set(1)
        return self.builder.let("fits", found.get())

    def better(self, waste: Expr, last: Expr, total: Expr, place: Operand) -> Expr:
        """Tell whether a plan comes before the child at `place`.

        Less waste is better, then a shorter skyline; their sums settle ties.
        """
        at = self.at
        others = at["child_waste"][place], at["child_last"][place], at["child_sum"][place]
        later = op("<", total, others[2])
        for mine, other in ((last, others[1]), (waste, others[0])):
            later = op("|", op("<", mine, other), op("&", op("==", mine, other), later))
        return later
