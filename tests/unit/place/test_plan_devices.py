# SPDX-License-Identifier: Apache-2.0
"""Wishes, pins, the cost model and their faults, on small chips."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest
from tests.requests import load_requests

from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph
from atoll.place.passes import Placing
from atoll.place.plan_devices import plan_devices
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

PRIVATE = """
    tcm 4096 workspace: cpu rw
    gpu_ram 4096 workspace: cpu rw, gpu rw
    dsp_ram 4096 workspace: cpu rw, dsp rw
    flash 4096 constants: cpu ro, gpu ro, dsp ro
"""
CHAIN = """
    t = add(a b)
    u = add(t t)
    y = mul(u t)
"""


@pytest.fixture
def soc(make_soc: MakeSoc) -> ResolvedSoc:
    return make_soc(PRIVATE, cores=("gpu", "dsp"), default_device="gpu")


@pytest.fixture
def plan(soc: ResolvedSoc, make_graph: MakeGraph) -> Callable[..., Placing]:
    """Plan `CHAIN` with the wishes of a command line or of a file."""

    def planned(
        place: tuple[str, ...] = (),
        pin: tuple[str, ...] = (),
        free: tuple[str, ...] = (),
        path: Path | None = None,
        text: str = CHAIN,
    ) -> Placing:
        return plan_devices(make_graph(text), soc, load_requests(path, place, pin, free))

    return planned


def devices(plan: Placing) -> list[str]:
    return [f"{op.kind} {op.device}" for op in plan.graph.operators]


def failure(plan: Callable[..., Placing], **wishes: object) -> str:
    with pytest.raises(PlacementError) as caught:
        plan(**wishes)
    return str(caught.value)


def test_p1_the_user_the_graph_and_the_default_each_decide(
    plan: Callable[..., Placing],
) -> None:
    text = CHAIN.replace("add(t t)", "add(t t) on cpu")
    decided = plan(place=("add_0=dsp",), text=text).decisions
    assert list(map(str, decided)) == [
        "add_0 on dsp: asked for by 'place.add_0'",
        "add_1 on cpu: set in the graph",
        "mul_2 on gpu: the chip has no accelerator",
    ]


def test_p1_the_command_line_wins_over_the_file(
    plan: Callable[..., Placing], tmp_path: Path
) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("place:\n  add_0: dsp\n  add_1: dsp\n")
    first, second, _ = plan(path=path, place=("add_1=cpu",)).decisions
    assert str(first) == "add_0 on dsp: asked for by 'place.add_0'"
    assert str(second) == "add_1 on cpu: asked for by 'place.add_1'"


def test_p1_a_pin_moves_an_operator_to_a_core_that_can_keep_it(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(
        PRIVATE.replace("dsp_ram 4096 workspace: cpu rw", "dsp_ram 4096 workspace: cpu ro")
        + "inbox 4096 workspace: cpu rw, dsp ro",
        cores=("gpu", "dsp"),
        default_device="gpu",
    )
    planned = plan_devices(make_graph("y = add(a a)"), soc, load_requests(None, pin=["y=dsp_ram"]))
    (decision,) = planned.decisions
    assert decision.device == "dsp"
    assert decision.rejected == (
        ("cpu", "does not write pool 'dsp_ram', where 'y' is pinned"),
        ("gpu", "does not write pool 'dsp_ram', where 'y' is pinned"),
    )


def calls_of(action: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, an action calls: the same on every machine."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(None)
    return calls


def assert_linear(action_for: Callable[[int], Callable[[], object]]) -> None:
    """Ten times the operators may take eleven times the work; `make bench` measures the time."""
    short, long = (calls_of(action_for(length)) for length in (500, 5_000))
    assert 9 < long / short < 11


def test_p3_the_work_for_a_chain_grows_linearly(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc(PRIVATE.replace("4096", "65536"), cores=("gpu", "dsp"), default_device="gpu")

    def planning(length: int) -> Callable[[], object]:
        graph = make_graph("\n".join(f"t{n + 1} = add(t{n} t{n})" for n in range(length)))
        wishes = load_requests(None, [f"add_{n}=dsp" for n in range(0, length, 5)])
        return lambda: plan_devices(graph, soc, wishes)

    assert_linear(planning)


def test_p3_the_work_for_copies_grows_linearly(soc: ResolvedSoc, make_graph: MakeGraph) -> None:
    def planning(length: int) -> Callable[[], object]:
        devices = ("gpu", "dsp")
        adds = (f"t{n + 1} = add(t{n} t{n}) on {devices[n % 2]}" for n in range(length))
        graph = make_graph("\n".join(adds))
        return lambda: plan_devices(graph, soc)

    assert_linear(planning)


@pytest.mark.parametrize("length", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_p3_a_chain_of_thousands_of_copies_is_planned_once(
    length: int, soc: ResolvedSoc, make_graph: MakeGraph
) -> None:
    devices = ("gpu", "dsp")
    adds = (f"t{n + 1} = add(t{n} t{n}) on {devices[n % 2]}" for n in range(length))
    planned = plan_devices(make_graph("\n".join(adds)), soc).graph
    assert len(planned.operators) == 2 * length - 1
    assert plan_devices(planned, soc).graph == planned


@pytest.mark.parametrize(
    ("pin", "pools"),
    [
        # Only where it is written: the reader on the other core gets a copy anywhere.
        ("t=gpu_ram:out", {"t": "gpu_ram", "t_copy1": ""}),
        # Only where it is read: the writer is free, a copy leads to the pool.
        ("t=dsp_ram:in", {"t": "", "t_copy1": "dsp_ram"}),
    ],
)
def test_p4_a_pin_says_which_side_it_means(
    pin: str, pools: dict[str, str], plan: Callable[..., Placing]
) -> None:
    graph = plan(place=("add_1=dsp",), pin=(pin,), text="t = add(a a)\ny = add(t t)").graph
    assert {name: graph.tensor(name).pool for name in pools} == pools
    assert devices(plan(place=("add_1=dsp",), pin=(pin,), text="t = add(a a)\ny = add(t t)")) == [
        "add gpu",
        "copy cpu",
        "add dsp",
    ]


def test_p4_a_pin_on_both_sides_allows_no_copy_unless_the_tensor_is_free(
    plan: Callable[..., Placing],
) -> None:
    wishes = {"place": ("add_1=dsp",), "pin": ("t=gpu_ram",)}
    assert "'gpu' writes it, and 'dsp' reads it in operator 'add_1'" in failure(plan, **wishes)
    freed = plan(**wishes, free=("t",))
    assert freed.graph.tensor("t").pool == "gpu_ram"
    assert devices(freed) == ["add gpu", "copy cpu", "add dsp", "copy cpu", "mul gpu"]


def test_p4_the_two_sides_of_a_tensor_may_be_pinned_apart(
    plan: Callable[..., Placing], make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("left 64 workspace: cpu rw\nright 64 workspace: cpu rw")
    wishes = load_requests(None, pin=["t=left:out", "t=right:in"])
    graph = plan_devices(make_graph("t = add(a a)\ny = add(t t)"), soc, wishes).graph
    assert [op.kind for op in graph.operators] == ["add", "copy", "add"]
    assert [tensor.pool for tensor in graph.tensors] == ["", "left", "", "right"]


def test_p5_over_a_shared_pool_nothing_is_copied_not_even_when_asked(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("ram 64 workspace: cpu rw, gpu rw", cores=("gpu",))
    graph = make_graph("t = add(a a) on gpu\nc = copy(t) on cpu\ny = add(c t) on cpu")
    assert [op.kind for op in plan_devices(graph, soc).graph.operators] == ["add", "add"]


def test_p5_a_pool_with_the_wrong_access_keeps_the_copy(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(
        "out 64 workspace: cpu rw, gpu rw\nback 64 workspace: cpu ro, gpu rw, dsp ro\n"
        "inbox 64 workspace: cpu rw, dsp ro\nside 64 workspace: cpu rw, dsp rw",
        cores=("gpu", "dsp"),
    )
    graph = make_graph("t = add(a a) on gpu\ny = add(t t) on dsp")
    assert [op.kind for op in plan_devices(graph, soc).graph.operators] == ["add", "add"]
    graph = make_graph("t = add(a a) on dsp\ny = add(t t) on gpu")
    assert [op.kind for op in plan_devices(graph, soc).graph.operators] == ["add", "copy", "add"]


def test_p5_an_explicit_copy_that_makes_an_output_stays(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("ram 64 workspace: cpu rw")
    graph = make_graph("t = add(a a)\ny = copy(t)")
    assert [op.kind for op in plan_devices(graph, soc).graph.operators] == ["add", "copy"]


def test_p7_two_devices_for_one_operator(plan: Callable[..., Placing], tmp_path: Path) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("place:\n  add_0: dsp\n")
    message = failure(plan, path=path, text="t = add(a b) on cpu\ny = add(t t)")
    assert message.splitlines() == [
        f"{path}:2:10: error[E049]: operator 'add_0', which makes tensor 't', cannot run on both "
        f"'cpu' (set in the graph) and 'dsp' (asked for by 'place.add_0')",
        "    2 |   add_0: dsp",
        "                 ^",
        "  help: ask for one of 'cpu' and 'dsp'",
    ]


def test_p7_a_pin_out_of_reach_names_devices_tensor_operator_and_line(
    plan: Callable[..., Placing], tmp_path: Path
) -> None:
    path = tmp_path / "build.yaml"
    path.write_text("place: {add_1: dsp}\npin:\n  t: {pool: gpu_ram, applies: both}\n")
    assert failure(plan, path=path).splitlines() == [
        f"{path}:3:6: error[E049]: tensor 't' is pinned to 'gpu_ram:both', but 'gpu' writes it, "
        "and 'dsp' reads it in operator 'add_1' and does not reach that pool",
        "    3 |   t: {pool: gpu_ram, applies: both}",
        "             ^",
        "  help: add 't' to 'free', set 'pools.gpu_ram.reach.dsp' to ro, or pin it elsewhere",
    ]


def test_p7_pins_of_one_side_that_differ(plan: Callable[..., Placing]) -> None:
    assert failure(plan, pin=("t=gpu_ram:out", "t=dsp_ram:both")).startswith(
        "error[E049]: tensor 't' from operator 'add_0' on 'cpu' to 'add_1' on 'cpu', 'mul_2' on "
        "'cpu' is pinned to both 'gpu_ram:out' and 'dsp_ram:both'\n"
    )


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (
            {"pin": ("a=tcm:in",), "place": ("add_0=gpu",)},
            "'cpu' writes it, and 'gpu' reads it in operator 'add_0'",
        ),
        ({"pin": ("t=tcm:out",), "place": ("add_0=dsp",)}, "'dsp' writes it in operator 'add_0'"),
        ({"pin": ("t=flash",)}, "is an activation, which pool 'flash' (role 'constants')"),
    ],
)
def test_p7_pins_that_cannot_be_kept(
    wishes: dict[str, tuple[str, ...]], message: str, plan: Callable[..., Placing]
) -> None:
    found = failure(plan, **wishes)
    assert "error[E049]" in found
    assert message in found


def test_p7_unknown_names_are_reported_together_with_the_nearest(
    plan: Callable[..., Placing],
) -> None:
    assert failure(
        plan, place=("ad_0=gpu", "add_1=gpi"), pin=("tt=tcm", "t=tmc"), free=("v",)
    ).splitlines() == [
        "error[E025]: build options name operator 'ad_0', which does not exist",
        "  help: did you mean 'add_0'? If not, delete it",
        "error[E021]: build options name device 'gpi', which does not exist",
        "  help: did you mean 'gpu'? If not, delete it",
        "error[E026]: build options name tensor 'tt', which does not exist",
        "  help: did you mean 't'? If not, delete it",
        "error[E027]: build options name pool 'tmc', which does not exist",
        "  help: did you mean 'tcm'? If not, delete it",
        "error[E026]: build options name tensor 'v', which does not exist",
        "  help: use one of a, b, t, u, y, or delete it",
    ]


def test_p7_a_device_that_cannot_run_the_operator(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc("ram 64 both: cpu rw, npu rw", npu=8)
    graph = make_graph("y = add(a a)")
    with pytest.raises(PlacementError) as caught:
        plan_devices(graph, soc, load_requests(None, ["add_0=npu"]))
    assert str(caught.value).startswith(
        "error[E048]: 'npu' (asked for by 'place.add_0') cannot run operator 'add_0', which "
        "makes tensor 'y': npu does not run add\n"
    )
