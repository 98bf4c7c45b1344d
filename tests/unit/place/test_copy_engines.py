# SPDX-License-Identifier: Apache-2.0
"""Copies go to a DMA engine that reaches and covers both ends, else to the host."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from atoll.diagnostics.errors import DescriptionError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.graph import Graph
from atoll.place.device_copies import insert_copies
from atoll.reach.candidates import candidate_pools
from atoll.resolve import load_soc
from atoll.resolve.soc import Dma

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
ISLANDS = ROOT / "tests" / "data" / "islands_dma.yaml"
SHARED = ("pools.only_a.reach.cpu=rw", "pools.only_b.reach.cpu=rw")


def copies(*overrides: str, soc: Path = ISLANDS, accelerators: bool = True) -> dict[str, str]:
    """Return the device of every copy of digits."""
    compiled = _compiled(overrides, BuildOptions(accelerators=accelerators), soc)
    return {op.name: op.device for op in compiled.graph.operators if op.kind == "copy"}


def _compiled(
    overrides: tuple[str, ...], options: BuildOptions | None = None, soc: Path = ISLANDS
) -> Compiled:
    return compile_file(load_soc(str(soc), overrides), DIGITS, options)


def test_p6_the_engine_moves_what_the_host_cannot_reach() -> None:
    assert len(found := copies()) == 10
    assert set(found.values()) == {"dma"}


def test_p6_the_engine_relieves_a_host_that_reaches_all() -> None:
    found = copies(*SHARED)
    assert found
    assert set(found.values()) == {"dma"}


def test_p6_an_engine_without_the_pair_leaves_the_copy_to_the_host(tmp_path: Path) -> None:
    soc = tmp_path / "narrow.yaml"
    soc.write_text(f"extends: {ISLANDS}\ndevices: {{dma: {{moves: [[sram_a, sram_b]]}}}}\n")
    found = copies(*SHARED, soc=soc)
    assert set(found.values()) == {"cpu", "dma"}


def test_p6_an_engine_that_reads_no_commands_copies_nothing() -> None:
    assert set(copies(*SHARED, "pools.weights.reach.dma=none").values()) == {"cpu"}


def test_p6_the_host_alone_copies_nothing() -> None:
    assert copies(accelerators=False) == {}


def test_p6_moves_are_checked_against_reach() -> None:
    with pytest.raises(DescriptionError, match="copies to memory 'sram_a'") as caught:
        load_soc(str(ISLANDS), ("pools.only_a.reach.dma=ro",))
    assert {fault.code for fault in caught.value.faults} == {"E036"}
    assert len(caught.value.faults) == 2


def test_p6_an_engine_must_copy() -> None:
    with pytest.raises(DescriptionError, match="'reef' of 'dma' is no DMA engine") as caught:
        load_soc(str(ISLANDS), ("devices.dma.engine=reef",))
    assert caught.value.faults[0].code == "E023"


def test_p6_an_engine_has_parameters_and_registers() -> None:
    soc = load_soc(str(ISLANDS), ("devices.dma.params.data_bytes=16",))
    dma = soc.device("dma")
    assert isinstance(dma, Dma)
    assert (dma.spec.name, dma.params, dma.irq, dma.runs) == (
        "ripple",
        {"data_bytes": 16, "turns": 1},
        5,
        ("copy",),
    )
    assert soc.dmas == (dma,)
    assert dma in soc.engines
    assert dma.registers.origin == 0x4000_2000


def steps(graph: Graph) -> list[str]:
    return [f"{op.outputs[0]} = {op.kind}({op.inputs[0]}) on {op.device}" for op in graph.operators]


def test_p6_an_output_out_of_the_hosts_reach_is_copied_to_it(
    make_graph: Callable[..., Graph],
) -> None:
    soc = load_soc(ISLANDS)
    graph = insert_copies(make_graph("y = conv_2d(x W) on npu_a"), soc)
    assert graph.outputs == ("y",)
    assert steps(graph) == [
        "x_copy1 = copy(x) on dma",
        "y_copy1 = conv_2d(x_copy1) on npu_a",
        "y = copy(y_copy1) on dma",
    ]
    pools = candidate_pools(graph, soc)
    assert (pools["y"], pools["y_copy1"]) == (("only_cpu",), ("only_a",))
    assert insert_copies(graph, soc) == graph


def test_p6_an_output_that_the_host_also_reads_is_copied_once(
    make_graph: Callable[..., Graph],
) -> None:
    graph = make_graph("""
        a = conv_2d(x W) on npu_a
        b = conv_2d(a W) on npu_b
        c = add(a a) on cpu
        d = add(c b) on cpu
    """)
    pinned = tuple(replace(t, index=number) for number, t in enumerate(graph.tensors))
    placed = insert_copies(replace(graph, tensors=pinned, outputs=("a", "d")), load_soc(ISLANDS))
    assert steps(placed) == [
        "x_copy1 = copy(x) on dma",
        "a_copy2 = conv_2d(x_copy1) on npu_a",
        "a_copy1 = copy(a_copy2) on dma",
        "b = conv_2d(a_copy1) on npu_b",
        "a = copy(a_copy2) on dma",
        "c = add(a) on cpu",
        "b_copy1 = copy(b) on dma",
        "d = add(c) on cpu",
    ]
    indices = {tensor.name: tensor.index for tensor in placed.tensors}
    assert (indices["a"], indices["a_copy2"]) == (graph.tensors.index(graph.tensor("a")), -1)
