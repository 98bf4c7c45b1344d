# SPDX-License-Identifier: Apache-2.0
"""Places for the regions of a chip in the memories of another machine."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Bytes to be moved as one.

    Attributes:
        step: they move by a multiple of so many bytes.
    """

    name: str
    origin: int
    size: int
    step: int


def place(
    first: Piece, others: Sequence[Piece], spans: Sequence[range]
) -> Mapping[str, int] | Piece:
    """Return a new origin for each piece, by name, or the piece that has no room.

    Large pieces come before small ones, each to the lowest address in the first span with room.

    Args:
        first: comes to the first byte of the first span, wherever it was.
        others: with different names.
        spans: addresses that they may have; disjoint.
    """
    begin = spans[0].start
    if first.size > len(spans[0]):
        return first
    free = [range(begin + first.size, spans[0].stop), *spans[1:]]
    places = {first.name: begin}
    for piece in sorted(others, key=lambda each: (-each.size, each.name)):
        found = next(_rooms(piece, free), None)
        if found is None:
            return piece
        number, origin = found
        hole = free[number]
        free[number : number + 1] = [
            range(hole.start, origin),
            range(origin + piece.size, hole.stop),
        ]
        places[piece.name] = origin
    return places


def _rooms(piece: Piece, free: Sequence[range]) -> Iterator[tuple[int, int]]:
    """Yield the number of each hole that has room, and the lowest origin in it."""
    for number, hole in enumerate(free):
        origin = hole.start + (piece.origin - hole.start) % piece.step
        if origin + piece.size <= hole.stop:
            yield number, origin
