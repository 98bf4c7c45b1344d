# SPDX-License-Identifier: Apache-2.0
"""Planning problems with a known optimum: a rectangle of time and bytes that is cut to pieces."""

import heapq
from dataclasses import dataclass
from random import Random

from atoll.memory.problem import Buffer, PoolSpace, Problem

_STEPS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Piece:
    """Steps and bytes, half-open."""

    left: int
    right: int
    low: int
    high: int

    @property
    def area(self) -> int:
        return (self.right - self.left) * (self.high - self.low)


def random_cuts(
    count: int, height: int, pinwheels: float, random: Random, *, slack: float = 0.0
) -> Problem:
    """Cut a rectangle into buffers that fill a pool of `height` bytes in every step.

    Args:
        count: how many buffers, about; a pinwheel cut makes five pieces of one.
        height: bytes, the optimum.
        pinwheels: how likely a cut is one into five pieces around a middle one.
        random: source of chance.
        slack: how much larger the pool is, as part of `height`.
    """
    pieces = [(-_STEPS * height, 0, _Piece(0, _STEPS, 0, height))]
    number = 0
    while len(pieces) < count:
        _, _, piece = heapq.heappop(pieces)
        for part in _cut(piece, pinwheels if len(pieces) + 5 <= count else 0.0, random):
            number += 1
            heapq.heappush(pieces, (-part.area, number, part))
    return Problem(
        pools=(PoolSpace(name="s", origin=0, size=int(height * (1 + slack)), alignment=1),),
        buffers=tuple(
            Buffer(
                name=f"b{place}",
                size=piece.high - piece.low,
                alignment=1,
                live=((piece.left, piece.right),),
                pools=("s",),
            )
            for place, (_, _, piece) in enumerate(sorted(pieces, key=lambda each: each[1]))
        ),
    )


def _cut(piece: _Piece, pinwheels: float, random: Random) -> list[_Piece]:
    x, y = _between(piece.left, piece.right, random), _between(piece.low, piece.high, random)
    if random.random() < pinwheels:
        right = _between(x, piece.right, random)
        high = _between(y, piece.high, random)
        return _solid(
            _Piece(piece.left, right, piece.low, y),
            _Piece(right, piece.right, piece.low, high),
            _Piece(x, piece.right, high, piece.high),
            _Piece(piece.left, x, y, piece.high),
            _Piece(x, right, y, high),
        )
    if random.random() < 0.5:
        return _solid(
            _Piece(piece.left, x, piece.low, piece.high),
            _Piece(x, piece.right, piece.low, piece.high),
        )
    return _solid(
        _Piece(piece.left, piece.right, piece.low, y),
        _Piece(piece.left, piece.right, y, piece.high),
    )


def _between(low: int, high: int, random: Random) -> int:
    return low + int((high - low) * random.uniform(0.2, 0.8))


def _solid(*pieces: _Piece) -> list[_Piece]:
    return [piece for piece in pieces if piece.area]
