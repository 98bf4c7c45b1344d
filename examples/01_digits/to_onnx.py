# SPDX-License-Identifier: Apache-2.0
"""Write the digits network as ONNX, as exporters do: NCHW, QuantizeLinear and DequantizeLinear.

Run from the checkout as ``python examples/01_digits/to_onnx.py [FILE]``; needs the extra `onnx`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import atoll

HERE = Path(__file__).parent
DIGITS = HERE / "digits_int8.tflite"
OPSET = 21
CHANNELS_FIRST = (0, 3, 1, 2)


class Writer:
    """Collects nodes and constants; the values of the network are named as its tensors."""

    def __init__(self, graph: atoll.Graph) -> None:
        self._graph = graph
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def constant(self, name: str, values: Any) -> str:
        """Add a constant."""
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        """Add a node and return its result."""
        self.nodes.append(helper.make_node(op, inputs, [output], f"{op}_{output}", **attributes))
        return output

    def parameters(self, tensor: atoll.Tensor) -> list[str]:
        """Add the scale and the zero point of a tensor."""
        assert tensor.quantization is not None
        scales, points = tensor.quantization.scales, tensor.quantization.zero_points
        shape = len(scales) if len(scales) > 1 else ()
        dtype = tensor.dtype
        return [
            self.constant(f"{tensor.name}_scale", np.array(scales, np.float32).reshape(shape)),
            self.constant(f"{tensor.name}_zero", np.array(points, dtype).reshape(shape)),
        ]

    def real(self, tensor: atoll.Tensor, values: Any = None) -> str:
        """Dequantise a result once, or a constant with its channels in front."""
        made = f"{tensor.name}_real"
        if any(made in node.output for node in self.nodes):
            return made
        if tensor.data is not None:
            self.constant(tensor.name, values)
        operands = [tensor.name, *self.parameters(tensor)]
        return self.node("DequantizeLinear", operands, made, axis=0)

    def quantized(self, real: str, tensor: atoll.Tensor) -> None:
        """Quantise a real result."""
        self.node("QuantizeLinear", [real, *self.parameters(tensor)], tensor.name)

    def operator(self, op: atoll.Operator, source: str) -> str:
        """Add an operator between its DequantizeLinear and its QuantizeLinear."""
        x, *others = (tensor for tensor in self._graph.operands(op) if tensor is not None)
        (output,) = self._graph.results(op)
        inputs = [self.real(x)]
        if op.kind in ("conv_2d", "depthwise_conv_2d"):
            order = (3, 0, 1, 2) if op.kind == "depthwise_conv_2d" else CHANNELS_FIRST
            inputs.append(self.real(others[0], others[0].array.transpose(order)))
        elif op.kind == "fully_connected":
            height, width, channels = self._graph.tensor(source).shape[1:]
            filters = others[0].array.reshape(-1, height, width, channels)
            rows = filters.transpose(CHANNELS_FIRST).reshape(len(filters), -1)
            inputs.append(self.real(others[0], rows))
        elif op.kind == "add":
            inputs.append(self.real(others[0]))
        if len(others) > 1:
            inputs.append(self.real(others[1], others[1].array))
        made = self.node(*_node(op), inputs, f"{output.name}_sum", **_attributes(op, output))
        if op.attributes.get("activation") == "relu":
            made = self.node("Relu", [made], f"{output.name}_relu")
        self.quantized(made, output)
        return output.name


def _node(op: atoll.Operator) -> tuple[str]:
    names = {
        **{"conv_2d": "Conv", "depthwise_conv_2d": "Conv", "add": "Add", "softmax": "Softmax"},
        **{"average_pool_2d": "AveragePool", "reshape": "Flatten", "fully_connected": "Gemm"},
    }
    return (names[op.kind],)


def _attributes(op: atoll.Operator, output: atoll.Tensor) -> dict[str, Any]:
    if op.kind == "fully_connected":
        return {"transB": 1}
    if "stride_h" not in op.attributes:
        return {}
    sides = ("top", "left", "bottom", "right")
    found: dict[str, Any] = {
        "strides": [op.integer("stride_h"), op.integer("stride_w")],
        "pads": [op.integer(f"pad_{side}") for side in sides],
    }
    if op.kind == "average_pool_2d":
        return found | {"kernel_shape": [op.integer("filter_h"), op.integer("filter_w")]}
    return found | {"group": output.shape[3] if op.kind == "depthwise_conv_2d" else 1}


def model() -> onnx.ModelProto:
    """Return the digits network."""
    graph = atoll.load_network(DIGITS).graph
    writer, image = Writer(graph), graph.tensor(graph.inputs[0])
    writer.quantized("pixels", image)
    source = image.name
    for op in graph.operators:
        image_made = writer.operator(op, source)
        source = op.inputs[0] if op.kind == "reshape" else image_made
    output = graph.tensor(graph.outputs[0])
    shares = writer.real(output)
    pixels = [image.shape[axis] for axis in CHANNELS_FIRST]
    made = helper.make_graph(
        writer.nodes,
        "digits",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["batch", *pixels[1:]])],
        [helper.make_tensor_value_info(shares, TensorProto.FLOAT, ["batch", *output.shape[1:]])],
        list(writer.constants.values()),
    )
    opsets = [helper.make_opsetid("", OPSET)]
    return helper.make_model(made, opset_imports=opsets, producer_name="atoll", ir_version=10)


if __name__ == "__main__":
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "digits_qdq.onnx"
    path.write_bytes(model().SerializeToString(deterministic=True))
