# SPDX-License-Identifier: Apache-2.0
"""D3: several cores and several accelerators of one kind in one plan."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.requests import load_requests

from atoll.cost.operators import compute_cycles
from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.place.plan_devices import plan_devices
from atoll.resolve.se_scope import ScopeTable, join
from atoll.resolve.soc import Cpu, ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

POOLS = """
    ram 4096 workspace: cpu rw, one rw, two rw, left rw, right rw
    flash 4096 constants: cpu ro, one ro, two ro, left ro, right ro
"""


def test_d3_every_core_runs_what_it_is_asked_to(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc(POOLS, cores=("one", "two"), left=8, right=8)
    graph = make_graph("a = add(x x)\nb = add(a a)\nc = mul(b b)\nd = mul(c c)")
    wishes = load_requests(None, ["add_0=one", "add_1=two", "mul_2=one"])
    planned = plan_devices(graph, soc, wishes).graph
    assert [op.device for op in planned.operators] == ["one", "two", "one", "cpu"]


def test_p1_cores_of_one_clock_cost_the_same(make_soc: MakeSoc) -> None:
    soc = make_soc(POOLS, cores=("one", "two"), left=8, right=8)
    scale = Quantization(scales=(0.5,), zero_points=(0,))
    tensors = tuple(
        Tensor(name=name, shape=(16,), dtype="int8", quantization=scale) for name in ("a", "b")
    )
    op = Operator(name="add_0", kind="add", inputs=("a", "a"), outputs=("b",), attributes={})
    graph = Graph(name="m", tensors=tensors, operators=(op,), inputs=("a",), outputs=("b",))
    cycles = [compute_cycles(op, graph, core, soc) for core in soc.cpus]
    assert cycles == cycles[:1] * 3
    slow = replace(soc.cpus[1], clock=soc.cpus[0].clock)
    fast = replace(soc.host_cpu, clock=4 * slow.clock)
    mixed = replace(soc, devices=(fast, slow, *soc.devices[2:]))
    assert compute_cycles(op, graph, slow, mixed) > 4 * cycles[0], "accesses cross both clocks"


def test_p1_another_core_runs_what_nothing_constrains_if_it_is_the_default(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(POOLS, cores=("one",), default_device="one", left=8, right=8)
    planned = plan_devices(make_graph("a = add(x x)\nb = mul(a a)"), soc)
    assert [op.device for op in planned.graph.operators] == ["one", "one"]
    assert all("one" in str(decision) for decision in planned.decisions)


def test_d3_the_scopes_of_two_cores_do_not_join(make_soc: MakeSoc) -> None:
    scopes = ScopeTable(make_soc(POOLS, cores=("one", "two"), left=8, right=8)).devices()
    assert len(set(scopes.values())) == 5
    assert join(scopes["one"], scopes["two"]) is None
    assert join(scopes["left"], scopes["right"]) is None


def without_mailboxes(soc: ResolvedSoc) -> ResolvedSoc:
    devices = (
        replace(device, mailbox=None, irq=None) if isinstance(device, Cpu) else device
        for device in soc.devices
    )
    return replace(soc, devices=tuple(devices))


def test_d3_a_core_without_a_mailbox_runs_nothing_and_the_error_names_it(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = without_mailboxes(make_soc(POOLS, cores=("one",)))
    graph = make_graph("a = add(x x)\nb = add(a a)")
    with pytest.raises(PlacementError) as caught:
        plan_devices(graph, soc, load_requests(None, ["add_1=one"]))
    (fault,) = caught.value.faults
    assert fault.code == "E048"
    assert "'add_1'" in fault.message
    assert "one has no mailbox, so the host cannot start operators on it" in fault.message
    assert fault.remedy == "ask for another device, such as 'cpu', or give it a 'mailbox'"


def test_d3_nothing_falls_to_a_core_without_a_mailbox(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(POOLS, cores=("one",), default_device="one")
    graph = make_graph("a = add(x x)")
    assert [op.device for op in plan_devices(graph, soc).graph.operators] == ["one"]
    planned = plan_devices(graph, without_mailboxes(soc))
    assert [op.device for op in planned.graph.operators] == ["cpu"]
