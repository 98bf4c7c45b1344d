"""The hot loop of the skyline search, as a loop program.

It fills a pool from below, several partial plans side by side. A plan's skyline is the lowest free
offset in every step of time. In a valley of it, the unplaced blocks that live within the valley
are all that can lie on its ground; so at either of its corners one of them starts or ends there, or
something stays empty. Each plan goes on in the corner where the fewest blocks fit exactly, with a
few blocks that leave the narrowest gap in it. A valley where no block fits any more is filled up to
its lower neighbour, and what is lost is counted. Of all these children the best go on.

The caller sets one plan without blocks, calls until all are placed, and reads the plans off
`placed` and `offset`, from the last level back along `came_from`.
"""

from functools import cache

from atoll.ir.expressions import add, cast, maximum, multiply, subtract
from atoll.ir.tir import Expr, PrimFunc, Type
from atoll.memory.kernel_writer import op
from atoll.memory.skyline_layout import (
    CHILDREN,
    COUNT,
    FRESH,
    LEVEL,
    PLANS,
    SIDE,
    STEPS,
    STEPS_OF_PLAN,
    STUCK,
    WIDTH,
    WORD,
)
from atoll.memory.skyline_placing import SkylinePlacing

_CHILD = ("parent", "valley", "block", "waste", "last", "sum")


@cache
def skyline_kernel() -> PrimFunc:
    """Return the kernel."""
    return _Skyline().kernel()


class _Skyline(SkylinePlacing):
    """Writes the kernel."""

    def kernel(self) -> PrimFunc:
        builder, state = self.builder, self.state
        with self.when(state[FRESH], 1):
            self._sum_again()
        with builder.loop("step", 0, state[STEPS]), self.when(state[STUCK], 0):
            base = builder.let("base", multiply(state[SIDE], WIDTH))
            state[CHILDREN] = 0
            with builder.loop("row", base, add(base, state[PLANS])) as row:
                self._branch(row)
            other = builder.let("other", subtract(WIDTH, base))
            with builder.loop("child", 0, state[CHILDREN]) as child:
                self._keep(child, base, other)
            state[STUCK] = cast(op("==", state[CHILDREN], 0), Type.I32)
            state[PLANS] = state[CHILDREN]
            state[SIDE] = subtract(1, state[SIDE])
            state[LEVEL] = add(state[LEVEL], 1)
        return builder.kernel()

    def _sum_again(self) -> None:
        """Add up the marks of what each plan has placed."""
        builder, at, state = self.builder, self.at, self.state
        state[FRESH] = 0
        base = builder.let("base", multiply(state[SIDE], WIDTH))
        with builder.loop("row", base, add(base, state[PLANS])) as row:
            total = self.variable("total", Type.I64, 0)
            with builder.loop("block", 0, state[COUNT]) as block:
                total.set(add(total.get(), at["mark"][block]))
                with self.when_open(row, block):
                    total.set(subtract(total.get(), at["mark"][block]))
            at["sum"][row] = total.get()

    # -- a plan's children

    def _branch(self, row: Expr) -> None:
        """Try blocks in the narrowest corner of a plan."""
        builder = self.builder
        line = builder.let("line", multiply(row, STEPS_OF_PLAN))
        corner, from_right = self.corner(row, line)
        place = builder.let("valley", corner.get())
        left = builder.let("left", self.at["time"][add(line, place)])
        right = builder.let("right", self.at["time"][add(line, place, 1)])
        found = self.variable("choices", Type.I32, 0)
        with self.when(from_right.get(), 0):
            self.choose_from_left(found, row, left, right)
        with self.when(from_right.get(), 1):
            self.choose_from_right(found, row, left, right)
        with builder.loop("number", 0, found.get()) as number:
            block = builder.let("block", self.at["choice"][number])
            self._weigh(row, place, block)

    # -- the best children

    def _weigh(self, row: Expr, place: Expr, block: Expr) -> None:
        """Enter a child among the best, if it is one of them."""
        builder, at, state = self.builder, self.at, self.state
        last, lost = self.place(row, place, block)
        waste = builder.let("waste_of_child", add(at["waste"][row], lost))
        total = builder.let("sum_of_child", add(at["sum"][row], at["mark"][block]))
        wanted = self.variable("wanted", Type.I32, cast(op("<", last, STEPS_OF_PLAN), Type.I32))
        twin = self.variable("twin", Type.I32, -1)
        with (
            builder.loop("child", 0, state[CHILDREN]) as child,
            self.when_equal(at["child_sum"][child], total),
        ):
            twin.set(child)
        with builder.when(op("<=", 0, twin.get())):
            with builder.when(self.better(waste, last, total, twin.get())):
                self._drop(twin.get())
            with builder.otherwise():
                wanted.set(0)
        with self.when(wanted.get(), 1), self.when(state[CHILDREN], WIDTH):
            with builder.when(self.better(waste, last, total, WIDTH - 1)):
                state[CHILDREN] = WIDTH - 1
            with builder.otherwise():
                wanted.set(0)
        with self.when(wanted.get(), 1):
            self._insert((row, place, block, waste, last, total))

    def _drop(self, twin: Expr) -> None:
        """Remove a child that another is better than."""
        state = self.state
        with self.builder.loop("shift", twin, subtract(state[CHILDREN], 1)) as shift:
            self._move(add(shift, 1), shift)
        state[CHILDREN] = subtract(state[CHILDREN], 1)

    def _insert(self, child: tuple[Expr, Expr, Expr, Expr, Expr, Expr]) -> None:
        builder, state = self.builder, self.state
        hole = self.variable("hole", Type.I32, state[CHILDREN])
        with builder.loop("shift", 0, state[CHILDREN]) as shift:
            before = builder.let("before", subtract(subtract(state[CHILDREN], shift), 1))
            with builder.when(self.better(*child[3:], before)):
                self._move(before, add(before, 1))
                hole.set(before)
        for name, value in zip(_CHILD, child, strict=True):
            self.at[f"child_{name}"][hole.get()] = value
        state[CHILDREN] = add(state[CHILDREN], 1)

    def _move(self, source: Expr, target: Expr) -> None:
        for name in _CHILD:
            column = self.at[f"child_{name}"]
            column[target] = column[source]

    def _keep(self, child: Expr, base: Expr, other: Expr) -> None:
        """Write a child as a plan of the other side."""
        builder, at, state = self.builder, self.at, self.state
        row = builder.let("parent", at["child_parent"][child])
        place = builder.let("valley", at["child_valley"][child])
        block = builder.let("block", at["child_block"][child])
        last, _ = self.place(row, place, block)
        target = builder.let("target", add(other, child))
        line = builder.let("line", multiply(target, STEPS_OF_PLAN))
        with builder.loop("entry", 0, add(last, 1)) as entry:
            at["time"][add(line, entry)] = at["new_time"][entry]
            at["height"][add(line, entry)] = at["new_height"][entry]
        source = builder.let("source", multiply(row, self.words))
        words = builder.let("first_word", multiply(target, self.words))
        with builder.loop("word", 0, self.words) as word:
            at["open"][add(words, word)] = at["open"][add(source, word)]
        self._take(words, block)
        ground = at["height"][add(multiply(row, STEPS_OF_PLAN), place)]
        offset = builder.let("ground", ground)
        size = builder.let("size_of_block", at["size"][block])
        steps = cast(subtract(at["end"][block], at["begin"][block]), Type.I64)
        at["last"][target] = last
        at["waste"][target] = at["child_waste"][child]
        at["filled"][target] = add(at["filled"][row], multiply(size, steps))
        at["top"][target] = maximum(at["top"][row], add(offset, size))
        at["sum"][target] = at["child_sum"][child]
        entry = builder.let("history", add(multiply(state[LEVEL], WIDTH), child))
        at["came_from"][entry] = subtract(row, base)
        at["placed"][entry] = block
        at["offset"][entry] = offset

    def _take(self, words: Expr, block: Expr) -> None:
        """Clear the bit of `block` among the words of a plan."""
        word = self.builder.let("word", add(words, op(">>", block, WORD)))
        bit = cast(op("&", block, (1 << WORD) - 1), Type.I64)
        at = self.at["open"]
        at[word] = subtract(at[word], op("<<", 1, bit))
