"""Shapes that are computed from shapes and constants are known when a file is loaded."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.operator_samples import SCALE, Tree

from atoll.errors import ModelError
from atoll.frontend.tflite import load_tflite
from atoll.ir.graph import Graph


def chain(builder: ModuleType, folder: Path, taken: int) -> Graph:
    """Load SHAPE, STRIDED_SLICE, PACK and RESHAPE, as Keras exports them."""
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
    model = builder.Model(
        tensors=tuple(tree.tensors), operators=tuple(tree.operators), inputs=(x,), outputs=(result,)
    )
    path = folder / "model.tflite"
    path.write_bytes(builder.write(model))
    return load_tflite(path)


def test_a_chain_of_shapes_leaves_a_reshape(tflite_builder: ModuleType, tmp_path: Path) -> None:
    graph = chain(tflite_builder, tmp_path, 1)
    assert [op.kind for op in graph.operators] == ["reshape"]
    assert graph.tensor(graph.outputs[0]).shape == (2, 12)


def test_a_wrong_link_of_the_chain_is_refused(tflite_builder: ModuleType, tmp_path: Path) -> None:
    """A stride of 0 takes nothing: neither it nor what follows is known."""
    with pytest.raises(ModelError, match="the shape must be a constant"):
        chain(tflite_builder, tmp_path, 0)
