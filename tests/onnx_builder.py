# SPDX-License-Identifier: Apache-2.0
"""Build small quantised ONNX networks, and compare what Atoll and onnxruntime make of them.

`Builder` adds operands and nodes and judges nothing. Its network has integers at the edges, so
that both sides are given the same bytes and hand out bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from atoll.frontend.onnx.graph import graph_of
from atoll.frontend.onnx.reader import read
from atoll.frontend.onnx.settling import settle_file
from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll_sim.oracle.onnx import with_unsigned_weights
from atoll_sim.oracle.onnx_runs import literal_session

Array = NDArray[Any]

_TYPES = {
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16,
    "float32": TensorProto.FLOAT,
    "int64": TensorProto.INT64,
}


@dataclass(frozen=True)
class Grid:
    """Type, scale and zero point of a tensor."""

    dtype: str
    scale: float
    zero: int

    def limits(self) -> tuple[int, int]:
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)


class Builder:
    """A network under construction; every method returns the name of a value."""

    def __init__(self, seed: int = 0, opset: int = 21) -> None:
        self.rng = np.random.default_rng(seed)
        self.opset = opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.feeds: dict[str, Array] = {}
        self.grids: dict[str, Grid] = {}
        self._count = 0

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def plain(self, values: Any, dtype: str = "int64") -> str:
        """Add a constant."""
        name = self.name("constant")
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def grid(self, dtype: str = "int8", scale: float = 0.0) -> Grid:
        """Draw a grid; int16 has zero point 0."""
        scale = scale or float(np.float32(self.rng.uniform(0.005, 0.08)))
        low, high = (0, 0) if dtype == "int16" else np.array(_limits(dtype)) // 2
        return Grid(dtype, scale, int(self.rng.integers(low, high + 1)))

    def parameters(self, grid: Grid) -> list[str]:
        return [
            self.plain(np.float32(grid.scale), "float32"),
            self.plain(np.array(grid.zero), grid.dtype),
        ]

    def input(self, shape: Sequence[int], grid: Grid | None = None) -> str:
        """Add an input of integers."""
        grid, name = grid or self.grid(), self.name("x")
        self.inputs.append(helper.make_tensor_value_info(name, _TYPES[grid.dtype], shape))
        low, high = grid.limits()
        self.feeds[name] = self.rng.integers(low, high + 1, shape).astype(grid.dtype)
        self.grids[name] = grid
        return name

    def real(self, name: str, grid: Grid | None = None) -> str:
        """Dequantise."""
        grid = grid or self.grids[name]
        return self.node("DequantizeLinear", [name, *self.parameters(grid)])

    def x(self, shape: Sequence[int], grid: Grid | None = None) -> str:
        """Add an input of integers that stand for real numbers."""
        return self.real(self.input(shape, grid))

    def weights(
        self, shape: Sequence[int], axis: int | None = None, dtype: str = "int8", zero: int = 0
    ) -> str:
        """Add weights of real numbers, with a scale for each place along an axis."""
        limits = _limits(dtype)
        values = self.rng.integers(limits[0] + 1, limits[1] + 1, shape).astype(dtype)
        count = () if axis is None else (shape[axis],)
        scales = self.plain(self.rng.uniform(0.002, 0.02, count), "float32")
        zeros = self.plain(np.full(count, zero), dtype)
        operands = [self.plain(values, dtype), scales, zeros]
        return self.node("DequantizeLinear", operands, axis=0 if axis is None else axis)

    def bias(self, count: int) -> str:
        """Add a float bias."""
        return self.plain(self.rng.normal(0, 1, count), "float32")

    def node(self, op: str, inputs: Sequence[str], domain: str = "", **attributes: Any) -> str:
        """Add a node of one result."""
        (made,) = self.many(op, inputs, 1, domain, **attributes)
        return made

    def many(
        self, op: str, inputs: Sequence[str], results: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node of several results."""
        names = [self.name("value") for _ in range(results)]
        made = helper.make_node(op, inputs, names, domain=domain, **attributes)
        self.nodes.append(made)
        return names

    def quantized(self, real: str, grid: Grid) -> str:
        """Quantise."""
        made = self.node("QuantizeLinear", [real, *self.parameters(grid)])
        self.grids[made] = grid
        return made

    def again(self, real: str, dtype: str = "int8") -> str:
        """Quantise and dequantise on a grid that suits the values."""
        return self.real(self.quantized(real, self.suited(real, dtype)))

    def suited(self, real: str, dtype: str = "int8") -> Grid:
        """Return a grid on which about all values of a result lie."""
        (values,) = run_onnxruntime(self.model([real]), self.feeds)
        low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
        stretch = self.rng.uniform(0.7, 1.3)
        if dtype == "int16":
            return Grid(dtype, float(np.float32(max(-low, high, 1e-3) * stretch / 32767)), 0)
        scale = float(np.float32(max(high - low, 1e-3) * stretch / 255))
        least, most = _limits(dtype)
        return Grid(dtype, scale, int(np.clip(round(least - low / scale), least, most)))

    def model(self, outputs: Sequence[str]) -> bytes:
        """Return the file; types and shapes of outputs are left open."""
        graph = helper.make_graph(self.nodes, "built", self.inputs, [], self.constants)
        for name in outputs:
            info = onnx.ValueInfoProto()
            info.name = name
            graph.output.append(info)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        inferred = onnx.shape_inference.infer_shapes(model)
        for each in inferred.graph.output:
            if not each.type.WhichOneof("value"):
                each.type.tensor_type.elem_type = _TYPES[self.grids[each.name].dtype]
        return bytes(inferred.SerializeToString())


def _limits(dtype: str) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def run_onnxruntime(model: bytes, feeds: Mapping[str, Array]) -> list[Array]:
    """Run a network literally: nothing is fused or left out, and no sum saturates."""
    exact = with_unsigned_weights(onnx.load_from_string(model))
    return list(literal_session(bytes(exact.SerializeToString())).run(None, dict(feeds)))


def signed(values: Array) -> Array:
    """Bring uint8 to int8, as the front end does."""
    return (values.astype(np.int16) - 128).astype(np.int8) if values.dtype == np.uint8 else values


def loaded(data: bytes) -> Graph:
    """Load a network as the front end does, but without the process that guards it."""
    return graph_of(read(settle_file(data)))


def run_atoll(path: Path, feeds: Mapping[str, Array]) -> list[Array]:
    """Run a network by the exact references."""
    graph = loaded(path.read_bytes())
    given = zip(graph.inputs, feeds.values(), strict=True)
    made = reference.run(graph, {name: signed(values) for name, values in given})
    return [np.asarray(made[name]) for name in graph.outputs]


def steps_between(builder: Builder, outputs: Sequence[str], path: Path) -> Array:
    """Return by how many steps each element of all outputs differs."""
    model = builder.model(outputs)
    path.write_bytes(model)
    ours = run_atoll(path, builder.feeds)
    theirs = [signed(values) for values in run_onnxruntime(model, builder.feeds)]
    assert [each.shape for each in ours] == [each.shape for each in theirs]
    differences = [
        np.abs(a.astype(np.int64) - b.astype(np.int64)).reshape(-1)
        for a, b in zip(ours, theirs, strict=True)
    ]
    return np.concatenate(differences)
