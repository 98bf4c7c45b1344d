# SPDX-License-Identifier: Apache-2.0
"""Float ONNX networks of common shapes, with random weights, for onnxruntime to quantise."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

Array = NDArray[Any]


class Network:
    """A float network under construction; its input is `x`."""

    def __init__(self, shape: Sequence[int], seed: int = 0) -> None:
        self.shape = tuple(shape)
        self.rng = np.random.default_rng(seed)
        self.output = ""
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def constant(self, values: Any, dtype: str = "float32") -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def normal(self, *shape: int, scale: float = 1.0) -> str:
        return self.constant(self.rng.normal(0, scale, shape))

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"value{len(self._nodes)}"
        self._nodes.append(helper.make_node(op, inputs, [name], f"{op}_{name}", **attributes))
        return name

    def conv(
        self, x: str, depth: int, outputs: int, kernel: int = 3, stride: int = 1, group: int = 1
    ) -> str:
        """Add a convolution with padding and a bias."""
        taps = depth // group * kernel * kernel
        scale = float(np.sqrt(2 / taps))
        weights = self.normal(outputs, depth // group, kernel, kernel, scale=scale)
        bias = self.normal(outputs, scale=0.1)
        pads, size = [kernel // 2] * 4, [kernel, kernel]
        steps = [stride, stride]
        return self.node(
            "Conv", x, weights, bias, kernel_shape=size, strides=steps, pads=pads, group=group
        )

    def model(self, output: str) -> onnx.ModelProto:
        given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *self.shape[1:]])
        made = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(self._nodes, "network", [given], [made], self._constants)
        opsets = [helper.make_opsetid("", 17)]
        return onnx.shape_inference.infer_shapes(
            helper.make_model(graph, opset_imports=opsets, ir_version=9)
        )


def residual() -> tuple[Network, str]:
    n = Network((1, 3, 16, 16))
    first = n.node("Relu", n.conv("x", 3, 8, stride=2))
    second = n.conv(n.node("Relu", n.conv(first, 8, 8)), 8, 8)
    made = n.node("Relu", n.node("Add", first, second))
    made = n.node("MaxPool", made, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    made = n.node("Flatten", n.node("GlobalAveragePool", n.node("Relu", n.conv(made, 8, 16))))
    return n, n.node("Gemm", made, n.normal(10, 16, scale=0.3), n.normal(10), transB=1)


def mobile() -> tuple[Network, str]:
    """Depthwise convolutions, x * sigmoid(x), squeeze and excitation."""
    n = Network((1, 3, 16, 16))

    def swish(x: str) -> str:
        return n.node("Mul", x, n.node("Sigmoid", x))

    first = swish(n.conv("x", 3, 8, stride=2))
    made = swish(n.conv(swish(n.conv(first, 8, 16, 1)), 16, 16, group=16))
    gate = n.node("Relu", n.conv(n.node("GlobalAveragePool", made), 16, 4, 1))
    gate = n.node("Sigmoid", n.conv(gate, 4, 16, 1))
    made = n.node("Add", n.conv(n.node("Mul", made, gate), 16, 8, 1), first)
    made = n.node("Clip", made, n.constant(0.0), n.constant(6.0))
    made = n.node("ReduceMean", made, axes=[2, 3], keepdims=0)
    return n, n.node("Softmax", n.node("Gemm", made, n.normal(8, 10), n.normal(10)), axis=-1)


def sequence() -> tuple[Network, str]:
    """Convolutions along one dimension, as for sounds."""
    n = Network((1, 10, 48))
    made = n.node("Conv", "x", n.normal(16, 10, 5, scale=0.2), n.normal(16), pads=[2, 2])
    made = n.node("MaxPool", n.node("Relu", made), kernel_shape=[2], strides=[2])
    made = n.node("Conv", made, n.normal(16, 16, 3, scale=0.2), pads=[2, 2], dilations=[2])
    made = n.node("AveragePool", n.node("Relu", made), kernel_shape=[4], strides=[4])
    made = n.node("MatMul", n.node("Flatten", made), n.normal(96, 8, scale=0.1))
    return n, n.node("LogSoftmax", n.node("Add", made, n.normal(8)))


def attention() -> tuple[Network, str]:
    """A block of self-attention with two heads."""
    n = Network((1, 8, 16))
    heads = n.constant([0, 8, 2, 8], "int64")

    def projected(order: list[int]) -> str:
        made = n.node("Add", n.node("MatMul", "x", n.normal(16, 16, scale=0.25)), n.normal(16))
        return n.node("Transpose", n.node("Reshape", made, heads), perm=order)

    query, key, value = (projected(order) for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
    shares = n.node("Div", n.node("MatMul", query, key), n.constant(np.sqrt(8)))
    made = n.node("MatMul", n.node("Softmax", shares, axis=-1), value)
    made = n.node("Transpose", made, perm=[0, 2, 1, 3])
    made = n.node("Reshape", made, n.constant([0, 8, 16], "int64"))
    made = n.node("Add", "x", n.node("MatMul", made, n.normal(16, 16, scale=0.25)))
    made = n.node("ReduceMean", made, axes=[1], keepdims=0)
    return n, n.node("Gemm", made, n.normal(16, 5, scale=0.3))


NETWORKS: dict[str, Callable[[], tuple[Network, str]]] = {
    "attention": attention,
    "mobile": mobile,
    "residual": residual,
    "sequence": sequence,
}

WAYS = {
    "qdq int8 per channel": (QuantFormat.QDQ, QuantType.QInt8, QuantType.QInt8, True),
    "qdq uint8": (QuantFormat.QDQ, QuantType.QUInt8, QuantType.QUInt8, False),
    "qoperator int8": (QuantFormat.QOperator, QuantType.QInt8, QuantType.QInt8, False),
    "qoperator uint8": (QuantFormat.QOperator, QuantType.QUInt8, QuantType.QInt8, True),
}


def sample(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).normal(0, 1, shape).astype(np.float32)


class Samples(CalibrationDataReader):  # type: ignore[misc]
    """What a network is calibrated with."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._samples: Iterator[dict[str, Array]] = ({"x": sample(shape, n)} for n in range(8))

    def get_next(self) -> dict[str, Array] | None:
        return next(self._samples, None)


def quantized(name: str, way: str, folder: Path) -> tuple[bytes, tuple[int, ...]]:
    """Return a network as onnxruntime quantises it, and the extents of its input."""
    (network, output), (form, activations, weights, channels) = NETWORKS[name](), WAYS[way]
    source, target = folder / "float.onnx", folder / "quantised.onnx"
    onnx.save(network.model(output), source)
    quantize_static(
        source,
        target,
        Samples(network.shape),
        quant_format=form,
        activation_type=activations,
        weight_type=weights,
        per_channel=channels,
    )
    return target.read_bytes(), network.shape
