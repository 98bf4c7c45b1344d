"""The hot loop of the exact search, as a loop program.

It decides whether buffers fit into `CAPACITY` bytes. Some plan places the buffers in the order of
their offsets, each at the lowest offset that the buffers placed before it leave. So one branch
puts the chosen buffer at its lowest possible offset; the other says that it is higher, hence on
top of a buffer that is not placed yet and that would have been in its way, which raises its lowest
offset. The chosen buffer is one whose lowest offset is not above that of any unplaced buffer that
it conflicts with.

A branch is given up when the unplaced buffers of a clique (buffers that all conflict with each
other), stacked in the order of their lowest offsets, are higher than the capacity.

Row `level` of `low` and `order` belongs to the node with `level` buffers placed: the lowest
offset of each buffer, and the unplaced buffers ordered by it. The caller sets row 0, calls until
the status changes, and reads the plan off `chosen` and `low`.
"""

from functools import cache

from atoll.ir.expressions import add, maximum, subtract
from atoll.ir.tir import Expr, PrimFunc, Type
from atoll.memory.kernel_writer import Value, op
from atoll.memory.search_layout import (
    BY_CLIQUE,
    CLIQUE_COUNT,
    DEEPEST,
    EXHAUSTED,
    FAILED,
    LEVEL,
    NODES,
    RUNNING,
    SOLVED,
    STATUS,
    STEPS,
)
from atoll.memory.search_writer import SearchWriter

_FAR = 1 << 60


@cache
def search_kernel() -> PrimFunc:
    """Return the kernel."""
    return _Search().kernel()


class _Search(SearchWriter):
    """Writes the kernel."""

    def kernel(self) -> PrimFunc:
        builder, state = self.builder, self.state
        with builder.loop("step", 0, state[STEPS]):
            with self.when(state[STATUS], RUNNING), self.when(state[FAILED], 1):
                self._retreat()
            with self.when(state[STATUS], RUNNING), self.when(state[FAILED], 0):
                self._advance()
        return builder.kernel()

    # -- backwards

    def _retreat(self) -> None:
        """Take back the last placement and say that its buffer is higher."""
        builder, state = self.builder, self.state
        level = builder.let("level", state[LEVEL])
        with self.when(level, 0):
            state[STATUS] = EXHAUSTED
        with builder.when(op("<", 0, level)):
            back = builder.let("back", subtract(level, 1))
            state[LEVEL] = back
            lifted = builder.let("lifted", self.at["chosen"][back])
            self.at["unplaced"][lifted] = 1
            row = builder.let("row", op("*", back, self.count))
            offset = self._offset_if_not_here(lifted, row)
            with builder.when(op("<=", add(offset, self.at["size"][lifted]), self.capacity)):
                self.at["low"][add(row, lifted)] = offset
                self._reorder(row, subtract(self.count, back), lifted, offset)
                state[FAILED] = 0

    def _offset_if_not_here(self, buffer: Expr, row: Expr) -> Expr:
        """Return the lowest offset of `buffer` on top of an unplaced one that it would lift."""
        builder, at = self.builder, self.at
        least = self.variable("least", Type.I64, _FAR)
        offset = builder.let("here", at["low"][add(row, buffer)])
        with self.entries("edge_from", buffer) as entry:
            other = builder.let("other", at["edge"][entry])
            with self.when(at["unplaced"][other], 1):
                low = builder.let("low_of_other", at["low"][add(row, other)])
                end = builder.let("end", add(low, at["below"][entry]))
                lifted = op("<", low, add(offset, at["above"][entry]))
                with builder.when(op("&", lifted, op("<", end, least.get()))):
                    least.set(end)
        return self.lifted(buffer, least.get())

    def _reorder(self, row: Expr, count: Expr, lifted: Expr, offset: Expr) -> None:
        """Move `lifted` to where `offset` belongs in the order of a row."""
        builder, order, low = self.builder, self.at["order"], self.at["low"]
        write = self.variable("write", Type.I32, row)
        waiting = self.variable("waiting", Type.I32, 1)
        with builder.loop("read", row, add(row, count)) as read:
            buffer = builder.let("buffer", order[read])
            with builder.when(op("!=", buffer, lifted)):
                behind = op("<", offset, low[add(row, buffer)])
                with self.when(waiting.get(), 1), builder.when(behind):
                    order[write.get()] = lifted
                    write.set(add(write.get(), 1))
                    waiting.set(0)
                order[write.get()] = buffer
                write.set(add(write.get(), 1))
        with self.when(waiting.get(), 1):
            order[write.get()] = lifted

    # -- forwards

    def _advance(self) -> None:
        """Give the node up, or place a buffer."""
        builder, state = self.builder, self.state
        state[NODES] = add(state[NODES], 1)
        level = builder.let("level", state[LEVEL])
        state[DEEPEST] = maximum(state[DEEPEST], level)
        row = builder.let("row", op("*", level, self.count))
        left = builder.let("left", subtract(self.count, level))
        failed = self._bound(row, left)
        state[FAILED] = failed.get()
        with self.when(failed.get(), 0):
            with self.when(left, 0):
                state[STATUS] = SOLVED
            with builder.when(op("<", 0, left)):
                buffer = self._choose(row, left)
                self.at["chosen"][level] = buffer
                self.at["unplaced"][buffer] = 0
                self._raise(buffer, row)
                self._split(buffer, row, left)
                self._merge(left)
                state[LEVEL] = add(level, 1)

    def _bound(self, row: Expr, left: Expr) -> Value:
        """Stack every clique in the order of lowest offsets; tell if one is too high."""
        builder, at = self.builder, self.at
        top, failed = at["top"], self.variable("failed", Type.I32, 0)
        with builder.loop("clean", 0, self.state[CLIQUE_COUNT]) as clean:
            top[clean] = 0
        with builder.loop("place", row, add(row, left)) as place, self.when(failed.get(), 0):
            buffer = builder.let("buffer", at["order"][place])
            offset = builder.let("offset", at["low"][add(row, buffer)])
            with builder.when(op("<", self.capacity, add(offset, at["size"][buffer]))):
                failed.set(1)
            with self.entries("clique_from", buffer) as entry:
                clique = builder.let("clique", at["clique"][entry])
                ground = builder.let("ground", top[clique])
                height = builder.let("height", add(maximum(ground, offset), at["weight"][entry]))
                top[clique] = height
                with builder.when(op("<", self.ceiling, height)):
                    failed.set(1)
        return failed

    def _choose(self, row: Expr, left: Expr) -> Expr:
        """Return the buffer to place."""
        builder, at = self.builder, self.at
        chosen = self.variable("candidate", Type.I32, at["order"][row])
        with self.when(self.state[BY_CLIQUE], 0):
            least = builder.let("least", at["low"][add(row, chosen.get())])
            with builder.loop("place", row, add(row, left)) as place:
                buffer = builder.let("buffer", at["order"][place])
                with self.when_equal(at["low"][add(row, buffer)], least):
                    self._prefer(chosen, buffer)
        with self.when(self.state[BY_CLIQUE], 1):
            self._lowest_of_fullest(chosen, row)
            self._descend(chosen, row, left)
        return builder.let("buffer", chosen.get())

    def _prefer(self, chosen: Value, buffer: Expr) -> None:
        rank = self.at["rank"]
        with self.builder.when(op("<", rank[buffer], rank[chosen.get()])):
            chosen.set(buffer)

    def _lowest_of_fullest(self, chosen: Value, row: Expr) -> None:
        """Choose the lowest member of the clique whose stack is the highest."""
        builder, at = self.builder, self.at
        fullest = self.variable("fullest", Type.I32, 0)
        highest = self.variable("highest", Type.I64, 0)
        with builder.loop("clique", 0, self.state[CLIQUE_COUNT]) as clique:
            height = builder.let("height", at["top"][clique])
            with builder.when(op("<", highest.get(), height)):
                highest.set(height)
                fullest.set(clique)
        least = self.variable("least", Type.I64, _FAR)
        with self.entries("member_from", fullest.get()) as entry:
            buffer = builder.let("buffer", at["member"][entry])
            with self.when(at["unplaced"][buffer], 1):
                offset = builder.let("offset", at["low"][add(row, buffer)])
                with self.when_equal(offset, least.get()):
                    self._prefer(chosen, buffer)
                with builder.when(op("<", offset, least.get())):
                    least.set(offset)
                    chosen.set(buffer)

    def _descend(self, chosen: Value, row: Expr, left: Expr) -> None:
        """Go on to a lower conflicting buffer until there is none."""
        builder, at = self.builder, self.at
        moving = self.variable("moving", Type.I32, 1)
        with builder.loop("round", 0, left), self.when(moving.get(), 1):
            moving.set(0)
            here = builder.let("here", chosen.get())
            with self.entries("edge_from", here) as entry:
                other = builder.let("other", at["edge"][entry])
                with self.when(at["unplaced"][other], 1):
                    offset = builder.let("offset", at["low"][add(row, other)])
                    least = builder.let("least", at["low"][add(row, chosen.get())])
                    lower = op("<", at["rank"][other], at["rank"][chosen.get()])
                    tied = op("&", op("==", offset, least), lower)
                    with builder.when(op("|", op("<", offset, least), tied)):
                        chosen.set(other)
                        moving.set(1)

    def _raise(self, buffer: Expr, row: Expr) -> None:
        """Lift what conflicts with `buffer` above it, in `raised` and the next row."""
        builder, at = self.builder, self.at
        offset = builder.let("offset", at["low"][add(row, buffer)])
        below = builder.let("next_row", add(row, self.count))
        with self.entries("edge_from", buffer) as entry:
            other = builder.let("other", at["edge"][entry])
            with self.when(at["unplaced"][other], 1):
                least = builder.let("least", add(offset, at["above"][entry]))
                with builder.when(op("<", at["low"][add(row, other)], least)):
                    at["raised"][other] = 1
                    at["low"][add(below, other)] = self.lifted(other, least)

    def _split(self, buffer: Expr, row: Expr, left: Expr) -> None:
        """Fill the next row of `low`; part the others of the order in `kept` and `moved`."""
        builder, at = self.builder, self.at
        below = builder.let("below", add(row, self.count))
        kept = self.variable("kept_count", Type.I32, 0)
        moved = self.variable("moved_count", Type.I32, 0)
        last = self.variable("last", Type.I64, 0)
        unsorted = self.variable("unsorted", Type.I32, 0)
        with builder.loop("place", row, add(row, left)) as place:
            other = builder.let("other", at["order"][place])
            with self.when(at["raised"][other], 1):
                at["raised"][other] = 0
                at["moved"][moved.get()] = other
                moved.set(add(moved.get(), 1))
                offset = builder.let("offset", at["low"][add(below, other)])
                with builder.when(op("<", offset, last.get())):
                    unsorted.set(1)
                last.set(offset)
            with builder.otherwise(), builder.when(op("!=", other, buffer)):
                at["kept"][kept.get()] = other
                kept.set(add(kept.get(), 1))
                at["low"][add(below, other)] = at["low"][add(row, other)]
        self._kept, self._moved, self._below = kept, moved, below
        with self.when(unsorted.get(), 1):
            self._sort_moved()

    def _sort_moved(self) -> None:
        """Sort `moved` by insertion."""
        builder, at = self.builder, self.at
        moved = at["moved"]
        with builder.loop("end", 1, self._moved.get()) as end:
            buffer = builder.let("buffer", moved[end])
            offset = builder.let("offset", at["low"][add(self._below, buffer)])
            hole = self.variable("hole", Type.I32, end)
            with builder.loop("shift", 0, end) as shift:
                before = builder.let("before", subtract(subtract(end, shift), 1))
                other = builder.let("other", moved[before])
                higher = op("<", offset, at["low"][add(self._below, other)])
                with builder.when(higher):
                    moved[add(before, 1)] = other
                    hole.set(before)
            moved[hole.get()] = buffer

    def _merge(self, left: Expr) -> None:
        """Write the next row of `order` from `kept` and `moved`."""
        builder, at = self.builder, self.at
        kept, moved, low = at["kept"], at["moved"], at["low"]
        from_kept = self.variable("from_kept", Type.I32, 0)
        with builder.loop("number", 0, subtract(left, 1)) as number:
            from_moved = builder.let("from_moved", subtract(number, from_kept.get()))
            first = builder.let("first", kept[from_kept.get()])
            second = builder.let("second", moved[from_moved])
            lower = op("<=", low[add(self._below, first)], low[add(self._below, second)])
            last = op("==", from_moved, self._moved.get())
            some = op("<", from_kept.get(), self._kept.get())
            place = add(self._below, number)
            with builder.when(op("&", some, op("|", lower, last))):
                at["order"][place] = first
                from_kept.set(add(from_kept.get(), 1))
            with builder.otherwise():
                at["order"][place] = second
