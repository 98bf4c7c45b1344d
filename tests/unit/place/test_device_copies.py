# SPDX-License-Identifier: Apache-2.0
"""Copies appear where devices share no pool, once for each side, and nowhere else."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from atoll.diagnostics.errors import PlacementError
from atoll.ir.graph import Graph
from atoll.place.device_copies import insert_copies
from atoll.reach.candidates import candidate_pools
from atoll.resolve.soc import ResolvedSoc

MakeSoc = Callable[..., ResolvedSoc]
MakeGraph = Callable[..., Graph]

SHARED = """
    shared 4096 workspace: cpu rw, npu rw, dsp rw
    flash 4096 constants: cpu ro, npu ro, dsp ro
"""
PRIVATE = """
    tcm 4096 workspace: cpu rw
    inner 4096 workspace: cpu rw, npu rw
    other 4096 workspace: cpu rw, dsp rw
    flash 4096 constants: cpu ro, npu ro, dsp ro
"""
NETWORK = """
    a = conv_2d(x W) on npu
    b = add(a x) on dsp
    y = conv_2d(b W) on npu
"""


def lines(graph: Graph) -> list[str]:
    """Write operators as the fixture reads them."""
    return [
        f"{op.outputs[0]} = {op.kind}({' '.join(op.inputs)}) on {op.device}"
        for op in graph.operators
    ]


def copies(graph: Graph) -> int:
    return sum(op.kind == "copy" for op in graph.operators)


def test_p5_a_shared_pool_needs_no_copies(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    graph = make_graph(NETWORK)
    assert insert_copies(graph, make_soc(SHARED, npu=8, dsp=8)) is graph


def test_p5_private_pools_need_a_copy_on_each_edge(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(PRIVATE, npu=8, dsp=8)
    graph = insert_copies(make_graph(NETWORK), soc)
    assert lines(graph) == [
        "a = conv_2d(x W) on npu",
        "x_copy1 = copy(x) on cpu",
        "a_copy1 = copy(a) on cpu",
        "b = add(a_copy1 x_copy1) on dsp",
        "b_copy1 = copy(b) on cpu",
        "y = conv_2d(b_copy1 W) on npu",
    ]
    assert insert_copies(graph, soc) == graph
    pools = candidate_pools(graph, soc)
    assert pools["x"] == pools["a"] == pools["b_copy1"] == pools["y"] == ("inner",)
    assert pools["x_copy1"] == pools["a_copy1"] == pools["b"] == ("other",)


def test_the_copy_of_a_state_is_no_state(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    """It has the place of an activation, not one of the pools that keep states."""
    soc = make_soc(f"{PRIVATE}kept 4096 state: cpu rw, npu rw", npu=8, dsp=8)
    graph = make_graph(NETWORK)
    tensors = [
        replace(each, initial=bytes(each.size)) if each.name == "x" else each
        for each in graph.tensors
    ]
    copied = insert_copies(replace(graph, tensors=tuple(tensors), inputs=()), soc)
    assert copied.states == ("x",)
    pools = candidate_pools(copied, soc)
    assert pools["x"][0] == "kept"
    assert pools["x_copy1"] == ("other",)


def test_p2_consumers_on_one_side_share_a_copy(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    graph = make_graph("""
        a = conv_2d(x W) on npu
        b = add(a a) on dsp
        c = add(a b) on dsp
        d = add(a c) on cpu
    """)
    placed = insert_copies(graph, make_soc(PRIVATE, npu=8, dsp=8))
    assert lines(placed)[1:4] == [
        "a_copy1 = copy(a) on cpu",
        "b = add(a_copy1 a_copy1) on dsp",
        "c = add(a_copy1 b) on dsp",
    ]
    # `c` meets the host in the pool of the dsp.
    assert lines(placed)[4:] == ["d = add(a c) on cpu"]


def test_readers_that_share_a_pool_share_a_copy(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc(
        """
        inner 4096 workspace: cpu rw, npu rw
        left 4096 workspace: cpu rw, one rw
        both 4096 workspace: cpu rw, one rw, two ro
        flash 4096 constants: cpu ro, npu ro, one ro, two ro
        """,
        npu=8,
        one=8,
        two=8,
    )
    graph = make_graph("""
        a = conv_2d(x W) on npu
        b = add(a a) on one
        c = add(a a) on two
    """)
    with pytest.raises(PlacementError, match="tensor 'c'"):
        insert_copies(graph, soc)
    graph = make_graph("""
        a = conv_2d(x W) on npu
        b = add(a a) on one
        c = pair(a b) on one
    """)
    assert copies(insert_copies(graph, soc)) == 1


def test_an_output_read_by_the_host_keeps_its_name(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    graph = make_graph("y = conv_2d(x W) on npu")
    placed = insert_copies(graph, make_soc(PRIVATE, npu=8, dsp=8))
    assert (placed.inputs, placed.outputs, copies(placed)) == (("x",), ("y",), 0)


def test_names_that_are_taken_are_avoided(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    graph = make_graph("""
        x_copy1 = add(x x) on npu
        y = copy(x_copy1 x) on dsp
    """)
    placed = insert_copies(graph, make_soc(PRIVATE, npu=8, dsp=8))
    assert "x_copy2 = copy(x) on cpu" in lines(placed)
    names = [op.name for op in placed.operators]
    assert len(set(names)) == len(names) == 4


def test_constants_are_duplicated_not_copied(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    soc = make_soc(
        """
        shared 4096 workspace: cpu rw, npu rw, dsp rw
        rom 4096 constants: cpu ro, npu ro
        bank 4096 constants: dsp ro
        """,
        npu=8,
        dsp=8,
    )
    graph = insert_copies(make_graph(NETWORK.replace("a x", "a W")), soc)
    assert lines(graph) == [
        "a = conv_2d(x W) on npu",
        "b = add(a W_copy1) on dsp",
        "y = conv_2d(b W) on npu",
    ]
    assert graph.tensor("W_copy1").data == graph.tensor("W").data
    assert insert_copies(graph, soc) == graph


@pytest.mark.parametrize("length", [10_000])
def test_p3_long_chains_do_not_recurse(
    length: int, make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    chain = "\n".join(f"t{n + 1} = relu(t{n}) on {('npu', 'cpu')[n % 2]}" for n in range(length))
    soc = make_soc("ram 64 both: cpu rw, npu rw", npu=8)
    graph = make_graph(chain)
    assert insert_copies(graph, soc) is graph


def failure(graph: Graph, soc: ResolvedSoc) -> str:
    with pytest.raises(PlacementError) as caught:
        insert_copies(graph, soc)
    return str(caught.value)


def test_c4_a_tensor_that_the_host_cannot_move_is_explained(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc(
        """
        tcm 4096 workspace: cpu rw, dsp rw
        inner 4096 workspace: npu rw
        flash 4096 constants: cpu ro, npu ro
        """,
        npu=8,
        dsp=8,
    )
    assert failure(make_graph("a = conv_2d(W) on npu\ny = add(a a) on dsp"), soc) == (
        "error[E060]: tensor 'a' (16 B) from operator 'conv_2d_0' to operator 'add_1' has no pool "
        "and no copy helps: 'dsp' reads it, 'npu' writes it; "
        "pool 'tcm' gives 'npu' none, not rw; pool 'inner' gives 'dsp' none, not ro\n"
        "  help: set 'pools.tcm.reach.npu' to rw"
    )


def test_c4_following_the_remedy_helps(make_soc: MakeSoc, make_graph: MakeGraph) -> None:
    graph = make_graph("a = conv_2d(W) on npu\ny = add(a a) on dsp")
    pools = "tcm 4096 workspace: cpu rw, dsp rw, npu rw\nflash 4096 constants: npu ro"
    assert insert_copies(graph, make_soc(pools, npu=8, dsp=8)) is graph


def test_a_tensor_larger_than_its_pools_is_explained(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("tcm 8 workspace: cpu rw\nram 24 workspace: cpu rw\nram2 64 workspace: cpu ro")
    assert failure(make_graph("y = add(x x) on cpu", size=32), soc) == (
        "error[E061]: tensor 'x' (32 B) to operator 'add_0' fits no pool that its devices reach: "
        "the largest, 'ram', has 24 B\n"
        "  help: set 'pools.ram.size' to 32 B or more\n"
        "error[E061]: tensor 'y' (32 B) from operator 'add_0' fits no pool that its devices reach: "
        "the largest, 'ram', has 24 B\n"
        "  help: set 'pools.ram.size' to 32 B or more"
    )


def test_a_chip_without_constants_pool_is_explained(
    make_soc: MakeSoc, make_graph: MakeGraph
) -> None:
    soc = make_soc("ram 64 workspace: cpu rw")
    assert "add a pool with role 'constants'" in failure(make_graph("y = add(x W) on cpu"), soc)
