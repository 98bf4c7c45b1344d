# SPDX-License-Identifier: Apache-2.0
"""Find the buffers of a plan that share bytes without leave.

Sweeps over the steps. The live buffers lie in layers, each disjoint and ordered by address, so
that a buffer meets only its neighbours. Where no overlap lets buffers share bytes there is one
layer.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field

from atoll.diagnostics.errors import Fault
from atoll.memory.problem import Problem
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Addresses of a placed buffer."""

    begin: int
    end: int
    buffer: str = field(compare=False)
    pool: str = field(compare=False)

    def __str__(self) -> str:
        return f"'{self.buffer}' in pool '{self.pool}' at {self.begin:#010x}..{self.end - 1:#010x}"


def clashes(problem: Problem, spans: Mapping[str, Span]) -> Iterator[Fault]:
    """Yield the pairs found to share bytes although they conflict, each once."""
    may_share = _may_share(problem, spans)
    events = sorted(
        (step, starts, buffer.name)
        for buffer in problem.buffers
        if buffer.name in spans
        for begin, end in buffer.live
        for step, starts in ((begin, True), (end, False))
    )
    live = _Layers()
    reported: set[frozenset[str]] = set()
    for step, starts, name in events:
        span = spans[name]
        if not starts:
            live.remove(span)
            continue
        found = [each for each in live.meeting(span) if not may_share(name, each.buffer)]
        if not found:
            live.insert(span)
        elif (pair := frozenset((name, found[0].buffer))) not in reported:
            reported.add(pair)
            yield _clash(step, found[0], span)


def _share(one: Span, other: Span) -> bool:
    return one.begin < other.end and other.begin < one.end


def _clash(step: int, one: Span, other: Span) -> Fault:
    when = f"at step {step}, where both are live"
    return Fault(code="E063", message=f"two buffers share bytes {when}: {one} and {other}")


def _may_share(problem: Problem, spans: Mapping[str, Span]) -> Callable[[str, str], bool]:
    """Return what tells whether two buffers that conflict may share bytes where they are."""
    distances = {(each.later, each.earlier): each.distance for each in problem.overlaps}

    def far_below(later: str, earlier: str) -> bool:
        distance = distances.get((later, earlier))
        return distance is not None and spans[later].begin + distance <= spans[earlier].begin

    return lambda one, other: far_below(one, other) or far_below(other, one)


class _Layers:
    """Live spans: those of one layer are disjoint and in the order of their addresses."""

    def __init__(self) -> None:
        self._layers: list[list[Span]] = [[]]
        self._layer_of: dict[str, list[Span]] = {}

    def meeting(self, span: Span) -> Iterator[Span]:
        """Yield the live spans that share bytes with `span`."""
        for layer in self._layers:
            position = bisect_left(layer, span)
            if position and layer[position - 1].end > span.begin:
                position -= 1
            while position < len(layer) and layer[position].begin < span.end:
                yield layer[position]
                position += 1

    def insert(self, span: Span) -> None:
        """Add a span to the first layer with room."""
        for layer in self._layers:
            position = bisect_left(layer, span)
            neighbours = layer[max(position - 1, 0) : position + 1]
            if not any(_share(span, each) for each in neighbours):
                break
        else:
            self._layers.append(layer := [])
            position = 0
        layer.insert(position, span)
        self._layer_of[span.buffer] = layer

    def remove(self, span: Span) -> None:
        """Take a span out, if it was added."""
        layer = self._layer_of.pop(span.buffer, None)
        if layer is not None:
            del layer[bisect_left(layer, span)]
