# SPDX-License-Identifier: Apache-2.0
"""Which rows each operator of a chain makes in each of its stripes."""

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from atoll.ir.graph import Graph, Operator
from atoll.ops.by_rows import RowWork, Span
from atoll.ops.registry import kind_of
from atoll.records import dataclass

Works = dict[tuple[str, Span], RowWork | None]
"""How operators make rows of their results, by their names and the rows."""


@dataclass(frozen=True)
class Chain:
    """Operators of a network, one behind the other, that are cut together.

    Attributes:
        network: the whole.
        begin: number of the first.
        end: number of the one behind the last.
        known: how operators make rows, as far as that was asked; chains of a network may share it.
    """

    network: Graph
    begin: int
    end: int
    known: Works = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """What is cut."""
        return self.network.operators[self.begin : self.end]

    @cached_property
    def made(self) -> frozenset[str]:
        """The tensors that it makes."""
        return frozenset(name for op in self.operators for name in op.outputs)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """Those among them that somebody else reads: they exist as a whole."""
        outside = self.network.operators[self.end :]
        read = {name for op in outside for name in op.reads} | {*self.network.kept}
        return tuple(name for op in self.operators for name in op.outputs if name in read)

    @cached_property
    def read(self) -> tuple[str, ...]:
        """The activations that it reads and does not make."""
        names = dict.fromkeys(name for op in self.operators for name in op.reads)
        tensor = self.network.tensor
        return tuple(n for n in names if n not in self.made and tensor(n).data is None)

    @cached_property
    def last(self) -> Mapping[str, int]:
        """The last of its operators that touches each tensor, counted from the first."""
        return {
            name: number
            for number, op in enumerate(self.operators)
            for name in (*op.reads, *op.outputs)
        }

    def stripe(self, number: int, count: int) -> "Stripe | None":
        """Return one of `count` stripes; None if the chain cannot be cut so."""
        rows: dict[str, Span] = {}
        given: dict[str, Span] = {}
        for name in self.needed:
            height = self._height(name)
            if height is None:
                return None
            span = number * height // count, (number + 1) * height // count
            if span[0] < span[1]:
                given[name] = rows[name] = span
        work: dict[str, RowWork] = {}
        for op in reversed(self.operators):
            if len(op.outputs) != 1 or self._height(op.outputs[0]) is None:
                return None
            if (wanted := rows.get(op.outputs[0])) is None:
                continue
            found = self._work(op, wanted)
            if found is None or not self._follow(op, found, rows):
                return None
            work[op.name] = found
        return Stripe(rows=rows, given=given, work=work)

    def _work(self, op: Operator, rows: Span) -> RowWork | None:
        if (op.name, rows) not in self.known:
            self.known[op.name, rows] = kind_of(op).by_rows(op, self.network, rows)
        return self.known[op.name, rows]

    def _follow(self, op: Operator, work: RowWork, rows: dict[str, Span]) -> bool:
        """Add what an operator reads to the rows that are wanted; tell whether that is possible."""
        for name, span in zip(op.inputs, work.reads, strict=True):
            if not name or self.network.tensor(name).data is not None:
                continue
            if span is None:
                if name in self.made:
                    return False
                continue
            if self._height(name) is None:
                return False
            before = rows.get(name, span)
            rows[name] = min(span[0], before[0]), max(span[1], before[1])
        return True

    def _height(self, name: str) -> int | None:
        """Return the rows of an image of one sample, None if it is none."""
        tensor = self.network.tensor(name)
        whole = len(tensor.shape) == 4 and tensor.shape[0] == 1 and not tensor.layout
        return tensor.shape[1] if whole and not tensor.view else None


@dataclass(frozen=True, slots=True)
class Stripe:
    """What is made together.

    Attributes:
        rows: of each tensor that it makes or reads by rows.
        given: of each tensor that somebody else reads, the rows that no other stripe gives.
        work: by operator, for those that have something to do.
    """

    rows: Mapping[str, Span]
    given: Mapping[str, Span]
    work: Mapping[str, RowWork] = field(repr=False)


def stripes_of(chain: Chain, count: int) -> tuple[Stripe, ...] | None:
    """Return the stripes of a chain; None if it cannot be cut so."""
    found = tuple(chain.stripe(number, count) for number in range(count))
    whole = tuple(stripe for stripe in found if stripe is not None)
    return whole if len(whole) == count else None
