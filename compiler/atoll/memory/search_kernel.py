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

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import Operand, add, binary, maximum, subtract
from atoll.ir.tir import Direction, Expr, Operation, PrimFunc, Type

NAME = "atoll_memory_search"
LARGEST = 1024
"""Most buffers of one search."""

_EDGES = LARGEST * LARGEST
_BOTH, _READ = Direction.BOTH, Direction.READ

BUFFERS: tuple[tuple[str, Type, int, Direction], ...] = (
    ("state", Type.I32, 9, _BOTH),
    ("limits", Type.I64, 3, _READ),
    ("size", Type.I64, LARGEST, _READ),
    ("alignment", Type.I64, LARGEST, _READ),
    ("rank", Type.I32, LARGEST, _READ),
    ("range_from", Type.I32, LARGEST + 1, _READ),
    ("range_begin", Type.I64, _EDGES, _READ),
    ("range_end", Type.I64, _EDGES, _READ),
    ("edge_from", Type.I32, LARGEST + 1, _READ),
    ("edge", Type.I32, _EDGES, _READ),
    ("above", Type.I64, _EDGES, _READ),
    ("below", Type.I64, _EDGES, _READ),
    ("clique_from", Type.I32, LARGEST + 1, _READ),
    ("clique", Type.I32, _EDGES, _READ),
    ("weight", Type.I64, _EDGES, _READ),
    ("member_from", Type.I32, LARGEST + 1, _READ),
    ("member", Type.I32, _EDGES, _READ),
    ("low", Type.I64, _EDGES + LARGEST, _BOTH),
    ("order", Type.I32, _EDGES + LARGEST, _BOTH),
    ("chosen", Type.I32, LARGEST, _BOTH),
    ("unplaced", Type.I32, LARGEST, _BOTH),
    ("top", Type.I64, LARGEST, _BOTH),
    ("raised", Type.I32, LARGEST, _BOTH),
    ("kept", Type.I32, LARGEST + 1, _BOTH),
    ("moved", Type.I32, LARGEST + 1, _BOTH),
)
"""Parameters in order.

`limits` holds the capacity, the height that no clique's stack may exceed (the capacity, rounded up
as the weights are), and the address of offset 0. Lists of lists lie flat: those of buffer
j from ``x_from[j]`` to ``x_from[j + 1]``. `range_*` are forbidden start offsets, sorted; `edge`
the conflicting buffers, with the bytes by which these have to be `above` j if they are above it,
and those by which j has to be above them if it is (`below`); `clique` the cliques of j with the
bytes (`weight`) that j surely adds to each; `member` the buffers of a clique. `rank` settles ties.
"""

BUFFER_COUNT, CLIQUE_COUNT, BY_CLIQUE, STEPS, LEVEL, STATUS, FAILED, NODES, DEEPEST = range(9)
"""Elements of `state`. Set by the caller: how many buffers and cliques there are, whether to
choose from the fullest clique rather than from all buffers, how many steps to take, and 0."""

RUNNING, SOLVED, EXHAUSTED = range(3)
"""Values of ``state[STATUS]``."""

_FAR = 1 << 60


@cache
def search_kernel() -> PrimFunc:
    """Return the kernel."""
    return _Search().kernel()


def _op(text: str, left: Operand, right: Operand) -> Expr:
    return binary(Operation(text), left, right)


@dataclass(slots=True)
class _Value:
    """A scalar variable of the kernel."""

    cell: Buffer

    def get(self) -> Expr:
        return self.cell[0]

    def set(self, value: Operand) -> None:
        self.cell[0] = value


class _Search:
    """Writes the kernel."""

    def __init__(self) -> None:
        self._builder = FunctionBuilder(NAME)
        self._at = {
            name: self._builder.buffer(name, type, elements, direction)
            for name, type, elements, direction in BUFFERS
        }
        self._state = self._at["state"]
        self._count = self._builder.let("count", self._state[BUFFER_COUNT])
        self._capacity = self._builder.let("capacity", self._at["limits"][0])
        self._ceiling = self._builder.let("ceiling", self._at["limits"][1])
        self._origin = self._builder.let("origin", self._at["limits"][2])

    def kernel(self) -> PrimFunc:
        builder, state = self._builder, self._state
        with builder.loop("step", 0, state[STEPS]):
            with self._when(state[STATUS], RUNNING), self._when(state[FAILED], 1):
                self._retreat()
            with self._when(state[STATUS], RUNNING), self._when(state[FAILED], 0):
                self._advance()
        return builder.kernel()

    @contextmanager
    def _when(self, value: Expr, number: int) -> Iterator[None]:
        with self._builder.when(_op("==", value, number)):
            yield

    def _variable(self, name: str, type: Type, value: Operand) -> _Value:
        variable = _Value(self._builder.allocate(name, type, 1))
        variable.set(value)
        return variable

    @contextmanager
    def _entries(self, lists: str, owner: Expr) -> Iterator[Expr]:
        """Repeat for the place of each entry of a list of `owner`."""
        starts = self._at[lists]
        with self._builder.loop("entry", starts[owner], starts[add(owner, 1)]) as entry:
            yield entry

    # -- backwards

    def _retreat(self) -> None:
        """Take back the last placement and say that its buffer is higher."""
        builder, state = self._builder, self._state
        level = builder.let("level", state[LEVEL])
        with self._when(level, 0):
            state[STATUS] = EXHAUSTED
        with builder.when(_op("<", 0, level)):
            back = builder.let("back", subtract(level, 1))
            state[LEVEL] = back
            lifted = builder.let("lifted", self._at["chosen"][back])
            self._at["unplaced"][lifted] = 1
            row = builder.let("row", _op("*", back, self._count))
            offset = self._offset_if_not_here(lifted, row)
            with builder.when(_op("<=", add(offset, self._at["size"][lifted]), self._capacity)):
                self._at["low"][add(row, lifted)] = offset
                self._reorder(row, subtract(self._count, back), lifted, offset)
                state[FAILED] = 0

    def _offset_if_not_here(self, buffer: Expr, row: Expr) -> Expr:
        """Return the lowest offset of `buffer` on top of an unplaced one that it would lift."""
        builder, at = self._builder, self._at
        least = self._variable("least", Type.I64, _FAR)
        offset = builder.let("here", at["low"][add(row, buffer)])
        with self._entries("edge_from", buffer) as entry:
            other = builder.let("other", at["edge"][entry])
            with self._when(at["unplaced"][other], 1):
                low = builder.let("low_of_other", at["low"][add(row, other)])
                end = builder.let("end", add(low, at["below"][entry]))
                lifted = _op("<", low, add(offset, at["above"][entry]))
                with builder.when(_op("&", lifted, _op("<", end, least.get()))):
                    least.set(end)
        return self._lifted(buffer, least.get())

    def _reorder(self, row: Expr, count: Expr, lifted: Expr, offset: Expr) -> None:
        """Move `lifted` to where `offset` belongs in the order of a row."""
        builder, order, low = self._builder, self._at["order"], self._at["low"]
        write = self._variable("write", Type.I32, row)
        waiting = self._variable("waiting", Type.I32, 1)
        with builder.loop("read", row, add(row, count)) as read:
            buffer = builder.let("buffer", order[read])
            with builder.when(_op("!=", buffer, lifted)):
                behind = _op("<", offset, low[add(row, buffer)])
                with self._when(waiting.get(), 1), builder.when(behind):
                    order[write.get()] = lifted
                    write.set(add(write.get(), 1))
                    waiting.set(0)
                order[write.get()] = buffer
                write.set(add(write.get(), 1))
        with self._when(waiting.get(), 1):
            order[write.get()] = lifted

    # -- forwards

    def _advance(self) -> None:
        """Give the node up, or place a buffer."""
        builder, state = self._builder, self._state
        state[NODES] = add(state[NODES], 1)
        level = builder.let("level", state[LEVEL])
        state[DEEPEST] = maximum(state[DEEPEST], level)
        row = builder.let("row", _op("*", level, self._count))
        left = builder.let("left", subtract(self._count, level))
        failed = self._bound(row, left)
        state[FAILED] = failed.get()
        with self._when(failed.get(), 0):
            with self._when(left, 0):
                state[STATUS] = SOLVED
            with builder.when(_op("<", 0, left)):
                buffer = self._choose(row, left)
                self._at["chosen"][level] = buffer
                self._at["unplaced"][buffer] = 0
                self._raise(buffer, row)
                self._split(buffer, row, left)
                self._merge(left)
                state[LEVEL] = add(level, 1)

    def _bound(self, row: Expr, left: Expr) -> _Value:
        """Stack every clique in the order of lowest offsets; tell if one is too high."""
        builder, at = self._builder, self._at
        top, failed = at["top"], self._variable("failed", Type.I32, 0)
        with builder.loop("clean", 0, self._state[CLIQUE_COUNT]) as clean:
            top[clean] = 0
        with builder.loop("place", row, add(row, left)) as place, self._when(failed.get(), 0):
            buffer = builder.let("buffer", at["order"][place])
            offset = builder.let("offset", at["low"][add(row, buffer)])
            with builder.when(_op("<", self._capacity, add(offset, at["size"][buffer]))):
                failed.set(1)
            with self._entries("clique_from", buffer) as entry:
                clique = builder.let("clique", at["clique"][entry])
                ground = builder.let("ground", top[clique])
                height = builder.let("height", add(maximum(ground, offset), at["weight"][entry]))
                top[clique] = height
                with builder.when(_op("<", self._ceiling, height)):
                    failed.set(1)
        return failed

    def _choose(self, row: Expr, left: Expr) -> Expr:
        """Return the buffer to place."""
        builder, at = self._builder, self._at
        chosen = self._variable("candidate", Type.I32, at["order"][row])
        with self._when(self._state[BY_CLIQUE], 0):
            least = builder.let("least", at["low"][add(row, chosen.get())])
            with builder.loop("place", row, add(row, left)) as place:
                buffer = builder.let("buffer", at["order"][place])
                with self._when_equal(at["low"][add(row, buffer)], least):
                    self._prefer(chosen, buffer)
        with self._when(self._state[BY_CLIQUE], 1):
            self._lowest_of_fullest(chosen, row)
            self._descend(chosen, row, left)
        return builder.let("buffer", chosen.get())

    @contextmanager
    def _when_equal(self, left: Expr, right: Expr) -> Iterator[None]:
        with self._builder.when(_op("==", left, right)):
            yield

    def _prefer(self, chosen: _Value, buffer: Expr) -> None:
        rank = self._at["rank"]
        with self._builder.when(_op("<", rank[buffer], rank[chosen.get()])):
            chosen.set(buffer)

    def _lowest_of_fullest(self, chosen: _Value, row: Expr) -> None:
        """Choose the lowest member of the clique whose stack is the highest."""
        builder, at = self._builder, self._at
        fullest = self._variable("fullest", Type.I32, 0)
        highest = self._variable("highest", Type.I64, 0)
        with builder.loop("clique", 0, self._state[CLIQUE_COUNT]) as clique:
            height = builder.let("height", at["top"][clique])
            with builder.when(_op("<", highest.get(), height)):
                highest.set(height)
                fullest.set(clique)
        least = self._variable("least", Type.I64, _FAR)
        with self._entries("member_from", fullest.get()) as entry:
            buffer = builder.let("buffer", at["member"][entry])
            with self._when(at["unplaced"][buffer], 1):
                offset = builder.let("offset", at["low"][add(row, buffer)])
                with self._when_equal(offset, least.get()):
                    self._prefer(chosen, buffer)
                with builder.when(_op("<", offset, least.get())):
                    least.set(offset)
                    chosen.set(buffer)

    def _descend(self, chosen: _Value, row: Expr, left: Expr) -> None:
        """Go on to a lower conflicting buffer until there is none."""
        builder, at = self._builder, self._at
        moving = self._variable("moving", Type.I32, 1)
        with builder.loop("round", 0, left), self._when(moving.get(), 1):
            moving.set(0)
            here = builder.let("here", chosen.get())
            with self._entries("edge_from", here) as entry:
                other = builder.let("other", at["edge"][entry])
                with self._when(at["unplaced"][other], 1):
                    offset = builder.let("offset", at["low"][add(row, other)])
                    least = builder.let("least", at["low"][add(row, chosen.get())])
                    lower = _op("<", at["rank"][other], at["rank"][chosen.get()])
                    tied = _op("&", _op("==", offset, least), lower)
                    with builder.when(_op("|", _op("<", offset, least), tied)):
                        chosen.set(other)
                        moving.set(1)

    def _raise(self, buffer: Expr, row: Expr) -> None:
        """Lift what conflicts with `buffer` above it, in `raised` and the next row."""
        builder, at = self._builder, self._at
        offset = builder.let("offset", at["low"][add(row, buffer)])
        below = builder.let("next_row", add(row, self._count))
        with self._entries("edge_from", buffer) as entry:
            other = builder.let("other", at["edge"][entry])
            with self._when(at["unplaced"][other], 1):
                least = builder.let("least", add(offset, at["above"][entry]))
                with builder.when(_op("<", at["low"][add(row, other)], least)):
                    at["raised"][other] = 1
                    at["low"][add(below, other)] = self._lifted(other, least)

    def _split(self, buffer: Expr, row: Expr, left: Expr) -> None:
        """Fill the next row of `low`; part the others of the order in `kept` and `moved`."""
        builder, at = self._builder, self._at
        below = builder.let("below", add(row, self._count))
        kept = self._variable("kept_count", Type.I32, 0)
        moved = self._variable("moved_count", Type.I32, 0)
        last = self._variable("last", Type.I64, 0)
        unsorted = self._variable("unsorted", Type.I32, 0)
        with builder.loop("place", row, add(row, left)) as place:
            other = builder.let("other", at["order"][place])
            with self._when(at["raised"][other], 1):
                at["raised"][other] = 0
                at["moved"][moved.get()] = other
                moved.set(add(moved.get(), 1))
                offset = builder.let("offset", at["low"][add(below, other)])
                with builder.when(_op("<", offset, last.get())):
                    unsorted.set(1)
                last.set(offset)
            with builder.otherwise(), builder.when(_op("!=", other, buffer)):
                at["kept"][kept.get()] = other
                kept.set(add(kept.get(), 1))
                at["low"][add(below, other)] = at["low"][add(row, other)]
        self._kept, self._moved, self._below = kept, moved, below
        with self._when(unsorted.get(), 1):
            self._sort_moved()

    def _sort_moved(self) -> None:
        """Sort `moved` by insertion."""
        builder, at = self._builder, self._at
        moved = at["moved"]
        with builder.loop("end", 1, self._moved.get()) as end:
            buffer = builder.let("buffer", moved[end])
            offset = builder.let("offset", at["low"][add(self._below, buffer)])
            hole = self._variable("hole", Type.I32, end)
            with builder.loop("shift", 0, end) as shift:
                before = builder.let("before", subtract(subtract(end, shift), 1))
                other = builder.let("other", moved[before])
                higher = _op("<", offset, at["low"][add(self._below, other)])
                with builder.when(higher):
                    moved[add(before, 1)] = other
                    hole.set(before)
            moved[hole.get()] = buffer

    def _merge(self, left: Expr) -> None:
        """Write the next row of `order` from `kept` and `moved`."""
        builder, at = self._builder, self._at
        kept, moved, low = at["kept"], at["moved"], at["low"]
        from_kept = self._variable("from_kept", Type.I32, 0)
        with builder.loop("number", 0, subtract(left, 1)) as number:
            from_moved = builder.let("from_moved", subtract(number, from_kept.get()))
            first = builder.let("first", kept[from_kept.get()])
            second = builder.let("second", moved[from_moved])
            lower = _op("<=", low[add(self._below, first)], low[add(self._below, second)])
            last = _op("==", from_moved, self._moved.get())
            some = _op("<", from_kept.get(), self._kept.get())
            place = add(self._below, number)
            with builder.when(_op("&", some, _op("|", lower, last))):
                at["order"][place] = first
                from_kept.set(add(from_kept.get(), 1))
            with builder.otherwise():
                at["order"][place] = second

    def _lifted(self, buffer: Expr, least: Expr) -> Expr:
        """Return the lowest offset from `least` on that is aligned and not forbidden."""
        builder, at = self._builder, self._at
        mask = builder.let("mask", subtract(at["alignment"][buffer], 1))

        def aligned(offset: Expr) -> Expr:
            address = add(add(offset, self._origin), mask)
            return subtract(subtract(address, _op("&", address, mask)), self._origin)

        lifted = self._variable("lifted_to", Type.I64, aligned(least))
        with self._entries("range_from", buffer) as entry:
            beyond = _op("<=", at["range_begin"][entry], lifted.get())
            within = _op("&", beyond, _op("<", lifted.get(), at["range_end"][entry]))
            with builder.when(within):
                lifted.set(aligned(at["range_end"][entry]))
        return builder.let("offset", lifted.get())
