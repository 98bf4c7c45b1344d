# SPDX-License-Identifier: Apache-2.0
"""The front end of ONNX: what is recognised, read, folded, kept in place, and at the edges."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tests.onnx_builder import Builder, Grid, loaded, run_atoll, run_onnxruntime, steps_between
from tests.onnx_cases import CASES, channels_last

from atoll.diagnostics.errors import ModelError
from atoll.frontend.onnx import layout
from atoll.frontend.onnx.recognise import is_onnx
from atoll.frontend.onnx.settling import settle_file
from atoll.frontend.onnx.worker import settler
from atoll.frontend.registry import load_network, read_source
from atoll.ir.graph import Graph
from atoll.ops import reference

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits"


def kinds(path: Path) -> Counter[str]:
    return Counter(op.kind for op in loaded(path.read_bytes()).operators)


def built(b: Builder, outputs: list[str], path: Path) -> Graph:
    path.write_bytes(b.model(outputs))
    return loaded(path.read_bytes())


def test_formats_are_told_apart_by_content(tmp_path: Path) -> None:
    for source, suffix in (("digits_qdq.onnx", ".onnx"), ("digits_int8.tflite", ".tflite")):
        for name in ("a.onnx", "a.tflite", "a"):
            path = tmp_path / name
            path.write_bytes((DIGITS / source).read_bytes())
            assert is_onnx(path) is (suffix == ".onnx")
            assert load_network(path).name == "a"
            assert read_source(path).suffix == suffix


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x08",
        b"\x08\x0a",
        b"\x3a\x02\x00",
        b"\x7a\x00",
        b"\x3a\x00\x0c",
        b"TFL3TFL3",
        b"\xff" * 40,
    ],
)
def test_what_is_no_model_is_not_recognised(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert not is_onnx(path)
    assert not is_onnx(tmp_path)


def test_a_graph_is_what_makes_a_model(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\x08\x0a\x3a\x00")
    assert is_onnx(path)


def test_without_the_package_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atoll.frontend.onnx.front_end.find_spec", lambda name: None)
    with pytest.raises(ModelError, match="package 'onnx' is not installed") as caught:
        load_network(DIGITS / "digits_qdq.onnx")
    (fault,) = caught.value.faults
    assert (fault.code, fault.remedy) == ("E059", "install it with: pip install 'atoll[onnx]'")


def test_tflite_files_need_no_package() -> None:
    code = (
        "import sys; from pathlib import Path; from atoll.frontend.registry import load_network;"
        f"load_network(Path({str(DIGITS / 'digits_int8.tflite')!r})); print('onnx' in sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert made.stdout == "False\n"


def test_a_file_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process itself takes longer to start."""
    monkeypatch.setattr("atoll.frontend.onnx.worker.SECONDS", 0.001)
    with pytest.raises(ModelError, match="takes the package 'onnx' more than"):
        load_network(DIGITS / "digits_qdq.onnx")


def test_one_process_settles_several_files() -> None:
    good, bad = (DIGITS / "digits_qdq.onnx").read_bytes(), b"\x3a\x00"
    with settler() as settle:
        first = settle(good)
        with pytest.raises(ModelError, match="has no nodes"):
            settle(bad)
        assert settle(good) == first == settle_file(good)


def network(b: Builder, channels: int) -> str:
    """A residual network with a pool, a flattened image and a dense layer."""
    x = b.x((1, channels, 8, 8))
    first = b.node("Conv", [x, b.weights((8, channels, 3, 3), 0), b.bias(8)], pads=[1] * 4)
    first = b.again(b.node("Relu", [first]))
    second = b.node("Conv", [first, b.weights((8, 1, 3, 3), 0)], pads=[1] * 4, group=8)
    second = b.again(b.node("Clip", [second, b.plain(0, "float32"), b.plain(6, "float32")]))
    made = b.again(b.node("Add", [first, second]))
    made = b.again(b.node("Concat", [made, second], axis=1))
    made = b.again(b.node("Mul", [made, b.again(b.node("Sigmoid", [made]))]))
    made = b.node("MaxPool", [made], kernel_shape=[2, 2], strides=[2, 2])
    made = b.again(b.node("Flatten", [made]))
    made = b.again(b.node("Gemm", [made, b.weights((10, 256), 0), b.bias(10)], transB=1))
    return b.node("Softmax", [made], axis=-1)


@pytest.mark.parametrize(("channels", "moves"), [(1, 0), (3, 1)])
def test_only_an_input_of_several_channels_is_transposed(
    channels: int, moves: int, tmp_path: Path
) -> None:
    b = Builder(channels)
    made = b.quantized(network(b, channels), Grid("int8", 1 / 256, -128))
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model([made]))
    assert kinds(path)["transpose"] == moves
    (ours,), (theirs,) = (run(b, path) for run in (ours_of, theirs_of))
    assert ours.argmax() == theirs.argmax()


def ours_of(b: Builder, path: Path) -> list[Any]:
    return run_atoll(path, b.feeds)


def theirs_of(b: Builder, path: Path) -> list[Any]:
    return run_onnxruntime(path.read_bytes(), b.feeds)


def test_globally_pooled_channels_need_no_transpose(tmp_path: Path) -> None:
    b = Builder()
    made = b.node("Conv", [b.x((1, 1, 6, 6)), b.weights((4, 1, 3, 3))])
    made = b.again(b.node("GlobalAveragePool", [b.again(made)]))
    made = b.node("Reshape", [made, b.plain([1, -1])])
    made = b.quantized(b.node("Gemm", [made, b.weights((4, 3))]), b.grid())
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model([made]))
    found = kinds(path)
    assert found == {"reshape": 2, "conv_2d": 1, "depthwise_conv_2d": 1, "fully_connected": 1}


@pytest.mark.parametrize(
    ("channels", "finer", "expected"),
    [
        (4, 0.0, {"average_pool_2d": 1}),
        (4, 3.0, {"depthwise_conv_2d": 1}),
        (200, 1.5, {"average_pool_2d": 1, "quantize": 1}),
        (200, 3.0, {"mean": 1}),
    ],
)
def test_how_an_image_is_averaged(
    channels: int, finer: float, expected: dict[str, int], tmp_path: Path
) -> None:
    """Two roundings are none too many where the result's grid is not much finer."""
    b = Builder(channels)
    grid = b.grid()
    x = channels_last(b, b.x((1, channels, 5, 6), grid))
    op = b.node("GlobalAveragePool", [x])
    out = Grid("int8", grid.scale / finer, 0) if finer else grid
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(op, out)], path).max() <= 1
    around = {"max_pool_2d", "reshape", "transpose"}
    found = kinds(path).items()
    assert {kind: count for kind, count in found if kind not in around} == expected


def test_channels_last_in_the_file_cost_nothing(tmp_path: Path) -> None:
    """Exporters of NHWC frameworks put Transpose around each convolution."""
    b = Builder()
    x = b.x((1, 6, 6, 3))
    made = b.node("Transpose", [x], perm=[0, 3, 1, 2])
    made = b.again(b.node("Conv", [made, b.weights((4, 3, 3, 3))]))
    made = b.node("Transpose", [made], perm=[0, 2, 3, 1])
    grid = b.suited(made)
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(made, grid)], path).max() <= 2
    assert kinds(path) == {"conv_2d": 1, "quantize": 1}


@pytest.mark.parametrize("name", ["shuffled channels", "DepthToSpace", "SpaceToDepth"])
def test_channels_that_change_places_are_moved_once(name: str, tmp_path: Path) -> None:
    b = Builder(1)
    made = channels_last(b, CASES[name](b))
    grid = next(iter(b.grids.values()))
    made = b.node("GlobalMaxPool", [b.real(b.quantized(made, grid))])
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model([b.quantized(made, grid)]))
    assert kinds(path)["transpose"] == 2  # of the input too


@pytest.mark.parametrize("opset", range(13, 26))
def test_opsets(opset: int, tmp_path: Path) -> None:
    b = Builder(opset, opset)
    made = b.quantized(network(b, 1), Grid("int8", 1 / 256, -128))
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model([made]))
    (ours,), (theirs,) = (run(b, path) for run in (ours_of, theirs_of))
    assert ours.argmax() == theirs.argmax()


def test_float_edges_and_an_open_batch(tmp_path: Path) -> None:
    b = Builder()
    grid, out = Grid("uint8", 0.05, 100), Grid("uint8", 0.1, 7)
    b.inputs.append(helper.make_tensor_value_info("the image", TensorProto.FLOAT, ["n", 2, 4, 4]))
    x = b.real(b.quantized("the image", grid))
    made = b.node("Conv", [x, b.weights((3, 2, 1, 1))])
    b.real(b.quantized(made, out))
    last = b.nodes[-1].output[0]
    graph = built(b, [last], tmp_path / "network.onnx")
    (name,), (result,) = graph.inputs, graph.outputs
    assert (name, graph.tensor(name).shape) == ("the_image", (1, 2, 4, 4))
    for tensor, scale, zero in ((name, 0.05, -28), (result, 0.1, -121)):
        found = graph.tensor(tensor)
        assert found.quantization is not None
        assert (found.dtype, found.quantization.zero_points) == ("int8", (zero,))
        assert found.quantization.scales == (float(np.float32(scale)),)


@pytest.mark.parametrize(
    ("op", "scale", "zero"),
    [("Softmax", 1 / 256, -128), ("LogSoftmax", 1 / 16, 127), ("Tanh", 1 / 128, 0)],
)
def test_float_shares_at_the_end(op: str, scale: float, zero: int, tmp_path: Path) -> None:
    """Quantisers may leave the last layer float; TFLite says what suits it."""
    b = Builder()
    made = b.node(op, [b.x((2, 10))])
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model([made]))
    graph = loaded(path.read_bytes())
    found = graph.tensor(graph.outputs[0]).quantization
    assert found is not None
    assert (found.scales, found.zero_points) == ((scale,), (zero,))
    (ours,), (theirs,) = (run(b, path) for run in (ours_of, theirs_of))
    expected = np.clip(np.rint(theirs / scale) + zero, -128, 127)
    assert np.abs(ours - expected).max() <= 1


def test_what_is_handed_out_has_bytes_of_its_own(tmp_path: Path) -> None:
    b = Builder()
    name = b.input((1, 4))
    made = b.quantized(b.node("Relu", [b.real(name)]), b.grids[name])
    same = b.node("Identity", [made])
    b.grids[same] = b.grids[made]
    graph = built(b, [name, made, same], tmp_path / "network.onnx")
    assert len({*graph.outputs, *graph.inputs}) == 4
    given = b.feeds[name]
    values = reference.run(graph, {graph.inputs[0]: given})
    first, second, third = (values[output] for output in graph.outputs)
    np.testing.assert_array_equal(first, given)
    np.testing.assert_array_equal(second, third)


def test_shapes_that_are_computed_at_run_time_are_folded(tmp_path: Path) -> None:
    """Exporters of PyTorch flatten with Shape, Gather, Unsqueeze and Concat."""
    b = Builder()
    x = b.x((2, 3, 4, 1))
    batch = b.node("Gather", [b.node("Shape", [x]), b.plain(0)], axis=0)
    batch = b.node("Unsqueeze", [batch, b.plain([0])])
    rest = b.node("Constant", [], value_ints=[-1])
    shape = b.node("Cast", [b.node("Concat", [batch, rest], axis=0)], to=TensorProto.INT64)
    made = b.node("Reshape", [x, shape])
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(made, b.suited(made))], path).max() <= 1
    assert {*kinds(path)} == {"reshape", "quantize"}


def test_weights_that_the_file_quantises_are_constants(tmp_path: Path) -> None:
    b = Builder()
    weights = b.plain(b.rng.normal(0, 1, (3, 2, 2, 2)), "float32")
    scales, zeros = b.plain([0.01, 0.02, 0.03], "float32"), b.plain([0, 0, 0], "int8")
    taps = b.node("QuantizeLinear", [weights, scales, zeros], axis=0)
    taps = b.node("DequantizeLinear", [taps, scales, zeros], axis=0)
    made = b.node("Conv", [b.x((1, 2, 5, 5)), taps])
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(made, b.suited(made))], path).max() <= 1


def test_integers_are_clamped_as_they_are(tmp_path: Path) -> None:
    """Brevitas clamps between QuantizeLinear and DequantizeLinear."""
    b = Builder()
    for dtype, low, high in (("int8", -127, 100), ("uint8", 3, 250)):
        name = b.input((1, 40), b.grid(dtype))
        bounds = [b.plain(low, dtype), b.plain(high, dtype)]
        made = b.node("Clip", [name, *bounds])
        b.grids[made] = b.grids[name]
        real = b.real(made)
        path = tmp_path / "network.onnx"
        assert steps_between(b, [b.quantized(real, b.grids[name])], path).max() == 0
        b.feeds.clear()
        b.inputs.clear()
        b.nodes.clear()


@pytest.mark.parametrize(
    ("options", "dtype"), [({}, "uint8"), ({"output_dtype": TensorProto.INT8}, "int8")]
)
def test_types_without_a_zero_point(options: dict[str, Any], dtype: str, tmp_path: Path) -> None:
    b = Builder(opset=23)
    name = b.input((1, 40), Grid(dtype, 0.02, 0))
    real = b.node("Relu", [b.node("DequantizeLinear", [name, b.plain(0.02, "float32")])])
    made = b.node("QuantizeLinear", [real, b.plain(0.03, "float32")], **options)
    b.grids[made] = Grid(dtype, 0.03, 0)
    assert steps_between(b, [made], tmp_path / "network.onnx").max() <= 1


def test_weights_of_four_bits(tmp_path: Path) -> None:
    b = Builder()
    values = b.rng.integers(-8, 8, (4, 3, 3, 3))
    tensor = helper.make_tensor("taps", TensorProto.INT4, values.shape, values.flatten().tolist())
    zeros = helper.make_tensor("zeros", TensorProto.INT4, [4], [0] * 4)
    b.constants += [tensor, zeros]
    scales = b.plain([0.1, 0.2, 0.3, 0.4], "float32")
    taps = b.node("DequantizeLinear", ["taps", scales, "zeros"], axis=0)
    made = b.node("Conv", [b.x((1, 3, 5, 5)), taps])
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(made, b.suited(made))], path).max() <= 1


def test_transposed_weights_are_constants(tmp_path: Path) -> None:
    b = Builder()
    weights = b.node("Transpose", [b.weights((5, 8), axis=0)], perm=[1, 0])
    made = b.node("MatMul", [b.x((2, 8)), weights])
    path = tmp_path / "network.onnx"
    assert steps_between(b, [b.quantized(made, b.suited(made))], path).max() <= 1
    assert kinds(path) == {"fully_connected": 1}


@pytest.mark.parametrize("keep", [0, 1])
def test_places_of_extremes_are_int32(keep: int, tmp_path: Path) -> None:
    b = Builder(keep)
    x = b.node("MaxPool", [b.x((1, 5, 3, 4))], kernel_shape=[1, 1])
    places = [b.node(op, [x], axis=1, keepdims=keep) for op in ("ArgMax", "ArgMin")]
    path = tmp_path / "network.onnx"
    path.write_bytes(b.model(places))
    for ours, theirs in zip(ours_of(b, path), theirs_of(b, path), strict=True):
        assert (ours.dtype, theirs.dtype) == (np.int32, np.int64)
        np.testing.assert_array_equal(ours, theirs)


def test_what_does_nothing_vanishes(tmp_path: Path) -> None:
    b = Builder()
    made = b.node("Dropout", [b.node("Identity", [b.x((1, 6))])])
    made = b.node("Cast", [made], to=TensorProto.FLOAT)
    made = b.quantized(b.node("Relu", [made]), b.grid())
    path = tmp_path / "network.onnx"
    assert steps_between(b, [made], path).max() <= 1
    assert sum(kinds(path).values()) == 1


def test_initialisers_may_be_listed_as_inputs(tmp_path: Path) -> None:
    b = Builder()
    made = b.quantized(b.node("Gemm", [b.x((1, 6)), b.weights((6, 2))]), b.grid())
    model = onnx.load_from_string(b.model([made]))
    for tensor in model.graph.initializer:
        info = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
        model.graph.input.append(info)
    path = tmp_path / "network.onnx"
    path.write_bytes(model.SerializeToString())
    assert len(loaded(path.read_bytes()).inputs) == 1


@pytest.mark.parametrize(
    ("old", "order", "new", "stays"),
    [
        ((2, 3, 4, 5), (0, 2, 3, 1), (2, 3, 20), True),
        ((2, 3, 4, 5), (0, 2, 3, 1), (2, 60), False),
        ((2, 3, 1, 1), (0, 2, 3, 1), (2, 3), True),
        ((2, 1, 4, 5), (0, 2, 3, 1), (2, 20), True),
        ((2, 6, 4, 5), (0, 2, 3, 1), (2, 3, 2, 4, 5), True),
        ((2, 3, 4), (0, 1, 2), (6, 4), True),
        ((2, 3, 4), (1, 0, 2), (6, 4), False),
        ((1, 1), (1, 0), (), True),
        ((1,), (0,), (1, 1, 1), True),
    ],
)
def test_orders_of_what_is_reshaped(
    old: tuple[int, ...], order: tuple[int, ...], new: tuple[int, ...], stays: bool
) -> None:
    found = layout.reshape(old, order, new)
    assert (found is not None) is stays
    if found is not None:
        values = np.arange(np.prod(old)).reshape(old)
        stored = values.transpose(order).reshape(layout.permute(new, found))
        np.testing.assert_array_equal(stored.transpose(np.argsort(found)), values.reshape(new))
