# SPDX-License-Identifier: Apache-2.0
"""P1: where an operator may run on more than one device, cycles and copies decide."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

import pytest

from atoll.cost.bands import Band, Source
from atoll.cost.copies import copy_cycles, transfer_cycles
from atoll.cost.data.picorv32 import CROSSING_CYCLES, CROSSING_ENGINE_CYCLES
from atoll.cost.operators import Cost, compute_cycles
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.place.partition import decide
from atoll.resolve import load_soc
from atoll.resolve.soc import PoolSpeed, ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]

SHARED = """
    ram 65536 workspace: cpu rw, near rw, far rw
    flash 65536 constants: cpu ro, near ro, far ro
"""
APART = """
    near_ram 65536 workspace: cpu rw, near rw
    far_ram 65536 workspace: cpu rw, far rw
    flash 65536 constants: cpu ro, near ro, far ro
"""


WINDOW = {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1}
PADS = {"pad_top": 0, "pad_left": 0, "pad_bottom": 0, "pad_right": 0}


def tensor(name: str, *shape: int, constant: bool = False) -> Tensor:
    scale = Quantization(scales=(0.5,), zero_points=(0,))
    data = bytes(prod(shape)) if constant else None
    return Tensor(name=name, shape=shape, dtype="int8", quantization=scale, data=data)


def layers(count: int, width: int, side: int = 1) -> Graph:
    """Make a chain of pointwise convolutions of a square image, `width` to `width` channels."""
    operators = (
        Operator(
            name=f"conv_{n}",
            kind="conv_2d",
            inputs=(f"t{n}", "w", ""),
            outputs=(f"t{n + 1}",),
            attributes={**WINDOW, **PADS, "activation": "none"},
        )
        for n in range(count)
    )
    activations = (tensor(f"t{n}", 1, side, side, width) for n in range(count + 1))
    return Graph(
        name="m",
        tensors=(tensor("w", width, 1, 1, width, constant=True), *activations),
        operators=tuple(operators),
        inputs=("t0",),
        outputs=(f"t{count}",),
    )


def copying(size: int) -> tuple[Operator, Graph]:
    """Make a graph whose only operator copies `size` bytes."""
    op = Operator(name="copy", kind="copy", inputs=("a",), outputs=("b",), attributes={})
    tensors = (tensor("a", size), tensor("b", size))
    graph = Graph(name="m", tensors=tensors, operators=(op,), inputs=("a",), outputs=("b",))
    return op, graph


@pytest.fixture
def make(make_soc: MakeSoc) -> Callable[[str], ResolvedSoc]:
    """Make a chip with accelerators of two sizes whose limits any layer meets."""

    def chip(pools: str) -> ResolvedSoc:
        return make_soc(pools, near=4, far=16)

    return chip


def test_p1_the_faster_accelerator_wins_over_shared_memory(
    make: Callable[..., ResolvedSoc],
) -> None:
    soc, graph = make(SHARED), layers(2, 96)
    assert [decision.device for decision in decide(graph, soc)] == ["far", "far"]


@pytest.mark.parametrize(("neighbours", "device"), [((), "far"), ((0,), "far"), ((0, 2), "near")])
def test_p1_copies_from_and_to_neighbours_count(
    neighbours: tuple[int, ...], device: str, make: Callable[..., ResolvedSoc]
) -> None:
    soc, graph = make(APART), layers(3, 96, side=3)
    middle = graph.operators[1]
    far, near = (compute_cycles(middle, graph, soc.device(name), soc) for name in ("far", "near"))
    moving = copy_cycles(graph.tensor("t1"), "near", "far", soc)
    assert moving == compute_cycles(*copying(9 * 96), soc.host_cpu, soc)
    assert far + moving < near <= far + 2 * moving
    placed = graph.with_operators(
        replace(op, device="near") if number in neighbours else op
        for number, op in enumerate(graph.operators)
    )
    decision = decide(placed, soc)[1]
    assert decision.device == device
    if neighbours:
        assert f"{far:,} cycles and {moving * len(neighbours):,} for copies" in str(decision)


def test_p1_a_reason_shows_both_parts() -> None:
    parts = {Source("core", "measured", Band(0.2, 0.2)): 5}
    assert str(Cost(cycles=5, copying=0, parts=parts)) == "about 5 cycles ± 20 %"
    assert str(Cost(cycles=5, copying=7)) == "about 5 cycles and 7 for copies (band not known)"
    assert Cost(cycles=5, copying=7).total == 12


def test_p1_a_pool_that_both_share_costs_no_copy(make: Callable[..., ResolvedSoc]) -> None:
    graph = layers(1, 32)
    assert copy_cycles(graph.tensor("t1"), "near", "far", make(SHARED)) == 0
    assert copy_cycles(graph.tensor("t1"), "near", "cpu", make(APART)) == 0


def test_m1_copies_cost_what_the_pools_speeds_say(make: Callable[..., ResolvedSoc]) -> None:
    """Read from the writer's pool, write to the reader's, each in its own cycles."""
    soc = make(APART)
    host = soc.host_cpu.clock
    near = PoolSpeed(read_bandwidth=8, write_bandwidth=1, latency=3, burst=16, clock=host)
    far = PoolSpeed(read_bandwidth=1, write_bandwidth=2, latency=5, burst=0, clock=2 * host)
    speeds = {"near_ram": near, "far_ram": far}
    pools = tuple(replace(pool, speed=speeds.get(pool.name)) for pool in soc.pools)
    soc = replace(soc, pools=pools)
    moved = layers(1, 32).tensor("t1")
    assert moved.size == 32
    reading, writing = 2 * 3 + 32 // 8, 5 + 32 // 2
    assert transfer_cycles(moved, "near", "far", soc) == reading + -(-writing // 2)
    assert transfer_cycles(moved, "far", "near", soc) == -(-(5 + 32) // 2) + (2 * 3 + 32)


def test_m1_a_copy_takes_its_mover_and_at_least_what_the_pools_say(
    make: Callable[..., ResolvedSoc],
) -> None:
    soc, moved = make(APART), layers(1, 32).tensor("t1")
    host = compute_cycles(*copying(32), soc.host_cpu, soc)
    assert transfer_cycles(moved, "near", "far", soc) < host
    assert copy_cycles(moved, "near", "far", soc) == host
    slow = PoolSpeed(read_bandwidth=1, write_bandwidth=1, latency=900, burst=4, clock=1)
    crawling = replace(soc, pools=tuple(replace(pool, speed=slow) for pool in soc.pools))
    assert copy_cycles(moved, "near", "far", crawling) == 2 * (8 * 900 + 32)


def test_m1_a_slow_pool_makes_placement_avoid_its_copies(make: Callable[..., ResolvedSoc]) -> None:
    soc, graph = make(APART), layers(3, 96, side=3)
    placed = graph.with_operators(
        replace(op, device="near") if number == 0 else op
        for number, op in enumerate(graph.operators)
    )
    assert decide(placed, soc)[1].device == "far"
    clock = soc.host_cpu.clock
    slow = PoolSpeed(read_bandwidth=1, write_bandwidth=1, latency=900, burst=4, clock=clock)
    crawling = replace(soc, pools=tuple(replace(pool, speed=slow) for pool in soc.pools))
    assert decide(placed, crawling)[1].device == "near"


def test_p10_an_engine_takes_what_is_fewer_as_it_goes_on_by_itself() -> None:
    """A short row of SOFTMAX alone takes less on the core than the start of an engine does."""
    soc, graph = load_soc("lagoon"), layers(1, 2)
    share = Quantization(scales=(1 / 256,), zero_points=(-128,))
    last = replace(tensor("s", 1, 1, 1, 2), quantization=share)
    alone = Operator(
        name="softmax", kind="softmax", inputs=("t1",), outputs=("s",), attributes={"beta": 1.0}
    )
    behind = replace(
        graph,
        tensors=(*graph.tensors, last),
        operators=(replace(graph.operators[0], device="npu"), alone),
        outputs=("s",),
    )
    first = replace(behind, operators=(alone,), inputs=("t1",))
    assert [each.device for each in decide(first, soc)] == ["cpu"]
    decisions = decide(behind, soc)
    assert [each.device for each in decisions] == ["npu", "npu"]
    assert "fewer where it goes on by itself" in decisions[1].reason


def test_an_engine_with_a_clock_of_its_own_takes_its_crossings_longer() -> None:
    """Its accesses and the driver's pass between the clocks; a little faster is no faster then."""
    op, graph = layers(1, 16).operators[0], layers(1, 16)
    same, faster, slower = (
        compute_cycles(op, graph, soc.device("npu"), soc)
        for soc in (
            load_soc("lagoon", (f"devices.npu.clock={clock}",))
            for clock in ("100 MHz", "100.001 MHz", "50 MHz")
        )
    )
    assert faster == same + CROSSING_CYCLES + CROSSING_ENGINE_CYCLES
    assert slower >= same + CROSSING_CYCLES + 2 * CROSSING_ENGINE_CYCLES
