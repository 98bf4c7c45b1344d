# SPDX-License-Identifier: Apache-2.0
"""The exact search in plain Python: the definition that `search.c` follows line by line.

It decides whether buffers fit into `capacity` bytes, each below its own top. Some plan places the
buffers in the order of their offsets, each at the lowest offset that the buffers placed before it
leave. So one branch puts the chosen buffer at its lowest possible offset; the other says that it is
higher, hence on top of a buffer that is not placed yet and that would have been in its way, which
raises its lowest offset. The chosen buffer is one whose lowest offset is not above that of any
unplaced buffer that it conflicts with.

A branch is given up when the unplaced buffers of a clique (buffers that all conflict with each
other), stacked in the order of their lowest offsets, are higher than the capacity.
"""

from itertools import takewhile

from atoll.memory.search_tables import FAR, Found, Status, Steps, Strategy, Tables


class PythonSearch:
    """One search; `lows` and `orders` have an entry for each level, the number placed."""

    def __init__(self, tables: Tables, capacity: int, strategy: Strategy) -> None:
        self._tables = tables
        self._ceiling = tables.ceiling(capacity)
        self._tops = [min(capacity, top) for top in tables.tops]
        self._strategy = strategy
        self._level = self._nodes = self._deepest = 0
        self._failed = False
        self._status = Status.RUNNING
        self._unplaced = [True] * len(tables.sizes)
        self._chosen = [0] * len(tables.sizes)
        low = [self._align(buffer, 0) for buffer in range(len(tables.sizes))]
        self._lows = [low]
        """Of each level, the lowest offset of each buffer."""
        self._orders = [sorted(range(len(low)), key=low.__getitem__)]
        """Of each level, the unplaced buffers in the order of these offsets."""

    def run(self, more: Steps) -> Found:
        """Search until there is an answer, or `more` allows no further nodes."""
        while self._status is Status.RUNNING and (nodes := more(self._nodes)):
            limit = self._nodes + nodes
            while self._status is Status.RUNNING and self._nodes < limit:
                if self._failed:
                    self._retreat()
                else:
                    self._advance()
        places = enumerate(self._chosen if self._status is Status.SOLVED else ())
        return Found(
            status=self._status,
            nodes=self._nodes,
            deepest=self._deepest,
            offsets={buffer: self._lows[level][buffer] for level, buffer in places},
        )

    def _advance(self) -> None:
        """Give the node up, or place a buffer."""
        self._nodes += 1
        self._deepest = max(self._deepest, self._level)
        tops = self._stack_cliques()
        if tops is None:
            self._failed = True
        elif self._level == len(self._chosen):
            self._status = Status.SOLVED
        else:
            buffer = self._choose(tops)
            self._chosen[self._level] = buffer
            self._unplaced[buffer] = False
            self._put(buffer)
            self._level += 1

    def _retreat(self) -> None:
        """Take back the last placement and say that its buffer is higher."""
        if not self._level:
            self._status = Status.EXHAUSTED
            return
        self._level -= 1
        del self._lows[self._level + 1 :], self._orders[self._level + 1 :]
        buffer = self._chosen[self._level]
        self._unplaced[buffer] = True
        offset = self._offset_if_not_here(buffer)
        if offset + self._tables.sizes[buffer] <= self._tops[buffer]:
            low, order = self._lows[-1], self._orders[-1]
            low[buffer] = offset
            order.remove(buffer)
            order.append(buffer)
            order.sort(key=low.__getitem__)
            self._failed = False

    def _offset_if_not_here(self, buffer: int) -> int:
        """Return the lowest offset of `buffer` on top of an unplaced one that it would lift."""
        low, least = self._lows[-1], FAR
        here = low[buffer]
        for other, above, below in self._tables.edges[buffer]:
            if self._unplaced[other] and low[other] < here + above:
                least = min(least, low[other] + below)
        return self._align(buffer, least)

    def _stack_cliques(self) -> list[int] | None:
        """Stack every clique in the order of lowest offsets; return None if one is too high."""
        tables, highest, ceiling = self._tables, self._tops, self._ceiling
        low, sizes, tops = self._lows[-1], tables.sizes, [0] * len(tables.cliques)
        for buffer in self._orders[-1]:
            offset = low[buffer]
            if offset + sizes[buffer] > highest[buffer]:
                return None
            for clique, weight in tables.weights[buffer]:
                top = tops[clique]
                top = (top if top > offset else offset) + weight
                if top > ceiling:
                    return None
                tops[clique] = top
        return tops

    def _choose(self, tops: list[int]) -> int:
        """Return the buffer to place."""
        low, rank, order = self._lows[-1], self._strategy.rank, self._orders[-1]
        if not self._strategy.by_clique:
            lowest = takewhile(lambda buffer: low[buffer] == low[order[0]], order)
            return min(lowest, key=rank.__getitem__)

        def height(buffer: int) -> tuple[int, int]:
            return low[buffer], rank[buffer]

        fullest = self._tables.cliques[tops.index(max(tops))]
        members = (buffer for buffer in fullest if self._unplaced[buffer])
        chosen, lower = -1, min(members, key=height, default=order[0])
        while lower != chosen:
            chosen = lower
            near = (other for other, _, _ in self._tables.edges[chosen] if self._unplaced[other])
            lower = min((chosen, *near), key=height)
        return chosen

    def _put(self, buffer: int) -> None:
        """Add a level on which what conflicts with `buffer` is above it."""
        low, raised = self._lows[-1].copy(), set[int]()
        for other, above, _ in self._tables.edges[buffer]:
            least = low[buffer] + above
            if self._unplaced[other] and low[other] < least:
                low[other] = self._align(other, least)
                raised.add(other)
        self._lows.append(low)
        order = [other for other in self._orders[-1] if other != buffer]
        kept = [other for other in order if other not in raised]
        moved = [other for other in order if other in raised]
        self._orders.append(sorted(kept + moved, key=low.__getitem__))

    def _align(self, buffer: int, offset: int) -> int:
        """Return the lowest offset from `offset` on at which the address is aligned."""
        return offset + -(self._tables.origin + offset) % self._tables.alignments[buffer]
