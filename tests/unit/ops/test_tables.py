# SPDX-License-Identifier: Apache-2.0
"""int8 kinds of one operand give their table, for accelerators too; clamps need none."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.element_samples import elements, wide_elements

from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of

UNARY = {
    *(
        "abs",
        "elu",
        "hard_swish",
        "leaky_relu",
        "logistic",
        "lookup",
        "relu",
        "exp",
        "gelu",
        "log",
        "relu6",
        "rsqrt",
    ),
    "tanh",
}


@pytest.fixture
def graphs(tflite_builder: ModuleType, tmp_path: Path) -> list[Graph]:
    loaded = []
    for make in (elements, wide_elements):
        path = tmp_path / "model.tflite"
        path.write_bytes(tflite_builder.write(make(tflite_builder)))
        loaded.append(load_tflite(path))
    return loaded


def test_tables_hold_the_reference_of_each_byte(graphs: list[Graph]) -> None:
    graph, wide = graphs
    rng = np.random.default_rng(1)
    met = set()
    for op in graph.operators:
        if (table := kind_of(op).table(op, graph)) is not None:
            x = rng.integers(-128, 128, graph.tensor(op.inputs[0]).shape).astype(np.int8)
            (expected,) = kind_of(op).reference(op, graph, (x,))
            np.testing.assert_array_equal(table[x.view(np.uint8)], expected)
            met.add(op.kind)
    assert met == UNARY
    assert all(kind_of(op).table(op, wide) is None for op in wide.operators)


def test_what_only_clamps_needs_no_table(graphs: list[Graph]) -> None:
    graph = graphs[0]
    lowered = {op.kind: kind_of(op).lower(op, graph) for op in graph.operators if op.kind in UNARY}
    without = {kind for kind, each in lowered.items() if not each.constants}
    assert without == {"relu", "relu6"}
