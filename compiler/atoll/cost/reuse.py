# SPDX-License-Identifier: Apache-2.0
"""How many lines a data cache takes in for a kernel, and makes dirty: by reuse in its loop nest.

What a round of a loop touches, the next one finds again if all of it fits in the cache; then each
line that the loop touches comes once. Otherwise each round takes in again what it touches. How many
lines these are follows from the strides of each access and how often the loops around it run. That
is the rule of reuse distances, for a cache that replaces what was used longest ago (Wolf and Lam,
"A data locality optimizing algorithm", PLDI 1991).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from itertools import pairwise
from math import ceil, gcd, prod
from typing import NamedTuple

from atoll.cost.executed import ONCE, Count, Nest, Weight
from atoll.ir.scalars import Binary, Cast, Const, Expr, Load, Operation, Select, Var
from atoll.ir.statements import Allocate, Direction, For, Let, PrimFunc, Stmt, Store
from atoll.records import dataclass
from atoll.resolve.data_cache import Cache
from atoll.resolve.storage_scope import LOCAL

Strides = Mapping[str, float]
"""By how many bytes an index goes on with each variable of a loop."""


class Sum(NamedTuple):
    """An index, nearly: a number, and a coefficient of each variable of a loop."""

    constant: float
    coefficients: Mapping[str, float]


class Place(NamedTuple):
    """An access: its first byte, how many, and its strides; None if nobody knows them."""

    space: str
    first: float
    size: float
    strides: Strides | None
    written: bool


@dataclass(slots=True)
class Level:
    """A loop, or a branch.

    Attributes:
        variable: of the loop; "" of a branch.
        times: how often its body runs in all.
        rounds: how often in one round of what is around it.
        places: accesses in its body, but not those in inner ones.
        inner: loops and branches in it.
    """

    variable: str = ""
    times: float = 1.0
    rounds: float = 1.0
    places: list[Place] = field(default_factory=list)
    inner: list["Level"] = field(default_factory=list)


class Lines(NamedTuple):
    """Lines of a cache by space, of which the first is "0".

    Attributes:
        loaded: that come in.
        touched: how many different ones these are.
        dirty: that become dirty.
        stored: how many different ones these are.
    """

    loaded: Mapping[str, float]
    touched: Mapping[str, float]
    dirty: Mapping[str, float]
    stored: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Space:
    """Bytes that buffers of a kernel share, because they lie over each other.

    Attributes:
        line: the first one.
        size: of all, from the begin of this line on.
        begins: where each buffer begins in them.
    """

    line: int
    size: int
    begins: tuple[tuple[str, int], ...]


def count_lines(
    function: PrimFunc,
    library: Iterable[PrimFunc],
    cache: Cache,
    spaces: Iterable[Space],
    *,
    locals_too: bool,
) -> Lines:
    """Count the lines of a kernel, by space, with a cache that is empty at first.

    Args:
        function: a kernel.
        library: functions that it may call.
        cache: its size is known.
        spaces: of the buffers that it may keep.
        locals_too: it may keep memory of the kernel's own, which is "".

    Raises:
        UncountableError: see `atoll.cost.executed`.
    """
    count = _Places({each.name: each for each in library}, locals_too=locals_too)
    for number, space in enumerate(spaces):
        count.bytes_of[str(number)], count.begins[str(number)] = space.size, space.line
        count.spaces |= {name: (str(number), begin) for name, begin in space.begins}
    count.kept |= {each.name for each in function.buffers if each.direction is Direction.READ}
    count.block(function.body, ONCE)
    every = _Reuse(cache, count, "" if cache.write_back else "loads")
    stores = _Reuse(cache, count, "stores")
    dirty = (stores.count_moved(), stores.count_touched()) if cache.write_back else ({}, {})
    return Lines(every.count_moved(), every.count_touched(), *dirty)


@dataclass
class _Places(Count):
    """Notes each access, and the loops around it.

    Attributes:
        levels: where the walk is, the innermost last.
        bytes_of, begins: sizes of spaces, and their first lines.
        spaces: in which each buffer is that a cache may keep, and from which byte on.
        locals_too: see `count_lines`.
        middle: of variables of loops: the mean of their values; None if nobody knows.
        loop: of the loop that comes next.
    """

    levels: list[Level] = field(default_factory=lambda: [Level()])
    bytes_of: dict[str, float] = field(default_factory=dict)
    begins: dict[str, int] = field(default_factory=dict)
    spaces: dict[str, tuple[str, int]] = field(default_factory=dict)
    locals_too: bool = False
    middle: dict[str, float | None] = field(default_factory=dict)
    loop: str = ""

    def block(self, body: Sequence[Stmt], weight: Weight) -> None:
        for each in body:
            if isinstance(each, Allocate) and each.scope != LOCAL and self.locals_too:
                own = self.bytes_of.get("", 0)
                self.spaces[each.buffer] = "", int(own)
                self.bytes_of[""] = own + each.size
        super().block(body, weight)

    def _loop(self, loop: For, weight: Weight) -> None:
        begin, end = self._mean(loop.begin), self._mean(loop.end)
        known = None if begin is None or end is None else (begin + end - 1) / 2
        self.middle[loop.variable] = known
        self.loop = loop.variable
        super()._loop(loop, weight)
        self.loop = ""

    def _move(self, loop: For, moved: str, entered: float, rounds: float) -> None:
        super()._move(loop, moved, entered, rounds)
        *lets, store = loop.body
        assert isinstance(store, Store)
        for each in lets:
            assert isinstance(each, Let)
            self.lets[each.variable] = each.value
        level = Level(self.loop, rounds, rounds / max(self.levels[-1].times, 1e-9))
        self.levels[-1].inner.append(level)
        for place in (store, store.value):
            if isinstance(place, Load | Store) and place.buffer in self.spaces:
                level.places.append(self._place(place, 1))

    @contextmanager
    def _inside(self, times: float, nest: tuple[Nest, float]) -> Iterator[None]:
        around = self.levels[-1]
        level = Level(self.loop, times, times / max(around.times, 1e-9))
        self.loop = ""
        around.inner.append(level)
        self.levels.append(level)
        with super()._inside(times, nest):
            yield
        self.levels.pop()

    def _touch(self, place: Load | Store, what: str, depth: int, count: float = 1) -> None:
        super()._touch(place, what, depth, count)
        if place.buffer in self.spaces:
            items = 2 * count if what == "products" else 4 if what == "load_32" else 1
            self.levels[min(depth, len(self.levels) - 1)].places.append(self._place(place, items))

    def _place(self, place: Load | Store, items: float) -> Place:
        each = (place.type if isinstance(place, Load) else place.value.type).bytes
        written = isinstance(place, Store)
        size = each if items * each > 4 and items == 4 else items * each
        space, begin = self.spaces[place.buffer]
        if (index := self._sum(place.index)) is None:
            return Place(space, begin, size, None, written)
        strides = {name: each * by for name, by in index.coefficients.items() if by}
        return Place(space, begin + each * index.constant, size, strides, written)

    def _sum(self, expr: Expr) -> Sum | None:
        """Return an index as a sum; of limits, the side that holds in the middle of loops."""
        match expr:
            case Const(value):
                return Sum(value, {})
            case Var(name):
                if name in self.lets:
                    return self._sum(self.lets[name])
                return Sum(0, {name: 1}) if name in self.middle else None
            case Cast(_, inner):
                return self._sum(inner)
            case Select(condition, then, otherwise):
                return self._sum(otherwise if self._mean(condition) == 0 else then)
            case Binary(operation, left, right):
                return self._sum_of(operation, left, right)
        return None

    def _sum_of(self, operation: Operation, left: Expr, right: Expr) -> Sum | None:
        if operation in (Operation.MIN, Operation.MAX):
            one, two = self._mean(left), self._mean(right)
            if one is None or two is None:
                return None
            return self._sum(left if (one <= two) is (operation is Operation.MIN) else right)
        a, b = self._sum(left), self._sum(right)
        if a is None or b is None:
            return None
        match operation:
            case Operation.ADD:
                return _add_sums(a, b)
            case Operation.SUB:
                return _add_sums(a, _scale(b, -1))
            case Operation.MUL if not b.coefficients:
                return _scale(a, b.constant)
            case Operation.MUL if not a.coefficients:
                return _scale(b, a.constant)
            case Operation.DIV if not b.coefficients and b.constant:
                return _scale(a, 1 / b.constant)
        return None

    def _mean(self, expr: Expr) -> float | None:
        """Return the value of an expression in the middle of the loops around it."""
        match expr:
            case Const(value):
                return value
            case Var(name):
                return self._mean(self.lets[name]) if name in self.lets else self.middle.get(name)
            case Cast(_, inner):
                return self._mean(inner)
            case Binary(operation, left, right) if operation in _MEANS:
                a, b = self._mean(left), self._mean(right)
                return None if a is None or b is None else _MEANS[operation](a, b)
        return None


_MEANS: Mapping[Operation, Callable[[float, float], float | None]] = {
    Operation.ADD: lambda a, b: a + b,
    Operation.SUB: lambda a, b: a - b,
    Operation.MUL: lambda a, b: a * b,
    Operation.DIV: lambda a, b: a / b if b else None,
    Operation.MIN: min,
    Operation.MAX: max,
    Operation.LT: lambda a, b: float(a < b),
    Operation.LE: lambda a, b: float(a <= b),
}


def _scale(a: Sum, times: float) -> Sum:
    return Sum(times * a.constant, {name: times * by for name, by in a.coefficients.items()})


def _add_sums(a: Sum, b: Sum) -> Sum:
    names = {*a.coefficients, *b.coefficients}
    both = {name: a.coefficients.get(name, 0) + b.coefficients.get(name, 0) for name in names}
    return Sum(a.constant + b.constant, both)


Varying = Mapping[str, float]
"""Variables of loops, and how many values each has."""

_SURE = 1e-3
"""Shares less than this are none."""


class _Reuse:
    """Adds up the lines of the levels of a kernel, those of loads or stores alone if told."""

    def __init__(self, cache: Cache, count: _Places, only: str) -> None:
        assert cache.ways
        (root,), sizes = count.levels, count.bytes_of
        self._begins, self._fits = count.begins, dict[int, float]()
        self._line, self._ways, self._sets = cache.line, cache.ways, cache.sets
        self._sizes, self._root, self._only = sizes, root, only
        self._allocates = cache.write_back

    def count_moved(self) -> Mapping[str, float]:
        """Return how many come in, by space."""
        return self._count_moved(self._root)

    def count_touched(self) -> Mapping[str, float]:
        """Return how many different ones there are."""
        return self._count_touched(self._root, {})

    def _count_moved(self, level: Level) -> Mapping[str, float]:
        """Return how many come in while a loop runs once."""
        fits, again = self._fitting(level), level.rounds
        whole = self._count_touched(level, {level.variable: again})
        if fits == 1:
            return whole
        found: defaultdict[str, float] = defaultdict(float)
        _add(found, self._lines(level.places, {}), again)
        for each in level.inner:
            _add(found, self._count_moved(each), again)
        for name, lines in found.items():
            share = max(fits, self._staying(level, name))
            found[name] = share * whole[name] + (1 - share) * lines
        return found

    def _staying(self, level: Level, space: str) -> float:
        """Return which share of lines stays because every round of an inner loop uses them."""
        users = [each for each in level.inner if space in self._count_touched(each, {})]
        if len(users) != 1 or space in self._lines(level.places, {}):
            return 0.0
        (inner,) = users
        once = self._count_touched(inner, {})[space]
        if self._count_touched(inner, {inner.variable: inner.rounds})[space] > once:
            return 0.0
        return max(self._fitting(inner), self._staying(inner, space))

    def _fitting(self, level: Level) -> float:
        """Return which share of a round's lines is in sets that have room for all of theirs.

        It is known in which sets whole spaces are; part of one begins in any set.
        """
        if id(level) not in self._fits:
            touched = self._count_touched(level, {}, every=self._allocates)
            crowded = self._count_touched(level, {}, every=self._allocates, crowded=True)
            self._fits[id(level)] = self._share(touched, crowded)
        return self._fits[id(level)]

    def _share(self, touched: Mapping[str, float], crowded: Mapping[str, float]) -> float:
        certain, chances = [0] * self._sets, [1.0]
        for name, number in touched.items():
            if name in self._begins and number >= self._whole(name) - 1:
                for line in range(round(number)):
                    certain[(self._begins[name] + line) % self._sets] += 1
                continue
            each, rest = divmod(crowded[name] / self._sets, 1)
            chances = [0.0] * int(each) + [
                a * (1 - rest) + b * rest
                for a, b in zip((*chances, 0.0), (0.0, *chances), strict=True)
            ]
        fits = whole = 0.0
        for there, sets in Counter(certain).items():
            lines = [sets * (there + more) * chance for more, chance in enumerate(chances)]
            whole += sum(lines)
            fits += sum(lines[: max(0, self._ways - there + 1)])
        share = fits / whole if whole else 1.0
        return 1.0 if share > 1 - _SURE else 0.0 if share < _SURE else share

    def _count_touched(
        self, level: Level, varying: Varying, *, every: bool = False, crowded: bool = False
    ) -> Mapping[str, float]:
        """Return how many different lines a level touches while some variables vary.

        Args:
            level: which.
            varying: also those of inner loops do.
            every: loads and stores count.
            crowded: return how many lines of all sets crowd each as much.
        """
        found: defaultdict[str, float] = defaultdict(float)
        share = 1.0 if level.variable else min(1.0, level.rounds)
        _add(found, self._lines(level.places, varying, every=every, crowded=crowded), share)
        for each in level.inner:
            inside = {**varying, each.variable: each.rounds}
            _add(found, self._count_touched(each, inside, every=every, crowded=crowded), share)
        if crowded:
            return found
        return {name: min(lines, self._whole(name)) for name, lines in found.items()}

    def _whole(self, space: str) -> float:
        return max(1.0, self._sizes[space] / self._line)

    def _lines(
        self,
        places: Iterable[Place],
        varying: Varying,
        *,
        every: bool = False,
        crowded: bool = False,
    ) -> Mapping[str, float]:
        """Return how many different lines accesses have while some variables vary."""
        alike: defaultdict[tuple[str, object], list[Place]] = defaultdict(list)
        for each in places:
            if every or not self._only or each.written is (self._only == "stores"):
                strides = each.strides
                same = None if strides is None else tuple(sorted(strides.items()))
                alike[each.space, same].append(each)
        found: defaultdict[str, float] = defaultdict(float)
        for (space, _), group in alike.items():
            strides, times = group[0].strides, 1.0
            if strides is None:
                number = len(group) * prod(max(1.0, each) for each in varying.values())
            else:
                number, times = self._of_alike(group, strides, varying)
            found[space] += min(number, self._whole(space)) * (times if crowded else 1)
        return found

    def _of_alike(
        self, places: Sequence[Place], strides: Strides, varying: Varying
    ) -> tuple[float, float]:
        """Return how many different lines accesses have whose strides are the same.

        Strides that share a factor with the sets leave some of these out: also return how many
        times as much they crowd the others.
        """
        firsts = sorted({each.first for each in places})
        size = max(each.size for each in places)
        starts, ends = firsts[:1], []
        for one, two in pairwise(firsts):
            if two - one > size + self._line:
                ends.append(one)
                starts.append(two)
        ends.append(firsts[-1])
        run = max(end - start for start, end in zip(starts, ends, strict=True)) + size
        steps = [(abs(by), varying[name]) for name, by in strides.items() if name in varying]
        if len(starts) > 1:
            steps.append(((starts[-1] - starts[0]) / (len(starts) - 1), float(len(starts))))
        apart: list[tuple[float, float]] = []
        merged: set[float] = set()
        for step, number in sorted(steps):
            if number <= 1:
                continue
            if not apart and step <= run + self._line:
                run += step * (number - 1)
                merged.add(step)
            elif apart and (times := step / apart[-1][0]) <= apart[-1][1] and times % 1 == 0:
                apart[-1] = apart[-1][0], apart[-1][1] + times * (number - 1)
            else:
                apart.append((step, number))
        others = {abs(by) for by in strides.values()} - merged
        times = 1.0
        even = all(by % 1 == 0 for by in others)
        grain = gcd(self._line, *map(int, others)) if even else 1
        begin = starts[0] % grain
        if grain == self._line:
            lines: float = ceil((begin + run) / grain)
        else:
            lines = 1 + max(0.0, ceil((begin + run) / grain) * grain - grain) / self._line
        if apart and (step := apart[0][0] / self._line) % 1 == 0:
            times = max(1.0, gcd(int(step), self._sets) / ceil(lines))
        return lines * prod(number for _, number in apart), times


def _add(found: defaultdict[str, float], more: Mapping[str, float], times: float) -> None:
    for name, number in more.items():
        found[name] += times * number
