"""Join blocks that leave no gap between them, so that fewer are left to pack.

Two with the same lifetime are stacked. Two of one size, of which one begins where the other ends,
are laid side by side. Four are laid around a fifth like a pinwheel, the smallest number of
rectangles that make another although no two of them do. What was joined can be joined again.

Nothing tells whether blocks that can be joined are neighbours in any lowest plan, so a plan of
what is left bounds nothing.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from atoll.memory.strip import Strip


@dataclass(frozen=True, slots=True)
class _Piece:
    """Joined blocks: lifetime, bytes, and what it is made of, with bytes from the ground."""

    begin: int
    end: int
    size: int
    parts: tuple[tuple["_Piece | int", int], ...]

    @property
    def area(self) -> int:
        return (self.end - self.begin) * self.size


def join(strip: Strip) -> Strip:
    """Join the blocks of `strip` until nothing can be joined, the smallest first."""
    jigsaw = _Jigsaw(strip)
    jigsaw.solve()
    left = sorted(jigsaw.pieces, key=lambda piece: (piece.begin, -piece.end))
    return replace(
        strip,
        groups=tuple(tuple(_members(strip, piece)) for piece in left),
        begin=tuple(piece.begin for piece in left),
        end=tuple(piece.end for piece in left),
        size=tuple(piece.size for piece in left),
    )


class _Jigsaw:
    """Pieces by the corners they have."""

    def __init__(self, strip: Strip) -> None:
        self._count = 0
        self._pieces: dict[int, _Piece] = {}
        self._by_life: dict[tuple[int, int], int] = {}
        self._beginning: defaultdict[tuple[int, int], dict[int, None]] = defaultdict(dict)
        self._ending: defaultdict[tuple[int, int], dict[int, None]] = defaultdict(dict)
        self._ending_at: defaultdict[int, dict[int, None]] = defaultdict(dict)
        self._pairs: list[tuple[int, int, int]] = []
        shapes = zip(strip.begin, strip.end, strip.size, strict=True)
        for block, (begin, end, size) in enumerate(shapes):
            self._add(_Piece(begin, end, size, ((block, 0),)))

    @property
    def pieces(self) -> Iterable[_Piece]:
        """What is left."""
        return self._pieces.values()

    def solve(self) -> None:
        """Join until nothing can be joined; pinwheels first, since they hardly come by chance."""
        while self._join_wheels() or self._pairs:
            self._join_pairs()

    def _join_pairs(self) -> None:
        """Lay blocks side by side until no two can be."""
        while self._pairs:
            _, *numbers = heapq.heappop(self._pairs)
            if all(number in self._pieces for number in numbers):
                earlier, later = (self._remove(number) for number in numbers)
                parts = (earlier, 0), (later, 0)
                self._add(_Piece(earlier.begin, later.end, earlier.size, parts))

    def _join_wheels(self) -> bool:
        """Join the pinwheels around each piece; return whether there was one."""
        count = self._count
        for number in list(self._pieces):
            wheel = self._wheel(number) if number in self._pieces else None
            if wheel is not None:
                first, beside, above, over, center = (self._remove(each) for each in wheel)
                rise = first.size
                parts = (first, 0), (beside, 0), (above, beside.size), (over, rise), (center, rise)
                self._add(_Piece(first.begin, beside.end, first.size + over.size, parts))
        return self._count > count

    def _wheel(self, number: int) -> tuple[int, int, int, int, int] | None:
        """Find four pieces around one.

        ::

            over  above above
            over  center beside
            first first beside
        """
        center = self._pieces[number]
        for over in self._ending_at[center.begin]:
            begin, height = self._pieces[over].begin, self._pieces[over].size - center.size
            first = self._by_life.get((begin, center.end))
            if first is None:
                continue
            wanted = center.end, self._pieces[first].size + center.size
            for beside in self._beginning.get(wanted, ()):
                above = self._by_life.get((center.begin, self._pieces[beside].end))
                if above is not None and self._pieces[above].size == height:
                    return first, beside, above, over, number
        return None

    def _add(self, piece: _Piece) -> None:
        """Enter a piece, and the pairs that it makes with others."""
        below = self._by_life.get((piece.begin, piece.end))
        if below is not None:
            ground = self._remove(below)
            parts = (ground, 0), (piece, ground.size)
            piece = replace(piece, size=ground.size + piece.size, parts=parts)
        number = self._count
        self._count += 1
        self._pieces[number] = piece
        self._by_life[piece.begin, piece.end] = number
        self._beginning[piece.begin, piece.size][number] = None
        self._ending[piece.end, piece.size][number] = None
        self._ending_at[piece.end][number] = None
        for other in self._beginning.get((piece.end, piece.size), ()):
            self._enter(number, other)
        for other in self._ending.get((piece.begin, piece.size), ()):
            self._enter(other, number)

    def _enter(self, earlier: int, later: int) -> None:
        area = self._pieces[earlier].area + self._pieces[later].area
        heapq.heappush(self._pairs, (area, earlier, later))

    def _remove(self, number: int) -> _Piece:
        piece = self._pieces.pop(number)
        del self._by_life[piece.begin, piece.end]
        del self._beginning[piece.begin, piece.size][number]
        del self._ending[piece.end, piece.size][number]
        del self._ending_at[piece.end][number]
        return piece


def _members(strip: Strip, piece: _Piece) -> Iterator[tuple[int, int]]:
    """Yield the members of a piece, and their bytes from its ground."""
    left: list[tuple[_Piece | int, int]] = [(piece, 0)]
    while left:
        part, rise = left.pop()
        if isinstance(part, _Piece):
            left += [(each, rise + more) for each, more in part.parts]
        else:
            for member, more in strip.groups[part]:
                yield member, rise + more
