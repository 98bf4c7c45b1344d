"""Write the broken ONNX files of this folder: one small model, one fault each.

Run from the checkout as ``python -m tests.bad.make_onnx [FOLDER]``.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper
from tests.onnx_builder import Builder, Grid
from tests.onnx_networks import Network

GRID = Grid("int8", 0.05, -3)
Change = Callable[[onnx.ModelProto], None]


def good(b: Builder, **attributes: Any) -> str:
    """Make a network that loads: convolution, pool, dense layer."""
    x = b.x((1, 2, 6, 6), GRID)
    taps = b.weights((4, 2, 3, 3), axis=0)
    made = b.real(b.quantized(b.node("Conv", [x, taps, b.bias(4)], **attributes), GRID))
    made = b.node("Flatten", [b.node("MaxPool", [made], kernel_shape=[2, 2])])
    return b.node("Gemm", [made, b.weights((36, 3))])


def model(make: Callable[[Builder], str] = good, opset: int = 21) -> onnx.ModelProto:
    """Quantise the result of `make`."""
    b = Builder(1, opset)
    return onnx.load_from_string(b.model([b.quantized(make(b), GRID)]))


def changed(change: Change, make: Callable[[Builder], str] = good) -> bytes:
    """Change the model before it is written."""
    made = model(make)
    change(made)
    return bytes(made.SerializeToString(deterministic=True))


def built(make: Callable[[Builder], str]) -> bytes:
    """Write a network whose layers are wrong."""
    return changed(lambda made: None, make)


def unchecked(make: Callable[[Builder], str]) -> bytes:
    """Write a network without a look at its shapes."""
    b = Builder(1)
    result = b.quantized(make(b), GRID)
    output = helper.make_tensor_value_info(result, TensorProto.INT8, None)
    graph = helper.make_graph(b.nodes, "built", b.inputs, [output], b.constants)
    opsets = [helper.make_opsetid("", b.opset)]
    made = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    return bytes(made.SerializeToString(deterministic=True))


def unsupported(b: Builder) -> str:
    """Mix operators that there are not with one that is wrong."""
    x = b.x((1, 2, 6, 6), GRID)
    first = b.real(b.quantized(b.node("Hardmax", [x]), GRID))
    b.real(b.quantized(b.node("BatchNormalization", [x, *[b.bias(2)] * 4]), GRID))
    second = b.real(b.quantized(b.node("Hardmax", [x]), GRID))
    third = b.real(b.quantized(b.node("HardSigmoid", [x], alpha=3.0), GRID))
    return b.node("Sum", [first, second, third])


def dynamic(b: Builder) -> str:
    """Quantise at run time."""
    x = b.node("Relu", [b.x((1, 8), GRID)])
    values, _, zero = b.many("DynamicQuantizeLinear", [x], 3)
    weights = b.plain(b.rng.integers(-9, 9, (8, 3)), "int8")
    return b.node("Cast", [b.node("MatMulInteger", [values, weights, zero])], to=1)


def between(b: Builder) -> str:
    """Leave the result of a layer float, and what is made of it."""
    made = b.node("Conv", [b.x((1, 2, 6, 6), GRID), b.weights((4, 2, 3, 3))])
    return b.node("Elu", [b.node("Softmax", [b.node("Abs", [made])])])


def coarse_between(b: Builder) -> str:
    """Multiply results of layers that nothing quantises, for a result much finer than they are."""
    x = b.x((1, 2, 6, 6), GRID)
    both = [b.node("Conv", [x, b.weights((4, 2, 3, 3))]) for _ in range(2)]
    made = b.node("Mul", [b.node("Mul", both), b.node("Mul", both)])
    return b.real(b.quantized(made, Grid("int8", 1e-5, 0)))


def wide_curve(b: Builder) -> str:
    """Want more of a curve of 16 bits than its table has."""
    x = b.x((1, 8), Grid("int16", 0.001, 0))
    return b.real(b.quantized(b.node("Tanh", [x]), Grid("int16", 1 / 32768, 0)))


def float_weights(b: Builder) -> str:
    taps = b.plain(b.rng.normal(0, 1, (4, 2, 3, 3)), "float32")
    return b.node("Conv", [b.x((1, 2, 6, 6), GRID), taps])


def bad_scale(b: Builder) -> str:
    return b.node("Relu", [b.x((1, 8), Grid("int8", float("nan"), 0))])


def coarse(b: Builder) -> str:
    """Need what no kind of operator has: more than 2^30 steps for one."""
    return b.node("Relu", [b.x((1, 8), Grid("int8", 1e9, 0))])


def wide_shares(b: Builder) -> str:
    """Want shares of 16 bits from an operand of 16 bits."""
    made = b.quantized(
        b.node("Softmax", [b.x((1, 8), Grid("int16", 0.001, 0))]), Grid("int16", 1 / 32768, 0)
    )
    return b.node("Relu", [b.real(made)])


def finer(b: Builder) -> str:
    """Resize by 3/2."""
    sizes = b.plain([1, 2, 60, 90])
    inputs = [b.x((1, 2, 40, 60), GRID), "", "", sizes]
    return b.node("Resize", inputs, mode="linear", coordinate_transformation_mode="asymmetric")


def reshaped(b: Builder) -> str:
    """Compute a shape of what is computed."""
    x = b.x((1, 8), GRID)
    shape = b.node("Cast", [b.node("ReduceSum", [x])], to=TensorProto.INT64)
    return b.node("Reshape", [x, b.node("Reshape", [shape, b.plain([1])])])


def open_extent(made: onnx.ModelProto) -> None:
    dimensions = made.graph.input[0].type.tensor_type.shape.dim
    dimensions[0].dim_param, dimensions[2].dim_param = "batch", "height"


def written_twice(made: onnx.ModelProto) -> None:
    made.graph.node[3].output[0] = made.graph.node[0].output[0]


def elsewhere(made: onnx.ModelProto) -> None:
    tensor = made.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    tensor.ClearField("raw_data")
    tensor.external_data.add(key="location", value="../secret")


def with_function(made: onnx.ModelProto) -> None:
    relu = helper.make_node("Relu", ["x"], ["y"])
    opsets = [helper.make_opsetid("", 21)]
    made.functions.append(helper.make_function("own", "Twice", ["x"], ["y"], [relu], opsets))


def no_nodes(made: onnx.ModelProto) -> None:
    del made.graph.node[:]


def no_quantization(made: onnx.ModelProto) -> None:
    """Take float input and output, and nothing that quantises."""
    del made.graph.node[:]
    name, result = made.graph.input[0].name, made.graph.output[0].name
    made.graph.node.append(helper.make_node("Relu", [name], [result]))
    made.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
    made.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT


def ends_onnx(b: Builder) -> str:
    """Make an extent below 0, with which the shape inference of `onnx` 1.23 ends its process."""
    made = b.node("MaxPool", [b.x((1, 2, 6, 6), GRID)], kernel_shape=[1, 99])
    operands = [b.plain(values) for values in ([1, 1], [3, 9], [1, 3])]
    return b.node("Slice", [made, *operands])


def two_grids(b: Builder) -> str:
    """Quantise a float input in two ways."""
    b.inputs.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8]))
    first, second = (b.real(b.quantized("x", Grid("int8", scale, 0))) for scale in (0.05, 0.06))
    return b.node("Add", [first, second])


def compared(b: Builder) -> str:
    """Compare values of 16 bits and of 8."""
    x = b.x((1, 8), Grid("int16", 0.001, 0))
    return b.node("Where", [b.node("Less", [x, b.x((1, 8), GRID)]), x, b.x((1, 8), GRID)])


def norm(b: Builder) -> str:
    """Want a norm with 16 bits."""
    made = b.node("ReduceL2", [b.x((1, 8), GRID), b.plain([1])])
    return b.real(b.quantized(made, Grid("int16", 0.0001, 0)))


def recurrent() -> bytes:
    """Leave an LSTM float, as onnxruntime's quantiser does, with a move in front of it."""
    n = Network((1, 5, 4))
    steps = n.node("Transpose", "x", perm=[1, 0, 2])
    made = n.node("LSTM", steps, n.normal(1, 12, 4), n.normal(1, 12, 3), hidden_size=3)
    return bytes(n.model(n.node("Relu", made)).SerializeToString(deterministic=True))


def few_bytes(made: onnx.ModelProto) -> None:
    tensor = max(made.graph.initializer, key=lambda each: len(each.raw_data))
    tensor.raw_data = tensor.raw_data[:-1]


FILES: dict[str, Callable[[], bytes]] = {
    "between": lambda: built(between),
    "compared": lambda: built(compared),
    "norm": lambda: built(norm),
    "coarse_between": lambda: built(coarse_between),
    "wide_curve": lambda: built(wide_curve),
    "bytes": lambda: changed(few_bytes),
    "coarse": lambda: built(coarse),
    "dynamic": lambda: built(dynamic),
    "empty": lambda: changed(no_nodes),
    "ends_onnx": lambda: unchecked(ends_onnx),
    "external": lambda: changed(elsewhere),
    "extent": lambda: changed(open_extent),
    "float": lambda: changed(no_quantization),
    "float_weights": lambda: built(float_weights),
    "function": lambda: changed(with_function),
    "opset": lambda: bytes(model(opset=11).SerializeToString(deterministic=True)),
    "pads": lambda: built(lambda b: good(b, pads=[0, 0, 0, -1])),
    "recurrent": recurrent,
    "resize": lambda: built(finer),
    "scale": lambda: built(bad_scale),
    "shape": lambda: built(reshaped),
    "shares": lambda: built(wide_shares),
    "truncated": lambda: built(good)[:-100],
    "two_grids": lambda: built(two_grids),
    "unsupported": lambda: built(unsupported),
    "written_twice": lambda: changed(written_twice),
}


def main() -> None:
    """Write all files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, make in FILES.items():
        (folder / f"model_{name}.onnx").write_bytes(make())


if __name__ == "__main__":
    main()
