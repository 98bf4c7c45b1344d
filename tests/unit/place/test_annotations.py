# SPDX-License-Identifier: Apache-2.0
"""Execution scopes of operators, patterns and regions: asked, joined, defaulted, recorded."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.requests import load_requests

from atoll.description.build import BuildRequests, read_requests
from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph
from atoll.place.passes import Placing
from atoll.place.plan_devices import plan_devices
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

POOLS = """
    tcm 4096 workspace: cpu rw
    gpu_ram 4096 workspace: cpu rw, gpu rw
    dsp_ram 4096 workspace: cpu rw, dsp rw
    flash 4096 constants: cpu ro, gpu ro, dsp ro
"""
NETWORK = """
    t = add(a b)
    u = add(t t)
    v = mul(b b)
    y = mul(u v)
"""


@pytest.fixture
def plan(make_soc: MakeSoc, make_graph: MakeGraph) -> Callable[..., Placing]:
    def planned(*texts: str, path: Path | None = None, place: tuple[str, ...] = ()) -> Placing:
        asked = load_requests(path, place, on_device=texts)
        soc = make_soc(POOLS, cores=("gpu", "dsp"), default_device="gpu")
        return plan_devices(make_graph(NETWORK), soc, read_back(asked) if path is None else asked)

    return planned


def read_back(asked: BuildRequests) -> BuildRequests:
    """Return what a build folder keeps of what was asked: all of it."""
    again = read_requests(asked.plain())
    assert again == asked
    return again


def devices(plan: Placing) -> dict[str, str]:
    return {each.operator: each.device for each in plan.decisions}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("add_0=dsp",), ["dsp", "gpu", "gpu", "gpu"]),
        (("add_*=dsp",), ["dsp", "dsp", "gpu", "gpu"]),
        (("add_0..mul_3=dsp",), ["dsp", "dsp", "gpu", "dsp"]),
        (("*=virtual_device_id:2",), ["dsp"] * 4),
        (("mul_?=virtual_device_id:0",), ["gpu", "gpu", "cpu", "cpu"]),
        (("add_0=device_type:1", "add_0=virtual_device_id:2"), ["dsp", "gpu", "gpu", "gpu"]),
        (("add_0=device_type:cpu",), ["gpu"] * 4),
    ],
)
def test_s2_operators_patterns_and_regions_take_scopes_with_free_fields(
    texts: tuple[str, ...], expected: list[str], plan: Callable[..., Placing]
) -> None:
    assert list(devices(plan(*texts)).values()) == expected


def test_s2_constraints_of_an_operator_are_joined_and_recorded(
    plan: Callable[..., Placing], tmp_path: Path
) -> None:
    path = tmp_path / "build.yaml"
    path.write_text(
        "on_device:\n"
        "  - {from: add_0, to: add_1, scope: {device_type: cpu}}\n"
        "  - operators: add_1\n"
        "    scope: {memory_scope: dsp_ram}\n"
    )
    decision = plan("add_1=virtual_device_id:2", path=path, place=("add_1=dsp",)).decisions[1]
    assert [(each.source, each.place) for each in decision.joined.constraints] == [
        ("asked for by 'place.add_1'", "command line"),
        ("asked for by 'on_device' of 'add_0..add_1'", f"{path}:2:5"),
        ("asked for by 'on_device' of 'add_1'", f"{path}:3:5"),
        ("asked for by 'on_device' of 'add_1'", "command line"),
    ]
    assert decision.device == "dsp"
    assert str(decision.joined.scope) == (
        "SEScope(device_type=cpu, virtual_device_id=2, target=llvm -isa=rv32imc, "
        "memory_scope=global.dsp_ram)"
    )


def test_p2_the_memory_scope_of_an_annotation_is_that_of_results(
    plan: Callable[..., Placing],
) -> None:
    """Copies are free: who does not reach the results reads one."""
    made = plan("add_0=memory_scope:dsp_ram", "add_0=dsp", "add_1=gpu")
    assert made.graph.tensor("t").pool == "dsp_ram"
    assert [op.inputs for op in made.graph.operators if op.name == "add_1"] == [("t_copy1",) * 2]
    asked = made.log.constraints(made.graph)["t"]
    assert [str(each.scope) for each in asked] == ["SEScope(memory_scope=global.dsp_ram)"]


def test_p2_copies_can_be_forbidden(plan: Callable[..., Placing]) -> None:
    with pytest.raises(PlacementError) as caught:
        plan("add_0=dsp", "add_1=gpu", "add_0=memory_scope:dsp_ram,copies:no")
    assert str(caught.value).startswith(
        "error[E049]: tensor 't' is pinned to 'dsp_ram:both', but 'dsp' writes it, and 'gpu' "
        "reads it in operator 'add_1' and does not reach that pool"
    )


def test_p7_an_undefined_join_names_both_places(
    plan: Callable[..., Placing], tmp_path: Path
) -> None:
    path = tmp_path / "build.yaml"
    path.write_text(
        "on_device:\n"
        "  - {operators: 'add_*', device: gpu}\n"
        "  - {from: add_0, to: mul_3, scope: {virtual_device_id: 2}}\n"
    )
    with pytest.raises(PlacementError) as caught:
        plan(path=path)
    first, *_ = str(caught.value).split("error", 2)[1:]
    assert first.splitlines() == [
        "[E049]: operator 'add_0', which makes tensor 't', cannot run on both 'gpu' (asked for by "
        "'on_device' of 'add_*') and SEScope(virtual_device_id=2) (asked for by 'on_device' of "
        "'add_0..mul_3')",
        "    3 |   - {from: add_0, to: mul_3, scope: {virtual_device_id: 2}}",
        "            ^",
        f"{path}:2:5: note: 'gpu' is asked for here",
        "    2 |   - {operators: 'add_*', device: gpu}",
        "            ^",
        "  help: ask for one of 'gpu' and SEScope(virtual_device_id=2)",
        f"{path}:3:5: ",
    ]


def test_s1_a_scope_that_no_device_has(plan: Callable[..., Placing]) -> None:
    with pytest.raises(PlacementError) as caught:
        plan("add_0=device_type:cpu", "add_0=virtual_device_id:7")
    assert [fault.code for fault in caught.value.faults] == ["E212"]
