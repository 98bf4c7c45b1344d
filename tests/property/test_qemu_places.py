# SPDX-License-Identifier: Apache-2.0
"""Regions that move into the memories of another machine stay apart, and keep their alignment."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.resolve.memory_views import STEP
from atoll_sim.qemu.place_regions import Piece, place

BLOCK = 16
STEPS = st.sampled_from([BLOCK, STEP, 4 * STEP])


@st.composite
def pieces(draw: st.DrawFn) -> tuple[Piece, ...]:
    """Draw at least one piece; sizes and origins are multiples of 16."""
    drawn = draw(st.lists(st.tuples(*[st.integers(0, 2**16)] * 2, STEPS), min_size=1, max_size=9))
    return tuple(
        Piece(name=f"p{number}", origin=BLOCK * origin, size=BLOCK * (1 + size), step=step)
        for number, (origin, size, step) in enumerate(drawn)
    )


@st.composite
def spans(draw: st.DrawFn) -> tuple[range, ...]:
    """Draw memories that do not overlap, in any order, from pages on."""
    cuts = sorted(draw(st.sets(st.integers(0, 2**11), min_size=2, max_size=8)))
    drawn = [range(STEP * begin, STEP * end) for begin, end in pairwise(cuts)]
    return tuple(draw(st.permutations(drawn)))


@settings(max_examples=cases(1000), deadline=None)
@given(pieces(), spans())
def test_pieces_are_apart_and_move_by_steps(
    found: tuple[Piece, ...], memories: tuple[range, ...]
) -> None:
    first, *others = found
    places = place(first, others, memories)
    if isinstance(places, Piece):
        assert places in found
        largest = max(map(len, memories))
        alone = sum(each.size + each.step for each in found)
        assert first.size > len(memories[0]) or alone > largest, "there is room in one memory"
        return
    assert places.keys() == {each.name for each in found}
    assert places[first.name] == memories[0].start
    for piece in others:
        assert (places[piece.name] - piece.origin) % piece.step == 0
    taken = sorted((places[each.name], places[each.name] + each.size) for each in found)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(taken))
    for begin, end in taken:
        assert any(span.start <= begin and end <= span.stop for span in memories)


@given(pieces())
def test_places_do_not_depend_on_the_order(found: tuple[Piece, ...]) -> None:
    first, *others = found
    memories = (range(2**22), range(2**28, 2**29))
    assert place(first, others, memories) == place(first, others[::-1], memories)
