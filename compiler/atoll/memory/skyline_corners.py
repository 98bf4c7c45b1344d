"""The part of the skyline kernel that finds where to go on, and with which blocks."""

from atoll.ir.expressions import add, cast, minimum, select, subtract
from atoll.ir.tir import Expr, Type
from atoll.memory.kernel_writer import Value, op
from atoll.memory.skyline_layout import FAR, NARROW, TRIED
from atoll.memory.skyline_writer import SkylineWriter


class SkylineCorners(SkylineWriter):
    """Writes the choice of a corner and of blocks for it."""

    def corner(self, row: Expr, line: Expr) -> tuple[Value, Value]:
        """Find the valley with the corner of which the fewest blocks fit exactly, and its side."""
        builder, at = self.builder, self.at
        corner = self.variable("corner", Type.I32, 1)
        from_right = self.variable("from_right", Type.I32, 0)
        fewest = self.variable("fewest", Type.I32, (1 << 31) - 1)
        lowest = self.variable("lowest", Type.I64, FAR)
        with builder.loop("place", 1, at["last"][row]) as place:
            here = builder.let("here", add(line, place))
            height = builder.let("height_here", at["height"][here])
            walls = minimum(at["height"][subtract(here, 1)], at["height"][add(here, 1)])
            with builder.when(op("<", height, walls)):
                left = builder.let("left", at["time"][here])
                right = builder.let("right", at["time"][add(here, 1)])
                width = cast(subtract(right, left), Type.I64)
                narrow = op("==", self.state[NARROW], 1)
                key = builder.let("key", select(narrow, width, height))
                for side, options in (
                    (0, self._starting(row, left, right)),
                    (1, self._ending(row, left, right)),
                ):
                    lower = op("&", op("==", options, fewest.get()), op("<", key, lowest.get()))
                    with builder.when(op("|", op("<", options, fewest.get()), lower)):
                        corner.set(place)
                        from_right.set(side)
                        fewest.set(options)
                        lowest.set(key)
        return corner, from_right

    def _starting(self, row: Expr, left: Expr, right: Expr) -> Expr:
        """Count the unplaced blocks that fit into the left corner."""
        builder, at = self.builder, self.at
        count = self.variable("count", Type.I32, 0)
        with self.entries("from_begin", left) as block:
            short = op("<=", at["end"][block], right)
            with builder.when(short), self.when_open(row, block):
                count.set(add(count.get(), 1))
        return builder.let("options", count.get())

    def _ending(self, row: Expr, left: Expr, right: Expr) -> Expr:
        """Count the unplaced blocks that fit into the right corner."""
        builder, at = self.builder, self.at
        count = self.variable("count", Type.I32, 0)
        beyond = at["from_end"][subtract(right, 1)]
        with builder.loop("place", at["from_end"][right], beyond) as place:
            block = builder.let("block", at["by_end"][place])
            short = op("<=", left, at["begin"][block])
            with builder.when(short), self.when_open(row, block):
                count.set(add(count.get(), 1))
        return builder.let("options", count.get())

    def choose_from_left(self, found: Value, row: Expr, left: Expr, right: Expr) -> None:
        """Choose the unplaced blocks that leave the narrowest gap there, then the longest."""
        at = self.at
        first, beyond = at["from_begin"][left], at["from_begin"][right]
        with self.until(found, self.state[TRIED], first, beyond) as block:
            short = op("<=", at["end"][block], right)
            with self.builder.when(short), self.when_open(row, block):
                self._choose(found, block)

    def choose_from_right(self, found: Value, row: Expr, left: Expr, right: Expr) -> None:
        """Choose the unplaced blocks that leave the narrowest gap there, then the longest."""
        at = self.at
        first, beyond = at["from_end"][right], at["from_end"][left]
        with self.until(found, self.state[TRIED], first, beyond) as place:
            block = self.builder.let("block", at["by_end"][place])
            short = op("<=", left, at["begin"][block])
            with self.builder.when(short), self.when_open(row, block):
                self._choose(found, block)

    def _choose(self, found: Value, block: Expr) -> None:
        self.at["choice"][found.get()] = block
        found.set(add(found.get(), 1))
