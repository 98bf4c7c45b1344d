# SPDX-License-Identifier: Apache-2.0
"""Cases that published planners get wrong, real networks, and what is said when nothing fits."""

import csv
import json
from pathlib import Path

import pytest

from atoll.diagnostics.errors import PlanError
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem
from atoll.memory.solve import plan_memory

MLPERF_TINY = {"mlpt_ad": 768, "mlpt_ic": 49_152, "mlpt_kws": 16_000, "mlpt_vww": 55_296}


def pool(name: str, size: int, alignment: int = 1, origin: int = 0) -> PoolSpace:
    return PoolSpace(name=name, origin=origin, size=size, alignment=alignment)


def buffer(
    name: str, size: int, live: tuple[int, int], pools: str = "s", alignment: int = 1
) -> Buffer:
    return Buffer(
        name=name, size=size, alignment=alignment, live=(live,), pools=tuple(pools.split())
    )


def plan(pools: list[PoolSpace], *buffers: Buffer) -> MemoryPlan:
    return plan_memory(Problem(pools=tuple(pools), buffers=buffers))


def where(result: MemoryPlan) -> dict[str, tuple[str, int]]:
    return {name: (each.pool, each.offset) for name, each in result.placements.items()}


def test_a_full_pool_overflows_into_the_next_candidate() -> None:
    pools = [pool("s", 12), pool("d", 1 << 30, origin=1 << 20)]
    result = plan(
        pools,
        buffer("a", 10, (0, 2), "s d"),
        buffer("b", 5, (2, 3), "s d"),
        buffer("c", 3, (1, 4), "s d"),
    )
    assert result.use["s"].used <= 12
    assert len({where(result)["a"][0], where(result)["c"][0]}) == 2


def test_a_gap_that_time_freed_is_used_before_the_next_pool() -> None:
    pools = [pool("s", 16), pool("d", 1 << 30, origin=1 << 20)]
    result = plan(
        pools,
        buffer("a", 8, (2, 3), "s d"),
        buffer("b", 4, (1, 4), "s d"),
        buffer("c", 6, (1, 5), "s d"),
        buffer("e", 6, (3, 5), "s d"),
    )
    spilled = [name for name, (pool_name, _) in where(result).items() if pool_name == "d"]
    assert len(spilled) == 1
    assert spilled != ["e"]


def test_alignment_of_the_later_buffer_counts() -> None:
    buffers = [buffer(name, 10, (0, 2), alignment=16) for name in "ab"]
    assert where(plan([pool("s", 64)], *buffers)) == {"a": ("s", 0), "b": ("s", 16)}


def test_small_buffers_go_where_alignment_leaves_room() -> None:
    aligned = buffer("a", 10, (0, 2), alignment=16)
    assert plan([pool("s", 20)], buffer("b", 10, (0, 2)), aligned).use["s"].used == 20


def test_alignment_is_of_addresses_not_offsets() -> None:
    result = plan([pool("s", 64, origin=0x2000_0008)], buffer("a", 8, (0, 1), alignment=16))
    assert result.address("a") == 0x2000_0010


def test_buffers_that_never_meet_share_bytes() -> None:
    result = plan([pool("s", 10)], buffer("a", 10, (0, 2)), buffer("b", 10, (2, 4)))
    assert where(result) == {"a": ("s", 0), "b": ("s", 0)}
    assert (result.use["s"].used, result.use["s"].peak, result.use["s"].bound) == (10, 10, 10)


def test_a_buffer_fits_between_the_intervals_of_another() -> None:
    result = plan(
        [pool("s", 10)],
        Buffer(name="a", size=10, alignment=1, live=((0, 2), (4, 6)), pools=("s",)),
        buffer("b", 10, (2, 4)),
    )
    assert result.use["s"].used == 10


def test_the_first_candidate_is_preferred_and_an_exact_fit_fits() -> None:
    pools = [pool("s", 10), pool("d", 100, origin=1 << 20)]
    result = plan(pools, buffer("a", 10, (0, 1), "s d"), buffer("b", 10, (1, 2), "d s"))
    assert {name: each for name, (each, _) in where(result).items()} == {"a": "s", "b": "d"}


def test_the_bound_counts_the_alignment_of_the_pool() -> None:
    result = plan([pool("s", 64, alignment=16)], buffer("a", 4, (0, 1)), buffer("b", 8, (0, 1)))
    assert (result.use["s"].peak, result.use["s"].bound, result.use["s"].used) == (12, 20, 20)


@pytest.mark.parametrize("network", MLPERF_TINY)
def test_m4_the_networks_reach_their_bound(network: str, shared_planner: Path) -> None:
    text = (shared_planner / "lifetimes" / f"{network}.csv").read_text()
    rows = csv.DictReader(text.splitlines())
    buffers = [
        buffer(f"t{row['id']}", int(row["size"]), (int(row["lower"]), int(row["upper"])))
        for row in rows
    ]
    result = plan([pool("s", 1 << 20, alignment=16)], *buffers)
    assert result.use["s"].used == result.use["s"].bound == MLPERF_TINY[network]


@pytest.mark.parametrize("vector", ["alloc_max", "deep_speech", "five", "simple"])
def test_m4_interval_vectors_reach_their_bound(vector: str, shared_planner: Path) -> None:
    vectors = json.loads((shared_planner / "tvm_vectors.json").read_text())["intervals"]
    buffers = [
        buffer(f"b{number}", size, (first, last + 1))
        for number, (first, last, size) in enumerate(vectors[vector]["buffers"])
    ]
    assert plan([pool("s", 1 << 20)], *buffers).use["s"].used == vectors[vector]["expected"]


def failure(pools: list[PoolSpace], *buffers: Buffer, operators: tuple[str, ...] = ()) -> str:
    with pytest.raises(PlanError) as caught:
        plan_memory(Problem(pools=tuple(pools), buffers=buffers), operators)
    return str(caught.value)


def test_m5_an_overfull_pool_is_explained() -> None:
    text = failure(
        [pool("s", 10)],
        *(buffer(name, 10, (0, 2)) for name in "abc"),
        operators=("conv_2d_0", "add_1"),
    )
    assert text == (
        "error[E062]: pool 's' is too small: 30 B needed, 10 B available, 20 B missing; "
        "at step 0 (conv_2d_0) 30 B are live: 'a' 10 B, 'b' 10 B, 'c' 10 B\n"
        "  help: set 'pools.s.size' to 30 B or more"
    )


def test_m5_the_proposed_size_is_the_smallest_that_works() -> None:
    pools = [pool("s", 40), pool("d", 20, origin=1 << 20)]
    buffers = [buffer(f"b{n}", 20, (0, 1), "s d") for n in range(4)]
    assert "set 'pools.s.size' to 60 B or more" in failure(pools, *buffers)
    plan([pool("s", 60), pools[1]], *buffers)
    with pytest.raises(PlanError):
        plan([pool("s", 59), pools[1]], *buffers)


def test_two_pools_that_are_both_too_small_are_both_named() -> None:
    pools = [pool("s", 10), pool("d", 10, origin=1 << 20)]
    buffers = [buffer(f"b{n}", 6, (0, 1), name) for n, name in enumerate("ssdd")]
    text = failure(pools, *buffers)
    assert "pools 's', 'd' are too small: 24 B needed, 20 B available, 4 B missing" in text
    assert "set 'pools.s.size' to 12 B and 'pools.d.size' to 12 B" in text


def test_a_buffer_without_a_pool_is_explained() -> None:
    text = failure([pool("s", 10)], buffer("a", 4, (0, 1), ""))
    assert "error[E060]: buffer 'a' (4 B) has no candidate pool" in text


def test_a_buffer_larger_than_its_pools_is_explained() -> None:
    text = failure([pool("s", 10, origin=8)], buffer("a", 4, (0, 1), alignment=16))
    assert (
        "error[E061]: buffer 'a' (4 B) fits none of its pools: the largest, 's', has 10 B" in text
    )
    assert "set 'pools.s.size' to 12 B or more" in text


def test_a_plan_is_the_same_every_time() -> None:
    pools = [pool("s", 200), pool("d", 200, origin=1 << 20)]
    buffers = [buffer(f"b{n}", 7 * n % 50 + 1, (n % 5, n % 5 + 3), "s d") for n in range(20)]
    assert where(plan(pools, *buffers)) == where(plan(pools, *buffers))


def test_nothing_to_place_is_a_plan() -> None:
    assert plan([pool("s", 10)]).use["s"].used == 0
