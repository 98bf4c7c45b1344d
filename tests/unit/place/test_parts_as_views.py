# SPDX-License-Identifier: Apache-2.0
"""Whole rows of a tensor are views of it, and what is joined is written where it ends up."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.cached_chips import APART, SHARED_BY_REGISTERS
from tests.operator_samples import SCALE, Tree
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops import reference
from atoll.place.views import with_views
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

CHIPS = (load_soc("lagoon"), load_soc("twin"))
MOVED = {"slice", "concatenation", "copy"}


def split(tree: Tree, x: int, axis: int, count: int) -> list[int]:
    """Split a tensor into equal parts."""
    shape = list(tree.tensors[x].shape)
    shape[axis] //= count
    parts = tuple(tree.add(tuple(shape), **SCALE) for _ in range(count))
    operands = (tree.numbers(axis, shape=()), x)
    tree.apply_to_several("SPLIT", operands, parts, "SplitOptions", NumSplits=count)
    return list(parts)


def joined(tree: Tree, parts: list[int], axis: int) -> int:
    """Join tensors."""
    shape = list(tree.tensors[parts[0]].shape)
    shape[axis] = sum(tree.tensors[part].shape[axis] for part in parts)
    result = tree.add(tuple(shape), **SCALE)
    return tree.apply("CONCATENATION", tuple(parts), result, "ConcatenationOptions", Axis=axis)


def same(tree: Tree, code: str, x: int) -> int:
    """Apply an operator that keeps the shape."""
    return tree.apply(code, (x,), tree.add(tree.tensors[x].shape, **SCALE))


def compiled(
    tree: Tree, folder: Path, soc: Any = CHIPS[0], *, accelerators: bool = True
) -> Compiled:
    """Compile the network."""
    path = folder / "model.tflite"
    path.write_bytes(tree.builder.write(tree.model()))
    return compile_file(soc, path, BuildOptions(accelerators=accelerators))


def kinds(graph: Graph) -> set[str]:
    return {op.kind for op in graph.operators}


def assert_right(made: Compiled, folder: Path) -> None:
    """The placed network computes what the file's does, and so does its code."""
    (sample,) = random_sample(made.graph)
    expected = reference.run(load_tflite(folder / "model.tflite"), sample)
    found = reference.run(made.graph, sample)
    for name in made.graph.outputs:
        np.testing.assert_array_equal(found[name], expected[name])
    (outcome,) = run_models(
        (made,), ([sample],), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    assert outcome.report.passed


@pytest.mark.parametrize("soc", CHIPS, ids=lambda soc: soc.name)
@pytest.mark.parametrize("width", [16, 3], ids=["accelerators", "cores"])
def test_parts_of_the_outer_axis_move_no_byte_where_devices_can_use_them(
    soc: Any, width: int, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    tree = Tree(tflite_builder)
    x = same(tree, "ABS", tree.add((1, 12, width), **SCALE))
    parts = [same(tree, "RELU", part) for part in split(tree, x, 1, 3)]
    same(tree, "RELU", joined(tree, parts, 1))
    made = compiled(tree, tmp_path, soc, accelerators=width % 16 == 0)
    assert not kinds(made.graph) & MOVED
    assert_right(made, tmp_path)


@pytest.mark.parametrize(("settings", "moved"), [((), False), (APART, True)])
def test_cores_of_one_cache_write_parts_of_a_tensor(
    settings: tuple[str, ...], moved: bool, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    """Lines of one hold bytes of both, as those of two caches must not."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 12, 16), **SCALE)
    same(tree, "ABS", joined(tree, [same(tree, code, x) for code in ("ABS", "RELU")], 1))
    path = tmp_path / "model.tflite"
    path.write_bytes(tree.builder.write(tree.model()))
    requests = load_requests(None, ["abs_0=cpu_0", "relu_1=cpu_1", "abs_3=cpu_0"])
    soc = load_soc(SHARED_BY_REGISTERS, ["devices.npu=null", *settings])
    made = compile_file(soc, path, BuildOptions(requests=requests))
    assert bool(kinds(made.graph) & MOVED) is moved
    assert_right(made, tmp_path)


def test_parts_that_begin_within_a_word_are_moved(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    tree = Tree(tflite_builder)
    x = same(tree, "ABS", tree.add((1, 3, 5), **SCALE))
    parts = [same(tree, "RELU", part) for part in split(tree, x, 1, 3)]
    same(tree, "RELU", joined(tree, parts, 1))
    made = compiled(tree, tmp_path)
    assert [op.kind for op in made.graph.operators].count("slice") == 2
    assert "concatenation" in kinds(made.graph)
    assert_right(made, tmp_path)


def test_parts_of_an_inner_axis_are_moved(tmp_path: Path, tflite_builder: ModuleType) -> None:
    tree = Tree(tflite_builder)
    x = same(tree, "ABS", tree.add((2, 8, 16), **SCALE))
    parts = [same(tree, "RELU", part) for part in split(tree, x, 1, 2)]
    same(tree, "RELU", joined(tree, parts, 1))
    made = compiled(tree, tmp_path)
    assert {"slice", "concatenation"} <= kinds(made.graph)
    assert_right(made, tmp_path)


def test_what_is_stacked_is_written_where_it_ends_up(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    tree = Tree(tflite_builder)
    x = tree.add((1, 16), **SCALE)
    parts = tuple(same(tree, code, x) for code in ("ABS", "RELU", "RELU6"))
    stacked = tree.add((3, 1, 16), **SCALE)
    tree.apply("PACK", parts, stacked, "PackOptions", ValuesCount=3)
    same(tree, "RELU", stacked)
    made = compiled(tree, tmp_path)
    assert not kinds(made.graph) & MOVED
    assert_right(made, tmp_path)


def test_what_is_joined_with_more_than_it_makes_is_moved(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    """An input of the network, the same tensor twice, an output of the network."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 16), **SCALE)
    once = same(tree, "ABS", x)
    same(tree, "RELU", joined(tree, [once, x], 1))
    twice = same(tree, "RELU", x)
    same(tree, "RELU", joined(tree, [twice, twice], 1))
    made = compiled(tree, tmp_path)
    assert [op.kind for op in made.graph.operators].count("concatenation") == 2
    assert_right(made, tmp_path)


def test_a_view_never_costs_memory(tmp_path: Path, tflite_builder: ModuleType) -> None:
    """A row would keep a large image; what is joined late would be there from early on."""
    tree = Tree(tflite_builder)
    x = tree.add((1, 64, 64), **SCALE)
    row = tree.add((1, 1, 64), **SCALE)
    image = same(tree, "ABS", x)
    tree.apply("SLICE", (image, tree.numbers(0, 2, 0), tree.numbers(1, 1, 64)), row)
    large = image
    for _ in range(2):
        less = tree.add((1, 64, 64), **SCALE)
        large = tree.apply("SUB", (large, large), less, "SubOptions")
    sums = tree.add((1, 64), **SCALE)
    tree.apply("SUM", (large, tree.numbers(1)), sums, "ReducerOptions", KeepDims=False)
    wide = tree.add((1, 1, 64), **SCALE)
    tree.apply("RESHAPE", (sums, tree.numbers(1, 1, 64)), wide)
    same(tree, "RELU", joined(tree, [row, wide], 1))
    made = compiled(tree, tmp_path)
    assert "slice" in kinds(made.graph)
    assert_right(made, tmp_path)


def test_what_is_written_in_place_is_no_view_as_well(
    tmp_path: Path, tflite_builder: ModuleType
) -> None:
    """A slice that an accelerator cannot use as a view is moved to where a join has it."""
    tree = Tree(tflite_builder)
    x = tree.add((2, 1, 4, 3), **SCALE)
    halves = tuple(tree.add((1, 4, 3), **SCALE) for _ in range(2))
    tree.apply_to_several("UNPACK", (x,), halves, "UnpackOptions", Axis=-4, Num=2)
    stacked = tree.add((1, 1, 4, 3), **SCALE)
    tree.apply("PACK", (halves[1],), stacked, "PackOptions", ValuesCount=1)
    shares = tree.add((1, 4, 3), scales=(1 / 256,), zero_points=(-128,))
    tree.apply("SOFTMAX", (halves[1],), shares, "SoftmaxOptions", Beta=0.5)
    late = tree.apply("SUB", (x, x), tree.add((2, 1, 4, 3), **SCALE), "SubOptions")
    model = replace(tree.model(), outputs=(shares, stacked, late))
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    assert_right(compile_file(CHIPS[0], path, BuildOptions()), tmp_path)


def test_views_of_what_becomes_a_view_follow_it() -> None:
    """A first round made a view of the part, which only a second one finds to be a view itself."""
    grid = Quantization(scales=(0.1,), zero_points=(0,))

    def tensor(name: str, shape: tuple[int, ...], **fields: Any) -> Tensor:
        return Tensor(name=name, shape=shape, dtype="int8", quantization=grid, **fields)

    bounds = [
        Tensor(name=name, shape=(2,), dtype="int32", data=np.array(values, np.int32).tobytes())
        for name, values in (("begin", (4, 0)), ("size", (4, 4)))
    ]
    tensors = [tensor("x", (8, 4)), tensor("whole", (8, 4)), tensor("part", (4, 4))]
    tensors += [tensor("flat", (16,), view="part"), tensor("y", (16,)), tensor("z", (8, 4))]
    steps = [
        ("relu", ("x",), "whole"),
        ("slice", ("whole", "begin", "size"), "part"),
        ("relu", ("flat",), "y"),
        ("relu", ("whole",), "z"),
    ]
    operators = tuple(
        Operator(
            name=f"op{at}", kind=kind, inputs=reads, outputs=(made,), attributes={}, device="cpu"
        )
        for at, (kind, reads, made) in enumerate(steps)
    )
    graph = Graph("built", (*tensors, *bounds), operators, ("x",), ("y", "z"))
    viewed = with_views(graph, CHIPS[0]).by_name
    assert {name: (viewed[name].view, viewed[name].offset) for name in ("part", "flat")} == {
        "part": ("whole", 16),
        "flat": ("whole", 16),
    }
