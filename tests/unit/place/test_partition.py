# SPDX-License-Identifier: Apache-2.0
"""Operators go to the accelerator that runs them in the fewest cycles, else to the host."""

import re
from collections.abc import Callable

import pytest

from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.place.annotations import Annotation
from atoll.place.decision import Decision
from atoll.place.partition import assign, decide
from atoll.place.requests import Requests
from atoll.resolve.se_scope import SEScope
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]

POOLS = """
    shared 4096 workspace: cpu rw, npu rw, big rw, twin rw
    flash 4096 constants: cpu ro, npu ro, big ro, twin ro
"""


def tensor(name: str, *shape: int, constant: bool = False, dtype: str = "int8") -> Tensor:
    made = Tensor(
        name=name,
        shape=shape,
        dtype=dtype,
        quantization=Quantization(scales=(0.5,), zero_points=(0,)),
    )
    data = bytes(made.size) if constant else None
    return Tensor(name=name, shape=shape, dtype=dtype, quantization=made.quantization, data=data)


def convolution(kernel: int = 3) -> Graph:
    window = {"stride_h": 1, "stride_w": 1, "dilation_h": 1, "dilation_w": 1}
    pads = {"pad_top": 0, "pad_left": 0, "pad_bottom": 0, "pad_right": 0}
    side = 8 - kernel + 1
    return Graph(
        name="m",
        tensors=(
            tensor("x", 1, 8, 8, 16),
            tensor("w", 16, kernel, kernel, 16, constant=True),
            tensor("y", 1, side, side, 16),
            tensor("z", 1, side, side, 16),
        ),
        operators=(
            Operator(
                name="conv_2d_0",
                kind="conv_2d",
                inputs=("x", "w", ""),
                outputs=("y",),
                attributes={**window, **pads, "activation": "none"},
            ),
            Operator(
                name="add_1",
                kind="add",
                inputs=("y", "y"),
                outputs=("z",),
                attributes={"activation": "none"},
            ),
        ),
        inputs=("x",),
        outputs=("z",),
    )


def reasons(decision: Decision) -> dict[str, str]:
    return dict(decision.rejected)


def test_p1_what_the_accelerator_runs_goes_there(make_soc: MakeSoc) -> None:
    soc, graph = make_soc(POOLS, npu=8), convolution()
    assert [op.device for op in decide(graph, soc)] == ["npu", "cpu"]
    conv, add = decide(graph, soc)
    assert [name for name, _ in conv.rejected] == ["cpu"]
    assert conv.reason.startswith("about ")
    assert str(add) == "add_1 on cpu: no accelerator can run it; not npu: does not run add"


def test_reasons_are_found_once_somebody_reads_them(make_soc: MakeSoc) -> None:
    conv, add = decide(convolution(), make_soc(POOLS, npu=8, big=16), explains=True)
    assert "why" not in {**vars(conv), **vars(add)}
    assert str(add).startswith("add_1 on cpu: no accelerator can run it; not npu: ")
    assert [name for name, _ in conv.rejected] == ["cpu", "npu"]
    assert conv == decide(convolution(), make_soc(POOLS, npu=8, big=16), explains=True)[0]
    assert conv != decide(convolution(), make_soc(POOLS, npu=4, big=16), explains=True)[0]


def test_the_largest_array_is_the_fastest_and_ties_go_to_the_first(make_soc: MakeSoc) -> None:
    conv, _ = decide(convolution(), make_soc(POOLS, npu=4, big=16, twin=16))
    assert conv.device == "big"
    assert [name for name, _ in conv.rejected] == ["cpu", "npu", "twin"]
    *dearer, tied = (why for _, why in conv.rejected)
    basis = r"( \(basis: counted x measured\))?"
    costs = rf"about [\d,]+ cycles (± \d+|-\d+ to \+\d+) %{basis}, [1-9][\d,]* more"
    assert all(re.fullmatch(costs, why) for why in dearer)
    assert tied.endswith(" %, not fewer")


def test_switched_off_accelerators_run_nothing(make_soc: MakeSoc) -> None:
    soc, graph = make_soc(POOLS, npu=8), convolution()
    placed = assign(graph, decide(graph, soc, accelerators=False))
    assert [op.device for op in placed.operators] == ["cpu", "cpu"]
    assert {each.reason for each in decide(graph, soc, accelerators=False)} == {
        "accelerators are switched off"
    }


def scoped(operator: str, device_type: int) -> Requests:
    return Requests(
        annotations=(
            Annotation(
                scope=SEScope(device_type=device_type),
                device="",
                operators=frozenset({operator}),
                pool="",
                copies=True,
                source="'on_device'",
                at=None,
            ),
        )
    )


def test_a_reason_names_no_accelerators_where_one_runs_it(make_soc: MakeSoc) -> None:
    """What is asked for may leave one device, whatever kind it is."""
    pools = "a 64 both: cpu rw, npu rw, twin none"
    conv, _ = decide(convolution(), make_soc(pools, npu=8, twin=16), scoped("conv_2d_0", 12))
    assert conv.device == "npu"
    assert "no" in reasons(conv)["twin"]
    other = "no other device that is SEScope(device_type=ext_dev) can run it"
    assert conv.reason == f"asked for by 'on_device'; {other}"
    conv, _ = decide(convolution(), make_soc("a 64 both: cpu rw"), accelerators=False)
    assert conv.reason == "the chip has no accelerator"


@pytest.mark.parametrize(("kernel", "device"), [(4, "npu"), (5, "cpu")])
def test_limits_are_inclusive(kernel: int, device: str, make_soc: MakeSoc) -> None:
    conv, _ = decide(convolution(kernel), make_soc(POOLS, npu=8))
    assert conv.device == device
    if device == "cpu":
        assert reasons(conv) == {"npu": "kernel_h is 5, at most 4"}


def test_an_operator_below_a_limit_is_rejected(make_soc: MakeSoc) -> None:
    graph = convolution()
    tensors = (*graph.tensors[:-2], tensor("y", 1, 6, 6, 16, dtype="int16"), graph.tensors[-1])
    graph = Graph(graph.name, tensors, graph.operators, graph.inputs, graph.outputs)
    conv, _ = decide(graph, make_soc(POOLS, npu=8))
    assert reasons(conv) == {"npu": "int8 is 0, at least 1"}


def test_an_instance_may_run_less_than_its_kind(make_soc: MakeSoc) -> None:
    conv, _ = decide(convolution(), make_soc(POOLS, runs=("fully_connected",), npu=8))
    assert reasons(conv) == {"npu": "does not run conv_2d"}


@pytest.mark.parametrize(
    ("pools", "reason"),
    [
        ("a 64 workspace: cpu rw, npu ro\nb 64 constants: npu ro", "writes no workspace pool"),
        ("a 64 workspace: cpu rw, npu rw\nb 64 constants: cpu ro", "reads no constants pool"),
        ("a 64 constants: npu rw", "writes no workspace pool"),
    ],
)
def test_an_accelerator_needs_pools(pools: str, reason: str, make_soc: MakeSoc) -> None:
    conv, _ = decide(convolution(), make_soc(pools, npu=8))
    assert reasons(conv) == {"npu": reason}


def test_one_pool_for_both_is_enough(make_soc: MakeSoc) -> None:
    conv, _ = decide(convolution(), make_soc("a 64 both: cpu rw, npu rw", npu=8))
    assert conv.device == "npu"


def test_a_limit_on_a_feature_that_is_not_there_rejects(make_soc: MakeSoc) -> None:
    graph = Graph(
        name="m",
        tensors=(tensor("x", 1, 8), tensor("w", 4, 8, constant=True), tensor("y", 1, 4)),
        operators=(
            Operator(
                name="fully_connected_0",
                kind="fully_connected",
                inputs=("x", "w", ""),
                outputs=("y",),
                attributes={"activation": "none", "keep_num_dims": False},
            ),
        ),
        inputs=("x",),
        outputs=("y",),
    )
    (dense,) = decide(graph, make_soc(POOLS, npu=8))
    assert reasons(dense) == {"npu": "limits 'depth', which fully_connected does not have"}


def test_a_chip_without_accelerators_uses_the_host(make_soc: MakeSoc) -> None:
    assert {each.reason for each in decide(convolution(), make_soc(POOLS))} == {
        "the chip has no accelerator"
    }
