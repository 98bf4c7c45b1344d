"""The part of the skyline kernel that puts a block into a valley."""

from atoll.ir.expressions import add, cast, maximum, minimum, multiply, subtract
from atoll.ir.tir import Expr, Type
from atoll.memory.kernel_writer import Value, op
from atoll.memory.skyline_corners import SkylineCorners
from atoll.memory.skyline_layout import FAR, STEPS_OF_PLAN


class SkylinePlacing(SkylineCorners):
    """Writes the skyline that a block leaves."""

    def place(self, row: Expr, place: Expr, block: Expr) -> tuple[Expr, Expr]:
        """Write the skyline with `block` in the valley at `place`; return its end, and waste."""
        builder, at = self.builder, self.at
        line = builder.let("line", multiply(row, STEPS_OF_PLAN))
        here = builder.let("here", add(line, place))
        ground = builder.let("ground", at["height"][here])
        left = builder.let("left", at["time"][here])
        right = builder.let("right", at["time"][add(here, 1)])
        with builder.loop("copied", 0, place) as copied:
            self._write(copied, at["time"][add(line, copied)], at["height"][add(line, copied)])
        write = self.variable("write", Type.I32, place)
        begin, end = builder.let("from", at["begin"][block]), builder.let("to", at["end"][block])
        with builder.when(op("<", left, begin)):
            self._append(write, left, ground)
        self._append(write, begin, add(ground, at["size"][block]))
        with builder.when(op("<", end, right)):
            self._append(write, end, ground)
        with builder.loop("rest", add(here, 1), add(line, at["last"][row], 1)) as rest:
            self._append(write, at["time"][rest], at["height"][rest])
        last = self.variable("last", Type.I32, subtract(write.get(), 1))
        return self._settle(row, block, maximum(1, subtract(place, 1)), right, last)

    def _write(self, place: Expr, time: Expr, height: Expr) -> None:
        self.at["new_time"][place] = time
        self.at["new_height"][place] = height

    def _append(self, write: Value, time: Expr, height: Expr) -> None:
        self._write(write.get(), time, height)
        write.set(add(write.get(), 1))

    def _settle(
        self, row: Expr, block: Expr, first: Expr, right: Expr, last: Value
    ) -> tuple[Expr, Expr]:
        """Join what is level and fill valleys where nothing fits, from `first` to `right`."""
        builder, at = self.builder, self.at
        waste, look = self.variable("lost", Type.I64, 0), self.variable("look", Type.I32, first)
        rounds = builder.let("rounds", add(multiply(last.get(), 4), 8))
        with builder.loop("round", 0, rounds):
            inside = op("<=", at["new_time"][look.get()], right)
            with builder.when(op("&", inside, op("<", look.get(), last.get()))):
                here = builder.let("here", look.get())
                height = builder.let("height_here", at["new_height"][here])
                follower = builder.let("follower", at["new_height"][add(here, 1)])
                level = builder.let("level_ground", op("==", height, follower))
                wall = builder.let("wall", minimum(at["new_height"][subtract(here, 1)], follower))
                with builder.when(level):
                    self._join(here, last)
                with builder.otherwise():
                    self._fill(row, block, look, wall, waste)
        return builder.let("new_last", last.get()), builder.let("lost_here", waste.get())

    def _join(self, here: Expr, last: Value) -> None:
        """Remove the entry after `here`."""
        at = self.at
        with self.builder.loop("shift", add(here, 1), last.get()) as shift:
            later = add(shift, 1)
            self._write(shift, at["new_time"][later], at["new_height"][later])
        last.set(subtract(last.get(), 1))

    def _fill(self, row: Expr, block: Expr, look: Value, wall: Expr, waste: Value) -> None:
        """Fill the entry at `look` up to `wall` if nothing fits there; else go to the next."""
        builder, at = self.builder, self.at
        here = builder.let("here", look.get())
        height = builder.let("height_here", at["new_height"][here])
        low = op("&", op("<", height, wall), op("<", wall, FAR))
        look.set(add(here, 1))
        with builder.when(low):
            left = builder.let("left", at["new_time"][here])
            right = builder.let("right", at["new_time"][add(here, 1)])
            with self.when(self.fits(row, left, right, block), 0):
                width = cast(subtract(right, left), Type.I64)
                waste.set(add(waste.get(), multiply(subtract(wall, height), width)))
                at["new_height"][here] = wall
                look.set(maximum(1, subtract(here, 1)))
