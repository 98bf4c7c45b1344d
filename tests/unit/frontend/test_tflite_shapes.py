# SPDX-License-Identifier: Apache-2.0
"""Shapes that are computed from shapes and constants are known when a file is loaded."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.operator_samples import SCALE, Tree

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference


def chain(builder: ModuleType, folder: Path, taken: int, *, handed_out: bool = False) -> Graph:
    """Load SHAPE, STRIDED_SLICE, PACK and RESHAPE, as Keras exports them.

    Args:
        handed_out: what each of them makes is an output.
    """
    tree = Tree(builder)
    x = tree.add((2, 3, 4), **SCALE)
    shape = tree.apply("SHAPE", (x,), tree.add((3,), dtype="int32"), "ShapeOptions", OutType=2)
    bounds = (tree.numbers(0), tree.numbers(taken), tree.numbers(taken))
    first, masks = tree.add((), dtype="int32"), {"ShrinkAxisMask": 1}
    tree.apply("STRIDED_SLICE", (shape, *bounds), first, "StridedSliceOptions", **masks)
    rest = tree.add((), dtype="int32", data=np.array(-1, np.int32))
    wanted = tree.add((2,), dtype="int32")
    tree.apply("PACK", (first, rest), wanted, "PackOptions", ValuesCount=2)
    result = tree.apply("RESHAPE", (x, wanted), tree.add((2, 12), **SCALE))
    outputs = (shape, first, wanted, result) if handed_out else (result,)
    model = builder.Model(
        tensors=tuple(tree.tensors), operators=tuple(tree.operators), inputs=(x,), outputs=outputs
    )
    path = folder / "model.tflite"
    path.write_bytes(builder.write(model))
    return load_tflite(path)


def test_a_chain_of_shapes_leaves_a_reshape(tflite_builder: ModuleType, tmp_path: Path) -> None:
    graph = chain(tflite_builder, tmp_path, 1)
    assert [op.kind for op in graph.operators] == ["reshape"]
    assert graph.tensor(graph.outputs[0]).shape == (2, 12)


def test_links_that_are_outputs_are_known_as_well(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    graph = chain(tflite_builder, tmp_path, 1, handed_out=True)
    x = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    values = reference.run(graph, {graph.inputs[0]: x})
    shape, first, wanted, result = (values[name] for name in graph.outputs)
    assert (shape.tolist(), first.tolist(), wanted.tolist()) == ([2, 3, 4], 2, [2, -1])
    np.testing.assert_array_equal(result, x.reshape(2, 12))


def test_a_wrong_link_of_the_chain_is_refused(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """A stride of 0 takes nothing: neither it nor what follows is known."""
    with pytest.raises(ModelError, match=r"STRIDED_SLICE.*takes nothing"):
        chain(tflite_builder, tmp_path, 0)
