# SPDX-License-Identifier: Apache-2.0
"""What few files have and TFLM runs: nothing at all as an operand, a filter with a zero point, …"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded
from tests.operator_samples import SCALE, Tree

from atoll.cli import main
from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Graph
from atoll.ops import reference

Compare = Callable[..., None]
Oracle = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
QUANTIZED = ("int8", "int16")


def load(model: Any, builder: ModuleType, folder: Path) -> Graph:
    path = folder / "model.tflite"
    path.write_bytes(builder.write(model))
    return load_tflite(path)


def grid(rng: np.random.Generator, dtype: str) -> dict[str, Any]:
    """Draw how a tensor is quantised."""
    zero = int(rng.integers(-128, 128)) if dtype == "int8" else 0
    low, high = (-2.5, -1) if dtype == "int8" else (-4.5, -3)
    scale = float(np.float32(10 ** rng.uniform(low, high)))
    return {"dtype": dtype, "scales": (scale,), "zero_points": (zero,)}


def drawn_shape(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(int(size) for size in rng.integers(1, 5, int(rng.integers(1, 5))))


def nothing(tree: Tree, *shape: int, **fields: Any) -> int:
    """Add a constant without elements, with a buffer of size 0 or with none."""
    fields = {"dtype": "int32", **fields}
    return tree.add(shape, data=np.zeros(shape, fields["dtype"]), **fields)


@seeded(50)
def test_a_part_that_joins_nothing(
    seed: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["int8", "int16", "int32", "int64"]))
    like: dict[str, Any] = grid(rng, dtype) if dtype in QUANTIZED else {"dtype": dtype}
    tree, shape = Tree(tflite_builder), drawn_shape(rng)
    axis = int(rng.integers(len(shape)))
    empty = (*shape[:axis], 0, *shape[axis + 1 :])
    x = tree.add(shape, **like)
    parts = [x, *(nothing(tree, *empty, **like) for _ in range(int(rng.integers(1, 3))))]
    if rng.random() < 0.5:
        parts.append(x)
    rng.shuffle(parts)
    extent = shape[axis] * parts.count(x)
    result = tree.add((*shape[:axis], extent, *shape[axis + 1 :]), **like)
    tree.apply("CONCATENATION", tuple(parts), result, "ConcatenationOptions", Axis=axis)
    equals_tflm(tree.model(), rng)


@pytest.mark.parametrize("code", ["MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"])
@seeded(30)
def test_a_reduction_without_axes(
    seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    scaled = code in ("MEAN", "SUM")
    dtype = str(rng.choice(QUANTIZED)) if scaled else "int8"
    tree, shape, like = Tree(tflite_builder), drawn_shape(rng), grid(rng, dtype)
    operands = (tree.add(shape, **like), nothing(tree, 0))
    result = tree.add(shape, **(grid(rng, dtype) if scaled else like))
    tree.apply(code, operands, result, "ReducerOptions", KeepDims=bool(rng.integers(2)))
    equals_tflm(tree.model(), rng)


@pytest.mark.parametrize(
    ("code", "empties", "table"),
    [
        ("RESHAPE", [(0,)], ""),
        ("SLICE", [(0,), (0,)], ""),
        ("MIRROR_PAD", [(0, 2)], "MirrorPadOptions"),
    ],
)
def test_what_is_done_to_a_scalar(
    code: str,
    empties: list[tuple[int, ...]],
    table: str,
    tflite_builder: ModuleType,
    equals_tflm: Compare,
) -> None:
    tree = Tree(tflite_builder)
    x = tree.add((1, 1) if code == "RESHAPE" else (), **SCALE)
    operands = (x, *(nothing(tree, *shape) for shape in empties))
    scalar = tree.apply(code, operands, tree.add((), **SCALE), table)
    tree.apply("RELU6", (scalar,), tree.add((), **SCALE))
    equals_tflm(tree.model(), np.random.default_rng(1))


def test_results_without_elements_are_called_so(tflite_builder: ModuleType, tmp_path: Path) -> None:
    tree = Tree(tflite_builder)
    x = tree.add((1, 0, 8), **SCALE)
    tree.apply("RELU", (x,), tree.add((1, 0, 8), **SCALE))
    with pytest.raises(ModelError) as caught:
        load(tree.model(), tflite_builder, tmp_path)
    messages = [fault.message for fault in caught.value.faults]
    assert len(messages) == 2
    assert all("has shape [1, 0, 8], and so no elements" in each for each in messages)


@pytest.mark.parametrize("dtypes", [("int8", "int16"), ("int16", "int8")])
@seeded(50)
def test_between_8_and_16_bits_by_real_numbers(
    seed: int, dtypes: tuple[str, str], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """All values of the operand, as TFLM dequantises and quantises them in 24 bits."""
    rng = np.random.default_rng(seed)
    limits = np.iinfo(dtypes[0])
    every = np.arange(limits.min, limits.max + 1, dtype=dtypes[0])
    tree, (source, target) = Tree(tflite_builder), (grid(rng, dtype) for dtype in dtypes)
    x = tree.add(every.shape, **source)
    real = tree.apply("DEQUANTIZE", (x,), tree.add(every.shape, dtype="float32"))
    tree.apply("QUANTIZE", (real,), tree.add(every.shape, **target))
    equals_tflm(tree.model(), rng, [every])


@seeded(50)
def test_a_real_input_that_is_quantised_in_several_ways(
    seed: int, tflite_builder: ModuleType, tflm: Oracle, tmp_path: Path
) -> None:
    """There is an input for each way; equal ways share one."""
    rng = np.random.default_rng(seed)
    shape, tree = drawn_shape(rng), Tree(tflite_builder)
    ways = [grid(rng, "int8") for _ in range(2)]
    ways.append(ways[0] if seed % 2 else grid(rng, "int8"))
    x = tree.add(shape, dtype="float32")
    made = [tree.apply("QUANTIZE", (x,), tree.add(shape, **way)) for way in ways]
    summed = tree.add(shape, **SCALE)
    tree.apply("ADD", (made[0], made[1]), summed, "AddOptions")
    tree.apply("ADD", (summed, made[2]), tree.add(shape, **SCALE), "AddOptions")
    model = tree.model()
    graph = load(model, tflite_builder, tmp_path)
    assert graph.inputs == ("t0", "t0_2", "t0_3")[: 2 + (seed % 2 == 0)]
    values = rng.normal(0, 2, shape).astype(np.float32)
    given = {}
    for name in graph.inputs:
        scaled = graph.tensor(name).quantization
        assert scaled is not None
        steps = (values / np.float32(scaled.scales[0])).astype(np.float64)
        away = np.sign(steps) * np.floor(np.abs(steps) + 0.5) + scaled.zero_points[0]
        given[name] = np.clip(away, -128, 127).astype(np.int8)
    result = reference.run(graph, given)[graph.outputs[0]]
    np.testing.assert_array_equal(result, tflm(tflite_builder.write(model), [values]))


@seeded(100)
def test_a_dense_filter_with_a_zero_point(
    seed: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(QUANTIZED))
    tree, like = Tree(tflite_builder), grid(rng, dtype)
    outputs, depth, rows = (int(size) for size in rng.integers(1, 12, 3))
    flat = bool(rng.integers(2))
    x = tree.add((rows, depth) if flat else (1, rows, 1, depth), **like)
    reach = int(rng.choice([20, 127]))
    data = rng.integers(-reach, reach + 1, (outputs, depth)).astype(np.int8)
    scale, zero = float(np.float32(10 ** rng.uniform(-3, -1))), int(rng.integers(-100, 101))
    weights = tree.add(data.shape, data=data, scales=(scale,), zero_points=(zero,))
    sums = float(np.float32(like["scales"][0] * scale))
    kept: tuple[int, ...] = (x, weights)
    if rng.integers(2):
        added = rng.integers(-9000, 9001, outputs)
        wide = str(rng.choice(["int32", "int64"])) if dtype == "int16" else "int32"
        fields: dict[str, Any] = {"dtype": wide, "scales": (sums,), "zero_points": (0,)}
        kept = (*kept, tree.add((outputs,), data=added.astype(wide), **fields))
    step = sums * 255 * 40 * depth**0.5 / (1 if dtype == "int8" else 256)
    made = {**grid(rng, dtype), "scales": (float(np.float32(step)),)}
    shape = (rows, outputs) if flat else (1, rows, 1, outputs)
    options = {"FusedActivationFunction": int(rng.integers(4)), "KeepNumDims": not flat}
    tree.apply("FULLY_CONNECTED", kept, tree.add(shape, **made), "FullyConnectedOptions", **options)
    equals_tflm(tree.model(), rng)


def test_zero_points_of_several_scales_are_refused(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    """TFLM does not heed them."""
    tree = Tree(tflite_builder)
    x, data = tree.add((1, 4), **SCALE), np.ones((3, 4), np.int8)
    weights = tree.add((3, 4), data=data, scales=(0.1,) * 3, zero_points=(1, 0, 0))
    result = tree.add((1, 3), **SCALE)
    tree.apply("FULLY_CONNECTED", (x, weights), result, "FullyConnectedOptions")
    with pytest.raises(ModelError, match="has a zero point other than 0"):
        load(tree.model(), tflite_builder, tmp_path)


def test_a_zero_point_that_no_int8_has_is_refused(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    tree = Tree(tflite_builder)
    x, data = tree.add((1, 4), **SCALE), np.ones((3, 4), np.int8)
    weights = tree.add((3, 4), data=data, scales=(0.1,), zero_points=(300,))
    result = tree.add((1, 3), **SCALE)
    tree.apply("FULLY_CONNECTED", (x, weights), result, "FullyConnectedOptions")
    with pytest.raises(ModelError, match="has a zero point outside -128 to 127"):
        load(tree.model(), tflite_builder, tmp_path)


@pytest.mark.parametrize("activation", range(4))
@pytest.mark.parametrize("code", ["ADD", "SUB", "MUL"])
def test_numbers_with_an_activation(
    code: str, activation: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """TFLM leaves it out of an ADD."""
    tree, rng = Tree(tflite_builder), np.random.default_rng(activation)
    x, data = tree.add((2, 9), dtype="int32"), rng.integers(-9, 9, (2, 9)).astype(np.int32)
    operands = (x, tree.add((2, 9), dtype="int32", data=data))
    result, table = tree.add((2, 9), dtype="int32"), f"{code.capitalize()}Options"
    tree.apply(code, operands, result, table, FusedActivationFunction=activation)
    equals_tflm(tree.model(), rng, [rng.integers(-12, 12, (2, 9)).astype(np.int32)])


@pytest.mark.parametrize("kind", [("ADD", 3), ("ADD", 0), ("SUB", 1)])
def test_a_note_says_that_an_activation_is_left_out(
    kind: tuple[str, int], tflite_builder: ModuleType, tmp_path: Path, capsys: Capture
) -> None:
    code, activation = kind
    tree = Tree(tflite_builder)
    x, data = tree.add((2, 9), dtype="int32"), np.arange(18, dtype=np.int32).reshape(2, 9)
    operands = (x, tree.add((2, 9), dtype="int32", data=data))
    result, table = tree.add((2, 9), dtype="int32"), f"{code.capitalize()}Options"
    tree.apply(code, operands, result, table, FusedActivationFunction=activation)
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(tree.model()))
    words = ["lagoon", str(path)]
    run = ["run", *words, "--cpu", "native", "--accelerator", "model"]
    for command in (run, ["estimate", *words]):
        assert main([*command, "--json"]) == 0
        notes = " ".join(json.loads(capsys.readouterr().out)["notes"])
        left_out = code == "ADD" and activation != 0
        assert ("leaves out its activation 'relu" in notes) == left_out, notes
    assert main(run) == 0
    assert ("leaves out its activation 'relu" in capsys.readouterr().out) == left_out


@pytest.mark.parametrize("multiplier", [1, 2, 3])
def test_a_depth_multiplier_of_0_is_inferred(
    multiplier: int, tflite_builder: ModuleType, tflm: Oracle, tmp_path: Path
) -> None:
    """As TFLite does; TFLM makes nothing then, so it is asked with the multiplier."""
    rng = np.random.default_rng(multiplier)

    def network(said: int) -> Any:
        tree = Tree(tflite_builder)
        outputs = 4 * multiplier
        x, weights = tree.add((1, 5, 5, 4), **SCALE), tree.weights((1, 3, 3, outputs))
        options = {"StrideH": 1, "StrideW": 1, "DepthMultiplier": said}
        result = tree.add((1, 5, 5, outputs), **SCALE)
        tree.apply("DEPTHWISE_CONV_2D", (x, weights), result, "DepthwiseConv2DOptions", **options)
        return tree.model()

    graph = load(network(0), tflite_builder, tmp_path)
    assert graph.operators[0].attributes["depth_multiplier"] == multiplier
    x = rng.integers(-128, 128, (1, 5, 5, 4)).astype(np.int8)
    found = reference.run(graph, {graph.inputs[0]: x})[graph.outputs[0]]
    expected = tflm(tflite_builder.write(network(multiplier)), [x])
    np.testing.assert_array_equal(found, expected)


def test_functions_that_nobody_calls(tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    model = relu(tflite_builder)
    alone = replace(model, others=(model, model))
    equals_tflm(replace(alone, signatures=(("run", 0),)), np.random.default_rng(1))
    equals_tflm(alone, np.random.default_rng(1))


def test_a_function_that_a_signature_names_is_to_be_chosen(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    model = relu(tflite_builder)
    named = replace(model, others=(model,), signatures=(("run", 1),))
    with pytest.raises(ModelError, match="put #run behind the file's name"):
        load(named, tflite_builder, tmp_path)


def relu(builder: ModuleType) -> Any:
    tree = Tree(builder)
    x = tree.add((3, 4), **SCALE)
    tree.apply("RELU", (x,), tree.add((3, 4), **SCALE))
    return tree.model()


def test_an_input_that_is_declared_twice(
    tflite_builder: ModuleType, tflm: Oracle, tmp_path: Path
) -> None:
    """It is one tensor, which has what is set last."""
    model = relu(tflite_builder)
    model = replace(model, inputs=model.inputs * 2)
    graph = load(model, tflite_builder, tmp_path)
    assert len(graph.inputs) == 1
    first, last = np.random.default_rng(1).integers(-128, 128, (2, 3, 4)).astype(np.int8)
    found = reference.run(graph, {graph.inputs[0]: last})[graph.outputs[0]]
    np.testing.assert_array_equal(found, tflm(tflite_builder.write(model), [first, last]))


@seeded(20)
def test_a_network_without_inputs(
    seed: int, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    tree, rng = Tree(tflite_builder), np.random.default_rng(seed)
    data = rng.integers(-128, 128, (2, 3, 4)).astype(np.int8)
    left, right = (tree.add((3, 4), data=each, **SCALE) for each in data)
    summed = tree.apply("ADD", (left, right), tree.add((3, 4), **SCALE), "AddOptions")
    tree.apply("LOGISTIC", (summed,), tree.add((3, 4), scales=(1 / 256,), zero_points=(-128,)))
    equals_tflm(replace(tree.model(), inputs=()), rng)
