# SPDX-License-Identifier: Apache-2.0
"""Wherever memories lie in 48 bits, a chip is whole or refused with the code that says why."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.description.fields import ADDRESS_SPACE, WIDE_SPACE
from atoll.diagnostics.errors import DescriptionError
from atoll.resolve import load_soc
from atoll.resolve.memory_views import STEP, as_seen_by, device_address, on_bus
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.wide_addresses import LARGEST_POOL

DATA = Path(__file__).parents[1] / "data"
ABYSS, TRENCH = DATA / "abyss.yaml", DATA / "trench.yaml"
GRANULE = 16
EDGES = st.sampled_from([2**31, ADDRESS_SPACE, WIDE_SPACE])
NEAR = st.integers(-4, 4).map(lambda steps: steps * GRANULE)
ADDRESSES = st.builds(lambda edge, near: edge + near, EDGES, NEAR) | st.integers(
    2**29 // GRANULE, WIDE_SPACE // GRANULE
).map(lambda block: block * GRANULE)


def load(*changes: str, soc: Path = ABYSS) -> ResolvedSoc | set[str]:
    """Return the chip, or the codes of its faults."""
    try:
        return load_soc(soc, changes)
    except DescriptionError as error:
        return {fault.code for fault in error.faults}


@settings(max_examples=cases(60), deadline=None)
@given(ADDRESSES, ADDRESSES, st.none() | ADDRESSES)
def test_memories_and_pools_are_whole_or_refused(origin: int, end: int, size: int | None) -> None:
    """A memory of a core of 64 bits, with a pool that has a size or all of it."""
    if end <= origin or origin >= WIDE_SPACE or origin % 2**32 >= 2**32 - 2**16:
        return
    memory = f"{{origin: {origin:#x}, size: {end - origin:#x}, kind: ram}}"
    sized = f", size: {size:#x}" if size and size <= ADDRESS_SPACE else ""
    pool = f"{{memory: far, role: workspace, reach: {{cpu: rw}}{sized}}}"
    where = ("memories.dram.size=64 MiB", "memories.dram.origin=0x1100_0000")
    small = ("pools.weights.size=1 MiB", "pools.arena.size=1 MiB")
    found = load(*where, *small, f"memories.far={memory}", f"pools.far={pool}")
    room = size if sized and size else end - origin
    if isinstance(found, ResolvedSoc):
        far, region = found.memory("far"), found.pool("far").region
        assert (far.origin, far.end) == (origin, end)
        assert (region.origin, region.size) == (origin, room)
        assert region.end <= min(ADDRESS_SPACE, end)
        assert room <= LARGEST_POOL
        assert (far.low.start, far.low.stop) == (origin, min(end, ADDRESS_SPACE))
    else:
        wrong = {
            "E030": end > WIDE_SPACE,
            "E032": room > end - origin,
            "E261": room <= end - origin and origin + room > ADDRESS_SPACE,
            "E037": room <= end - origin and room > LARGEST_POOL and origin + room <= ADDRESS_SPACE,
        }
        assert found == {code for code, is_so in wrong.items() if is_so}


@settings(max_examples=cases(40), deadline=None)
@given(ADDRESSES, st.integers(1, 2**20).map(lambda blocks: blocks * GRANULE))
def test_without_a_core_of_64_bits_all_memories_end_at_4_gib(origin: int, size: int) -> None:
    if origin >= WIDE_SPACE:
        return
    narrow = ("devices.cpu.isa=rv32imac", "memories.dram.origin=0x1100_0000")
    small = ("memories.dram.size=64 MiB", "pools.weights.size=1 MiB", "pools.arena.size=1 MiB")
    memory = f"{{origin: {origin:#x}, size: {size:#x}, kind: ram}}"
    found = load(*narrow, *small, f"memories.far={memory}")
    past = origin + size > ADDRESS_SPACE
    assert found == {"E030"} if past else isinstance(found, ResolvedSoc)


@settings(max_examples=cases(60), deadline=None)
@given(ADDRESSES.map(lambda address: address & -STEP), st.integers(0, 2**29 - 1))
def test_a_core_sees_bytes_past_4_gib_where_its_view_says(view: int, offset: int) -> None:
    if view >= WIDE_SPACE:
        return
    found = load(f"memories.high.views={{cpu: {view:#x}}}", soc=TRENCH)
    if isinstance(found, set):
        assert found <= {"E119"} if view + 2**30 > WIDE_SPACE else found <= {"E109", "E118"}
        return
    pool = found.pool("arena").region
    address = device_address(found, "cpu", pool.origin + offset)
    assert address == view + offset
    assert on_bus(found, "cpu", address) == pool.origin + offset
    assert as_seen_by(found, "cpu").pool("arena").region.origin == view
