# SPDX-License-Identifier: Apache-2.0
"""Two transpositions, or two tables, that are one or none."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.operator_samples import SCALE, Tree
from tests.tflite_builder import write

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.driver.task import prepare
from atoll.frontend.registry import read_source
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator
from atoll.ops import reference
from atoll.resolve import load_soc
from atoll.rewrite.dead_code import remove_dead_code
from atoll.rewrite.edit import Given
from atoll.rewrite.passes import verify
from atoll.rewrite.tables import join_tables
from atoll.rewrite.transposes import cancel_transposes

NOTHING = Given()
THERE, BACK = (0, 3, 1, 2), (0, 2, 3, 1)
OTHER = {"scales": (1 / 256,), "zero_points": (-128,)}


@pytest.fixture
def tree(tflite_builder: ModuleType) -> Tree:
    """Return a network that begins with an image of NHWC."""
    grown = Tree(tflite_builder)
    grown.add((1, 4, 5, 6), **SCALE)
    return grown


def turned(tree: Tree, x: int, order: tuple[int, ...]) -> int:
    """Transpose."""
    shape = tuple(tree.tensors[x].shape[at] for at in order)
    return tree.apply("TRANSPOSE", (x, tree.numbers(*order)), tree.add(shape, **SCALE))


def applied(tree: Tree, code: str, x: int, **scale: tuple[float, ...]) -> int:
    """Apply an operator of one operand."""
    return tree.apply(code, (x,), tree.add(tree.tensors[x].shape, **{**SCALE, **scale}))


def loaded(tree: Tree, folder: Path) -> Graph:
    path = folder / "network.tflite"
    path.write_bytes(write(tree.model()))
    return load_tflite(path)


def kinds(graph: Graph) -> list[str]:
    return [op.kind for op in graph.operators]


def assert_same(graph: Graph, made: Graph) -> None:
    verify(graph, made)
    sample = random_sample(graph)[0]
    expected, found = reference.run(graph, sample), reference.run(made, sample)
    for name in graph.outputs:
        np.testing.assert_array_equal(found[name], expected[name])


def test_a_pair_around_elementwise_operators_goes(tree: Tree, tmp_path: Path) -> None:
    x = applied(tree, "RELU", turned(tree, 0, THERE))
    turned(tree, applied(tree, "ABS", x), BACK)
    graph = loaded(tree, tmp_path)
    made = remove_dead_code(cancel_transposes(graph, NOTHING), NOTHING)
    assert kinds(made) == ["relu", "abs"]
    assert made.operators[0].inputs == graph.inputs
    assert_same(graph, made)


def test_pairs_within_pairs_go(tree: Tree, tmp_path: Path) -> None:
    x = turned(tree, turned(tree, 0, THERE), THERE)
    x = turned(tree, applied(tree, "RELU", x), BACK)
    applied(tree, "ABS", turned(tree, x, BACK))
    graph = loaded(tree, tmp_path)
    made = remove_dead_code(cancel_transposes(graph, NOTHING), NOTHING)
    assert kinds(made) == ["relu", "abs"]
    assert_same(graph, made)


def test_the_first_one_stays_where_others_read_it(tree: Tree, tmp_path: Path) -> None:
    x = turned(tree, 0, THERE)
    applied(tree, "RELU", x)
    applied(tree, "ABS", turned(tree, x, BACK))
    graph = loaded(tree, tmp_path)
    made = remove_dead_code(cancel_transposes(graph, NOTHING), NOTHING)
    assert kinds(made) == ["transpose", "relu", "abs"]
    assert_same(graph, made)


def test_others_stay(tree: Tree, tmp_path: Path) -> None:
    """Another order, a softmax along a dimension, two readers, an output, a name."""
    applied(tree, "ABS", turned(tree, turned(tree, 0, THERE), THERE))
    soft = turned(tree, 0, THERE)
    soft = tree.apply("SOFTMAX", (soft,), tree.add((1, 6, 4, 5), **OTHER), "SoftmaxOptions", Beta=1)
    shape = (1, 4, 5, 6)
    back = tree.apply("TRANSPOSE", (soft, tree.numbers(*BACK)), tree.add(shape, **OTHER))
    tree.apply("ABS", (back,), tree.add(shape, **SCALE))
    both = applied(tree, "RELU", turned(tree, 0, THERE))
    applied(tree, "ABS", both)
    applied(tree, "ABS", turned(tree, both, BACK))
    turned(tree, turned(tree, 0, THERE), BACK)
    graph = loaded(tree, tmp_path)
    assert cancel_transposes(graph, NOTHING) is graph


def test_what_is_named_stays(tree: Tree, tmp_path: Path) -> None:
    turned(tree, applied(tree, "RELU", turned(tree, 0, THERE)), BACK)
    graph = loaded(tree, tmp_path)
    for op in graph.operators[1:]:
        assert cancel_transposes(graph, Given(named=frozenset({op.name}))) is graph
    assert kinds(cancel_transposes(graph, NOTHING)) == ["transpose", "relu"]


def test_tables_in_a_row_are_one(tree: Tree, tmp_path: Path) -> None:
    x = applied(tree, "QUANTIZE", 0, scales=(0.1,), zero_points=(5,))
    x = applied(tree, "LOGISTIC", x, **OTHER)
    applied(tree, "QUANTIZE", x, scales=(0.02,))
    graph = loaded(tree, tmp_path)
    made = join_tables(graph, NOTHING)
    assert kinds(made) == ["lookup"]
    assert_same(graph, made)


def test_tables_that_others_read_or_accelerators_lose_stay(tree: Tree, tmp_path: Path) -> None:
    x = applied(tree, "QUANTIZE", 0, scales=(0.1,), zero_points=(5,))
    applied(tree, "LOGISTIC", x, **OTHER)
    applied(tree, "ABS", x)
    graph = loaded(tree, tmp_path)
    assert join_tables(graph, NOTHING) is graph
    tree.operators.pop()
    graph = loaded(tree, tmp_path)
    assert kinds(join_tables(graph, NOTHING)) == ["lookup"]

    def runs(op: Operator, within: Graph) -> frozenset[str]:
        return frozenset() if op.kind == "lookup" else frozenset({"npu"})

    assert join_tables(graph, Given(runs=runs)) is graph
    assert join_tables(graph, Given(patterned=frozenset({"quantize"}))) is graph


def test_one_table_runs_on_reef(tree: Tree, tmp_path: Path) -> None:
    x = applied(tree, "QUANTIZE", 0, scales=(0.1,), zero_points=(5,))
    applied(tree, "LOGISTIC", x, **OTHER)
    loaded(tree, tmp_path)
    compiled = compile_file(load_soc("lagoon"), tmp_path / "network.tflite", BuildOptions())
    (op,) = compiled.graph.operators
    assert (op.kind, op.device) == ("lookup", "npu")


def test_tables_that_one_accelerator_runs_alone_are_joined_on_another_chip(
    tree: Tree, tmp_path: Path
) -> None:
    """What is kept of the one chip has no say on the other."""
    x = applied(tree, "QUANTIZE", 0, scales=(0.1,), zero_points=(5,))
    applied(tree, "LOGISTIC", x, **OTHER)
    graph = loaded(tree, tmp_path)
    source = read_source(tmp_path / "network.tflite")
    for runs, left in (("QUANTIZE, LOGISTIC", 2), ("CONV_2D", 1), ("QUANTIZE, LOGISTIC", 2)):
        chip = load_soc("lagoon", (f"devices.npu.runs=[{runs}]",))
        assert len(prepare(chip, graph, source, BuildOptions()).network.operators) == left, runs
