"""Reshapes are views where one storage can serve: no step, no copy, the same bits."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.frontend.tflite import load_tflite
from atoll.ir.graph import Graph
from atoll.ir.graph_text import parse_graph
from atoll.ops import reference
from atoll.pipeline import BuildOptions, compile_file
from atoll.place.views import with_views
from atoll.resolve import load_soc
from atoll_sim.run import AcceleratorKind, CpuKind, run_compiled
from atoll_sim.samples import random_sample

LAGOON = load_soc("lagoon")
ISLANDS = load_soc(Path(__file__).parents[2] / "data" / "islands.yaml")

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
    outcome = run_compiled(
        compiled, [sample], cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    assert outcome.report.passed
