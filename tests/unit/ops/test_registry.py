# SPDX-License-Identifier: Apache-2.0
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.element_samples import elements
from tests.operator_samples import moves, picks, windows_and_reductions
from tests.recurrent_samples import recurrent

from atoll.frontend.tflite.forms import forms_for
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import reference
from atoll.ops.moves.splitting import InParts
from atoll.ops.registry import OPERATORS, kind_of


@pytest.fixture
def graph(tmp_path: Path, tflite_builder: ModuleType, every_operator: Any) -> Graph:
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    return load_tflite(path)


@pytest.fixture
def graphs(tmp_path: Path, tflite_builder: ModuleType, graph: Graph) -> list[Graph]:
    """Graphs that have each operator between them."""
    graphs = [graph]
    for sample in (windows_and_reductions, moves, picks, elements, recurrent):
        path = tmp_path / "others.tflite"
        path.write_bytes(tflite_builder.write(sample(tflite_builder)))
        graphs.append(load_tflite(path))
    return graphs


def make_operator(kind: str) -> Operator:
    return Operator(name="op", kind=kind, inputs=("x",), outputs=("y",), attributes={})


MADE = {"copy", "ethos_u", "join_rows", "relayout", "rows"}
"""Kinds that no model file has."""

OF_ONNX = {"layer_normalization"}
"""Kinds that only the front end of ONNX makes."""

OF_SEVERAL = {"lookup"}
"""Kinds that the front end makes of several operators of a file."""

IN_PARTS = {"pack", "split", "split_v", "unpack"}
"""Kinds that the front end makes others of."""


@pytest.mark.parametrize("kind", OPERATORS)
def test_every_row_loads(kind: str) -> None:
    found = kind_of(make_operator(kind))
    assert all(
        callable(getattr(found, name)) for name in ("check", "features", "reference", "lower")
    )


def test_the_front_end_makes_every_kind_but_those_of_placement(graphs: list[Graph]) -> None:
    forms = forms_for(())
    assert {code.lower() for code in forms.by_code} == {*forms.by_kind}
    assert {*forms.by_kind} == set(OPERATORS) - MADE - OF_SEVERAL - OF_ONNX
    made = {op.kind for graph in graphs for op in graph.operators}
    assert made == set(OPERATORS) - MADE - IN_PARTS - OF_ONNX


def test_kinds_in_parts_are_seen_by_the_front_end_alone(graphs: list[Graph]) -> None:
    first = {op.index: op for graph in graphs for op in graph.operators if "split_v" in op.name}
    assert {op.kind for op in first.values()} == {"slice"}
    alone = [kind for kind in OPERATORS if isinstance(kind_of(make_operator(kind)), InParts)]
    assert {*alone} == IN_PARTS


def test_every_kind_lowers_and_counts(graphs: list[Graph]) -> None:
    for graph in graphs:
        for op in graph.operators:
            assert set(op.outputs) <= set(kind_of(op).lower(op, graph).arguments)
            assert kind_of(op).features(op, graph)["macs"] >= 0


def test_features_of_a_convolution(graph: Graph) -> None:
    op = next(op for op in graph.operators if op.kind == "conv_2d")
    assert dict(kind_of(op).features(op, graph)) == {
        "kernel_h": 3,
        "kernel_w": 3,
        "stride_h": 1,
        "stride_w": 1,
        "dilation_h": 1,
        "dilation_w": 1,
        "pad_top": 0,
        "pad_left": 0,
        "pad_bottom": 0,
        "pad_right": 0,
        "batches": 1,
        "in_height": 8,
        "in_width": 8,
        "in_channels": 4,
        "out_height": 6,
        "out_width": 6,
        "out_channels": 8,
        "depth_multiplier": 1,
        "groups": 1,
        "macs": 6 * 6 * 8 * 3 * 3 * 4,
        "int8": 1,
        "rounds_once": 0,
    }


def test_features_of_a_dense_layer(graph: Graph) -> None:
    op = next(op for op in graph.operators if op.kind == "fully_connected")
    features = kind_of(op).features(op, graph)
    wanted = {"in_height": 1, "in_width": 2, "in_channels": 8, "out_width": 2, "out_channels": 5}
    assert wanted.items() <= features.items()
    assert features["macs"] == 2 * 8 * 5


def test_copy_returns_its_input() -> None:
    tensors = tuple(Tensor(name=name, shape=(2, 3), dtype="int8") for name in "xy")
    op = make_operator("copy")
    graph = Graph("g", tensors, (op,), ("x",), ("y",))
    kind_of(op).check(op, graph)
    sample = np.arange(6, dtype=np.int8).reshape(2, 3)
    np.testing.assert_array_equal(reference.run(graph, {"x": sample})["y"], sample)
