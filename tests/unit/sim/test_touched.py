# SPDX-License-Identifier: Apache-2.0
"""What a run tells of the bytes that devices moved, against a look at each 64 bytes."""

from hypothesis import given
from hypothesis import strategies as st

from atoll.resolve import load_soc
from atoll_sim.check.touched import touched_ranges
from atoll_sim.protocol.records import HEAT_BYTES

SOC = load_soc("lagoon", ["pools.shared.offset=96", "pools.shared.size=224"])
SHARED = SOC.pool("shared").region
FIRST = SHARED.origin - 96
PLACES = st.integers(-1, 6).map(lambda number: FIRST + number * HEAT_BYTES)
COUNTS = st.tuples(st.integers(0, 2), st.integers(0, 1)).filter(any)


@given(st.dictionaries(PLACES, COUNTS))
def test_ranges_are_those_of_every_64_bytes(heat: dict[int, tuple[int, int]]) -> None:
    """The pool begins and ends within 64 bytes, which count for it."""
    shown: dict[int, tuple[int, int]] = {}
    for each in touched_ranges(SOC, heat):
        assert each.pool == "shared"
        assert SHARED.origin <= each.first_address
        assert each.read_bytes is not None
        assert each.written_bytes is not None
        assert each.first_address + each.size_bytes <= SHARED.end
        first = each.first_address // HEAT_BYTES
        parts = range(first, -(-(each.first_address + each.size_bytes) // HEAT_BYTES))
        assert each.read_bytes % len(parts) == each.written_bytes % len(parts) == 0
        for part in parts:
            assert part * HEAT_BYTES not in shown
            moved = each.read_bytes // len(parts), each.written_bytes // len(parts)
            shown[part * HEAT_BYTES] = moved
    inside = range(FIRST + HEAT_BYTES, FIRST + 5 * HEAT_BYTES)
    assert shown == {at: moved for at, moved in heat.items() if at in inside}


def test_neighbours_in_which_the_same_was_moved_are_one_range() -> None:
    (found,) = touched_ranges(SOC, dict.fromkeys((FIRST + 128, FIRST + 192), (64, 8)))
    assert (found.first_address - FIRST, found.size_bytes) == (128, 128)
    assert (found.read_bytes, found.written_bytes) == (128, 16)


def test_bytes_of_another_region_are_not_those_of_a_pool() -> None:
    """The last bytes of the stack lie in the 64 bytes that the pool begins in."""
    soc = load_soc(
        "lagoon",
        [
            "devices.cpu.stack.size=8208",
            "pools.private.offset=8208",
            "pools.private.size=112",
            "pools.private.alignment=8",
        ],
    )
    pool, stack = soc.pool("private").region, soc.host_cpu.stack
    assert stack.end == pool.origin
    begin = pool.origin // HEAT_BYTES * HEAT_BYTES
    both, alone = touched_ranges(soc, {begin: (42, 0), begin + HEAT_BYTES: (7, 1)})
    assert (both.first_address, both.size_bytes) == (pool.origin, 48)
    assert (both.read_bytes, both.written_bytes) == (None, None)
    assert (alone.size_bytes, alone.read_bytes, alone.written_bytes) == (64, 7, 1)
