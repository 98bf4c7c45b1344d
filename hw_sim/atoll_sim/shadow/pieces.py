# SPDX-License-Identifier: Apache-2.0
"""The pieces of buffers that operators touch apart from each other, numbered."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product

from atoll.contract.contract import Contract, Phase, Span

Cuts = Mapping[str, list[int]]
"""Of each buffer the addresses at which pieces begin or end, in their order."""


def cuts_of(contract: Contract) -> Cuts:
    """Return where buffers are cut: where an operator touches one part and not another.

    Where one buffer may lie over another, both are cut at the same addresses.
    """
    whole = {each.span.buffer: each.span for each in contract.lifetimes}
    found = {name: {span.address, span.end} for name, span in whole.items()}
    phases = [part for phase in contract.phases.values() for part in (phase, *phase.parts)]
    for phase in phases:
        for span in (*phase.reads, *phase.writes):
            found[span.buffer] |= {span.address, span.end}
    pairs = {frozenset(pair) for phase in phases for pair in phase.overlaps}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for one, other in pairs:
            both = found[one] | found[other]
            for name in (one, other):
                inside = range(whole[name].address, whole[name].end)
                found[name] |= {at for at in both if at in inside}
    return {
        name: sorted(at for at in cuts if whole[name].address <= at <= whole[name].end)
        for name, cuts in found.items()
    }


class Pieces:
    """Numbers of the pieces of a contract's buffers, and of its heaps.

    Attributes:
        spans: of each piece, by number.
        heaps: numbers of heaps.
    """

    def __init__(self, contract: Contract, cuts: Cuts, first: int) -> None:
        """Number pieces from `first` on, in the order of `contract.lifetimes`."""
        self.spans: dict[int, Span] = {}
        self.heaps: dict[Span, int] = {}
        self._cuts = cuts
        self._first: dict[str, int] = {}
        for each in contract.lifetimes:
            span = each.span
            self._first[span.buffer] = first + len(self.spans)
            for begin, end in pairwise(cuts[span.buffer]):
                self.spans[first + len(self.spans)] = Span(
                    buffer=span.buffer, pool=span.pool, address=begin, size=end - begin
                )

    def of(self, span: Span) -> range:
        """Return the pieces that a span has bytes of."""
        cuts, first = self._cuts[span.buffer], self._first[span.buffer]
        last = len(cuts) - 1
        if last == 1:
            return range(first, first + 1)
        begin = max(0, bisect_right(cuts, span.address) - 1)
        end = min(last, bisect_left(cuts, span.end))
        return range(first + begin, first + max(begin, end))

    def one(self, buffer: str) -> int:
        """Return the only piece of a buffer that nobody touches a part of."""
        return self._first[buffer]

    def each(self, spans: Iterable[Span]) -> Iterator[int]:
        """Yield the pieces of some spans, each once."""
        yield from dict.fromkeys(number for span in spans for number in self.of(span))

    def pairs(self, phase: Phase) -> Iterator[tuple[int, int]]:
        """Yield the pieces that may lie over others while an operator runs."""
        spans = {span.buffer: span for span in (*phase.reads, *phase.writes)}
        for written, read in phase.overlaps:
            over = self.each(span for span in phase.writes if span.buffer == written)
            yield from product(over, self._all(spans[read].buffer))

    def _all(self, buffer: str) -> range:
        first = self._first[buffer]
        return range(first, first + len(self._cuts[buffer]) - 1)
