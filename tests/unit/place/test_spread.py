# SPDX-License-Identifier: Apache-2.0
"""Operators spread over cores of one kind where that is faster, and only there."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.requests import load_requests

from atoll.cost.core_costs import CoreCost
from atoll.cost.data.picorv32 import PART_CYCLES
from atoll.cost.network import cycles_of
from atoll.description.build import BuildRequests
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ir.read_graph import parse_graph
from atoll.isa.find import instruction_set
from atoll.place.passes import Placing
from atoll.place.plan_devices import may_spread, plan_devices
from atoll.place.spread import spread_operators
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]

POOLS = """
    ram 65536 workspace: cpu rw, one rw, two rw, three rw, npu rw
    flash 4096 constants: cpu ro, one ro, two ro, three ro, npu ro
"""
CORES = ("one", "two", "three")


@pytest.fixture
def soc(make_soc: MakeSoc) -> ResolvedSoc:
    return make_soc(POOLS, cores=CORES, npu=8)


def adding(elements: int, count: int = 1) -> Graph:
    """Return a chain of additions."""
    scale = Quantization(scales=(0.5,), zero_points=(0,))
    tensors = tuple(
        Tensor(name=f"t{n}", shape=(elements,), dtype="int8", quantization=scale)
        for n in range(count + 1)
    )
    operators = tuple(
        Operator(
            name=f"add_{n}",
            kind="add",
            inputs=(f"t{n}", f"t{n}"),
            outputs=(f"t{n + 1}",),
            attributes={"activation": "none"},
        )
        for n in range(count)
    )
    return Graph("m", tensors, operators, ("t0",), (f"t{count}",))


def spread(graph: Graph, soc: ResolvedSoc, asked: BuildRequests | None = None) -> Placing:
    placed = plan_devices(graph, soc, asked or BuildRequests(), spread=True)
    graph, decisions = spread_operators(placed.graph, soc, placed.decisions)
    return replace(placed, graph=graph, decisions=decisions)


def helpers(found: Placing) -> list[tuple[str, ...]]:
    return [op.helpers for op in found.graph.operators]


def without(soc: ResolvedSoc, name: str, **changed: object) -> ResolvedSoc:
    """Return the chip with one core that is otherwise."""
    devices = tuple(
        replace(device, **changed) if device.name == name else device  # type: ignore[arg-type]
        for device in soc.devices
    )
    return replace(soc, devices=devices)


def test_a_large_operator_is_spread_over_all_cores(soc: ResolvedSoc) -> None:
    found = spread(adding(4096), soc)
    assert helpers(found) == [CORES]
    assert ": cpu + one + two + three" in str(found.graph)
    (decision,) = found.decisions
    core = soc.host_cpu
    alone = CoreCost(core, soc).alone(found.graph.operators[0], found.graph)
    (expected,) = cycles_of(found.graph, soc).values()
    assert expected == pytest.approx(alone // 4 + 3 * (PART_CYCLES * 8 // 9), rel=0.001)
    assert f"with one, two, three about {expected:,} cycles, alone {alone:,}" in str(decision)


def test_fewer_cores_help_where_asking_more_costs_more_than_it_saves(soc: ResolvedSoc) -> None:
    counts = [len(helpers(spread(adding(elements), soc))[0]) for elements in (8, 24, 40, 200)]
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert set(counts) > {0, 3}


def test_what_somebody_places_runs_there_alone(soc: ResolvedSoc) -> None:
    asked = load_requests(None, ["add_0=cpu", "add_1=two"])
    assert helpers(spread(adding(4096, 3), soc, asked)) == [(), (), CORES]


def test_another_default_device_has_the_host_among_its_helpers(make_soc: MakeSoc) -> None:
    soc = make_soc(POOLS, cores=CORES, default_device="two", npu=8)
    found = spread(adding(4096), soc)
    (op,) = found.graph.operators
    assert op.devices == ("two", "cpu", "one", "three")


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "dsp"},
        {"clock": 2},
        {"toolchain": "gcc"},
        {"instructions": instruction_set("rv32im")},
        {"mailbox": None},
    ],
)
def test_cores_of_another_kind_do_not_help(soc: ResolvedSoc, changed: dict[str, object]) -> None:
    found = spread(adding(4096), without(soc, "two", **changed))
    assert helpers(found) == [("one", "three")]


def test_a_core_that_does_not_reach_a_tensor_does_not_help(make_soc: MakeSoc) -> None:
    soc = make_soc(POOLS.replace("two rw", "two ro"), cores=CORES, npu=8)
    assert helpers(spread(adding(4096), soc)) == [("one", "three")]


def test_nothing_is_copied_for_helpers(make_soc: MakeSoc) -> None:
    """The host's own pool would do for it; but the others reach only the shared one."""
    pools = "own 65536 workspace: cpu rw\n" + POOLS.strip()
    soc = make_soc(pools, cores=CORES, npu=8)
    assert helpers(spread(adding(4096), soc)) == [CORES]
    pinned = load_requests(None, pin=["t0=own"])
    found = spread(adding(4096, 2), soc, pinned)
    assert helpers(found)[0] == ()
    assert [op.kind for op in found.graph.operators] == ["add", "add"]


def test_spreading_again_changes_nothing(soc: ResolvedSoc) -> None:
    once = spread(adding(4096, 2), soc)
    again, _ = spread_operators(once.graph, soc, once.decisions)
    assert again == once.graph
    assert spread(again, soc).graph == again
    assert str(parse_graph(str(once.graph))) == str(once.graph)


@pytest.mark.parametrize(
    ("asked", "may"),
    [
        (BuildRequests(), True),
        (load_requests(None, spread=False), False),
        (load_requests(None, overlap="all"), False),
        (load_requests(None, overlap="none"), True),
    ],
)
def test_who_asks_for_the_least_memory_or_for_one_core_has_it(
    soc: ResolvedSoc, asked: BuildRequests, may: bool
) -> None:
    assert may_spread(asked, soc) is may


def test_a_chip_of_one_core_of_each_kind_has_nobody_to_ask(make_soc: MakeSoc) -> None:
    soc = make_soc(POOLS, cores=("one",), npu=8)
    assert may_spread(BuildRequests(), soc)
    assert not may_spread(BuildRequests(), without(soc, "one", kind="dsp"))


def test_cores_are_weighed_together_against_accelerators(
    make_soc: MakeSoc, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is faster than one core and slower than four."""
    soc = make_soc(POOLS, runs=("add",), cores=CORES, npu=8)
    (npu,) = soc.npus
    monkeypatch.setattr("atoll.cost.engines.busy_cycles", lambda *given: 150_000)
    monkeypatch.setattr("atoll.place.partition.obstacles", lambda *given: iter(()))
    for together, device in ((False, npu.name), (True, "cpu")):
        (op,) = plan_devices(adding(4096), soc, spread=together).graph.operators
        assert op.device == device


def test_a_kind_without_such_loops_stays_on_one_core(soc: ResolvedSoc) -> None:
    graph = adding(4096)
    (op,) = graph.operators
    core = soc.host_cpu
    assert CoreCost(core, soc).spread(op, graph, 4) is not None
    moved = replace(op, kind="reshape", inputs=("t0",))
    assert CoreCost(core, soc).spread(moved, graph.with_operators([moved]), 4) is None
