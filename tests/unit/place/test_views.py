# SPDX-License-Identifier: Apache-2.0
"""Reshapes are views where one storage can serve: no step, no copy, the same bits."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.artifacts.samples import random_sample
from atoll.codegen.c.source import emit_sources
from atoll.codegen.llvm import emit_objects
from atoll.diagnostics.errors import PlacementError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ir.read_graph import parse_graph
from atoll.ops import reference
from atoll.place.copy_engines import assign_copies
from atoll.place.plan_devices import plan_devices
from atoll.place.views import with_views
from atoll.reach.candidates import candidate_pools, needs_of
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

LAGOON = load_soc("lagoon")
DATA = Path(__file__).parents[2] / "data"
ISLANDS = load_soc(DATA / "islands.yaml")
CHIPS = (LAGOON, ISLANDS, load_soc(DATA / "islands_dma.yaml"), load_soc("twin"))

HEAD = """
graph g(x) -> (y)
  %x: int8[1x2x2x4]{x}
  %a: int8[1x2x2x4]{a}
  %b: int8[1x16]{b}
  %c: int8[4x4]{c}
  %y: int8[4x4]
"""
BODY = """
  %a = quantize(%x) {{}} : cpu  # quantize_0
  %b = reshape(%a) {{}} : {first}  # reshape_1
  %c = reshape(%b) {{}} : {second}  # reshape_2
  %y = quantize(%c) {{}} : cpu  # quantize_3
"""


def graph_of(first: str = "cpu", second: str = "cpu", **pools: str) -> Graph:
    marks = {name: f" in {pools[name]}" if name in pools else "" for name in "xabc"}
    return parse_graph(HEAD.format(**marks) + BODY.format(first=first, second=second))


def storages(graph: Graph) -> dict[str, str]:
    return {tensor.name: graph.storage(tensor.name) for tensor in graph.tensors}


def test_a_chain_of_reshapes_is_one_storage() -> None:
    graph = with_views(graph_of(), LAGOON)
    assert [op.name for op in graph.operators] == ["quantize_0", "quantize_3"]
    assert storages(graph) == {"x": "x", "a": "a", "b": "a", "c": "a", "y": "y"}
    assert "  %b: int8[1x16] view of %a\n  %c: int8[4x4] view of %a\n" in str(graph)


def test_a_pin_of_a_view_is_a_pin_of_its_storage() -> None:
    graph = with_views(graph_of(c="shared"), LAGOON)
    assert graph.tensor("a").pool == "shared"
    assert storages(graph)["c"] == "a"


def test_two_pins_are_two_storages() -> None:
    graph = with_views(graph_of(a="shared", c="private"), LAGOON)
    assert storages(graph) == {"x": "x", "a": "a", "b": "a", "c": "c", "y": "y"}
    assert [op.name for op in graph.operators] == ["quantize_0", "reshape_2", "quantize_3"]


def test_an_output_of_the_network_keeps_its_bytes() -> None:
    text = str(graph_of()).replace("-> (y)", "-> (c, y)")
    graph = with_views(parse_graph(text), LAGOON)
    assert storages(graph)["c"] == "c"
    assert storages(graph)["b"] == "a"


@pytest.mark.parametrize("soc", [LAGOON, ISLANDS], ids=lambda soc: soc.name)
def test_the_bits_are_those_of_the_copies(
    soc: Any, tmp_path: Path, tflite_builder: ModuleType, every_operator: Any
) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    compiled = compile_file(soc, path, BuildOptions())
    kinds = [op.kind for op in compiled.graph.operators]
    assert any(tensor.view for tensor in compiled.graph.tensors)
    assert kinds.count("reshape") < [op.kind for op in load_tflite(path).operators].count("reshape")
    (sample,) = random_sample(compiled.graph)
    expected = reference.run(load_tflite(path), sample)
    found = reference.run(compiled.graph, sample)
    for name in expected.keys() & found.keys():
        np.testing.assert_array_equal(found[name], expected[name])
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    assert outcome.report.passed


@settings(max_examples=cases(400), deadline=None)
@given(data=st.data())
def test_p3_planning_a_graph_with_views_again_changes_nothing(data: st.DataObject) -> None:
    soc = data.draw(st.sampled_from(CHIPS), label="chip")
    cores = [core.name for core in soc.cpus if core.mailbox or core.name == soc.host]
    kinds = st.sampled_from(["quantize", "reshape", "copy"])
    lines, tensors, names = [], ["  %t0: int8[1x8]"], ["t0"]
    for number in range(data.draw(st.integers(2, 8), label="operators")):
        kind, source = data.draw(kinds), data.draw(st.sampled_from(names[-2:]))
        device = data.draw(st.sampled_from(cores))
        reached = [pool.name for pool in soc.pools if pool.reach[device] is Access.WRITE]
        pool = data.draw(st.sampled_from(["", *(f" in {name}" for name in reached)]))
        tensors.append(f"  %u{number}: int8[1x8]{pool}")
        lines.append(f"  %u{number} = {kind}(%{source}) {{}} : {device}  # op_{number}")
        names.append(f"u{number}")
    text = "\n".join([f"graph g(t0) -> ({names[-1]})", *tensors, *lines]) + "\n"
    try:
        placed = plan_devices(parse_graph(text), soc).graph
    except PlacementError:
        return
    graph = with_views(assign_copies(placed, soc), soc)
    assert plan_devices(graph, soc).graph == graph
    assert_homes(graph, soc)


def assert_homes(graph: Graph, soc: ResolvedSoc) -> None:
    """Every tensor with bytes of its own that a device touches has a pool."""
    needs = needs_of(graph, soc)
    homeless = [name for name, pools in candidate_pools(graph, soc).items() if not pools]
    assert [name for name in homeless if needs[name]] == []


def test_c4_copies_on_both_sides_of_a_reshape_are_not_merged_into_one() -> None:
    """Two engines without a common pool: after the reshape is gone, one copy by way of a third."""
    twin = CHIPS[-1]
    text = (
        "graph g(x) -> (y)\n"
        + "".join(f"  %{name}: int8[1x16]\n" for name in "xabcdefy")
        + "  %a = copy(%x) {} : dma  # copy_0\n"
        + "  %b = quantize(%a) {} : npu_small  # quantize_0\n"
        + "  %c = copy(%b) {} : dma  # copy_1\n"
        + "  %d = reshape(%c) {} : cpu  # reshape_0\n"
        + "  %e = copy(%d) {} : dma  # copy_2\n"
        + "  %f = quantize(%e) {} : npu_large  # quantize_1\n"
        + "  %y = copy(%f) {} : dma  # copy_3\n"
    )
    graph = with_views(parse_graph(text), twin)
    assert_homes(graph, twin)
    assert storages(graph)["d"] == "b"
    assert [op.name for op in graph.operators if op.kind == "copy"] == [
        "copy_0",
        "copy_2",
        "copy_3",
    ]


def test_p3_a_copy_for_a_reshape_that_is_gone_goes_too() -> None:
    twin = CHIPS[-1]
    asked = parse_graph(str(graph_of("dsp", "dsp", a="cpu_local")))
    placed = plan_devices(asked, twin).graph
    assert [op.kind for op in placed.operators].count("copy") == 1
    graph = with_views(placed, twin)
    assert [op.name for op in graph.operators] == ["quantize_0", "quantize_3"]
    assert storages(graph)["c"] == "a"


def test_for_a_view_nothing_is_generated() -> None:
    """So nothing runs, and nothing is what it is estimated to take."""
    digits = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
    compiled = compile_file(LAGOON, digits, BuildOptions(accelerators=False))
    view, source = "reshape_7", "average_pool_2d_6_out"
    operators = {op.name: op for op in compiled.network.operators}
    assert operators[view].inputs == (source,)
    assert compiled.graph.storage(operators[view].outputs[0]) == compiled.graph.storage(source)
    parts = compiled.module, compiled.plan, LAGOON, compiled.commands
    made = "".join(emit_sources(*parts).values()).encode()
    for each in (str(compiled.module).encode(), made, *emit_objects(*parts).values()):
        assert b"average_pool_2d_6" in each
        assert view.encode() not in each
    steps = {each.operator for each in compiled.module.entry.steps}
    assert steps == operators.keys() - {view}
    assert not [name for name in compiled.plan.placements if view in name]
    assert {each.operator for each in estimates_of((compiled,))[0].layers} == steps
