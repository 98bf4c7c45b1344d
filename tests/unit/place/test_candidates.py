# SPDX-License-Identifier: Apache-2.0
"""Candidate pools are those that every device touching a tensor reaches as it needs."""

from collections.abc import Callable
from dataclasses import replace

from atoll.ir.graph import Graph
from atoll.reach.candidates import candidate_pools
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

POOLS = """
    tcm 4096 workspace: cpu rw
    small 8 workspace: cpu rw, npu rw
    readable 4096 workspace: cpu rw, npu ro
    shared 4096 both: cpu rw, npu rw
    flash 4096 constants: cpu ro, npu ro
    boot 4096 constants: cpu ro
"""


def test_c3_pools_by_device_access_role_size_and_preference(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    graph = make_graph("""
        a = conv_2d(x V) on npu
        b = add(a W) on cpu
        c = add(b b) on cpu
        y = conv_2d(c W) on npu
    """)
    assert candidate_pools(graph, make_soc(POOLS, npu=8)) == {
        # The host fills `x` and the accelerator reads it.
        "x": ("readable", "shared"),
        "V": ("shared", "flash"),
        "W": ("shared", "flash"),
        # The accelerator writes `a` and `y`; the host reads them.
        "a": ("shared",),
        "y": ("shared",),
        "b": ("tcm", "readable", "shared"),
        "c": ("readable", "shared"),
    }


def test_c3_preference_counts_not_the_order_of_pools(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc, graph = make_soc(POOLS, npu=8), make_graph("y = add(x x) on cpu")
    shuffled = replace(soc, pools=tuple(reversed(soc.pools)))
    assert candidate_pools(graph, shuffled)["y"] == ("tcm", "readable", "shared")


def test_constants_of_the_host_alone_may_be_where_only_it_reads(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    graph = make_graph("y = add(x W) on cpu")
    assert candidate_pools(graph, make_soc(POOLS, npu=8))["W"] == ("shared", "flash", "boot")


def test_a_pool_that_just_fits_is_a_candidate(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc(POOLS, npu=8)
    assert "small" in candidate_pools(make_graph("y = add(x x) on npu", size=8), soc)["x"]
    assert "small" not in candidate_pools(make_graph("y = add(x x) on npu", size=9), soc)["x"]


def test_a_tensor_without_common_pool_has_no_candidates(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("tcm 64 workspace: cpu rw\ninner 64 workspace: npu rw", npu=8)
    assert candidate_pools(make_graph("y = add(x x) on npu"), soc)["x"] == ()
