# SPDX-License-Identifier: Apache-2.0
"""Networks for tests that have each operator that `tests/tflite_samples.py` has not."""

from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

SCALE: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}
WEIGHTS: dict[str, Any] = {"scales": (0.01,), "zero_points": (0,)}


@dataclass
class Tree:
    """A network that grows from one image; what nothing reads becomes an output."""

    builder: ModuleType
    tensors: list[Any] = field(default_factory=list)
    operators: list[Any] = field(default_factory=list)

    def add(self, shape: tuple[int, ...], **fields: Any) -> int:
        """Add a tensor."""
        name = f"t{len(self.tensors)}"
        self.tensors.append(self.builder.Tensor(shape=shape, name=name, **fields))
        return len(self.tensors) - 1

    def numbers(self, *values: int, shape: tuple[int, ...] = (-1,)) -> int:
        """Add a constant such as axes."""
        data = np.array(values, np.int32).reshape(shape)
        return self.add(data.shape, dtype="int32", data=data)

    def weights(self, shape: tuple[int, ...]) -> int:
        """Add random weights."""
        data = np.random.default_rng(len(self.tensors)).integers(-127, 128, shape).astype(np.int8)
        return self.add(shape, data=data, **WEIGHTS)

    def apply(
        self, code: str, inputs: tuple[int, ...], result: int, table: str = "", **options: float
    ) -> int:
        """Add an operator and return its result."""
        self.apply_to_several(code, inputs, (result,), table, **options)
        return result

    def apply_to_several(
        self,
        code: str,
        inputs: tuple[int, ...],
        results: tuple[int, ...],
        table: str = "",
        **options: float | str,
    ) -> None:
        """Add an operator."""
        self.operators.append(
            self.builder.Operator(
                code=code, inputs=inputs, outputs=results, table=table, options=options
            )
        )

    def model(self) -> Any:
        """Return the network; its first tensor is the input."""
        read = {number for op in self.operators for number in op.inputs}
        made = (number for op in self.operators for number in op.outputs)
        outputs = [number for number in made if number not in read]
        return self.builder.Model(
            tensors=tuple(self.tensors),
            operators=tuple(self.operators),
            inputs=(0,),
            outputs=tuple(outputs),
        )


def windows_and_reductions(builder: ModuleType) -> Any:
    """Make a network of operators with windows, and of such that reduce."""
    tree = Tree(builder)
    x = tree.add((1, 6, 6, 8), **SCALE)
    grown = _windows(tree, x)
    _rows(tree, grown)
    for code in ("SUM", "REDUCE_MAX", "REDUCE_MIN"):
        axes, result = tree.numbers(1, -1), tree.add((1, 6), **SCALE)
        kept = tree.apply(code, (x, axes), result, "ReducerOptions", KeepDims=False)
        axis, place = tree.numbers(1), tree.add((1,), dtype="int32")
        tree.apply("ARG_MIN" if code == "SUM" else "ARG_MAX", (kept, axis), place)
    return tree.model()


def sixteen_bits(builder: ModuleType) -> Any:
    """Make a network of convolutions and a dense layer with 16-bit activations."""
    tree, rng = Tree(builder), np.random.default_rng(5)

    def made(*shape: int) -> int:
        return tree.add(shape, dtype="int16", scales=(0.002,), zero_points=(0,))

    def bias(channels: int, dtype: str) -> int:
        data = rng.integers(-(2**20), 2**20, channels).astype(dtype)
        return tree.add((channels,), dtype=dtype, scales=(2e-5,), zero_points=(0,), data=data)

    same: dict[str, float] = {"StrideH": 1, "StrideW": 1}
    x = tree.add((1, 6, 6, 3), dtype="int16", scales=(0.002,), zero_points=(0,))
    for dtype in ("int32", "int64"):
        operands = (x, tree.weights((4, 3, 3, tree.tensors[x].shape[3])), bias(4, dtype))
        x = tree.apply("CONV_2D", operands, made(1, 6, 6, 4), "Conv2DOptions", **same)
    deep = same | {"DepthMultiplier": 1}
    operands = (x, tree.weights((1, 3, 3, 4)), bias(4, "int64"))
    x = tree.apply(
        "DEPTHWISE_CONV_2D", operands, made(1, 6, 6, 4), "DepthwiseConv2DOptions", **deep
    )
    turned = (tree.numbers(1, 12, 12, 2), tree.weights((2, 2, 2, 4)), x)
    twice: dict[str, float] = {"StrideH": 2, "StrideW": 2, "FusedActivationFunction": 1}
    x = tree.apply("TRANSPOSE_CONV", turned, made(1, 12, 12, 2), "TransposeConvOptions", **twice)
    dense = (x, tree.weights((5, 288)), bias(5, "int32"))
    tree.apply("FULLY_CONNECTED", dense, made(1, 5), "FullyConnectedOptions")
    return tree.model()


def moves(builder: ModuleType) -> Any:
    """Make a network of operators that move elements."""
    tree = Tree(builder)
    x = tree.add((1, 6, 5, 8), **SCALE)
    tree.apply("TRANSPOSE", (x, tree.numbers(0, 3, 1, 2)), tree.add((1, 8, 6, 5), **SCALE))
    start, size = tree.numbers(0, 1, 2, 0), tree.numbers(1, 4, -1, 8)
    tree.apply("SLICE", (x, start, size), tree.add((1, 4, 3, 8), **SCALE))
    end, strides = tree.numbers(1, -9, 5, 7), tree.numbers(1, -2, 1, 2)
    back, masks = tree.numbers(0, -1, 0, 1), {"ShrinkAxisMask": 1, "EndMask": 4}
    taken = (x, back, end, strides)
    tree.apply("STRIDED_SLICE", taken, tree.add((3, 5, 3), **SCALE), "StridedSliceOptions", **masks)
    flat = tree.apply("SQUEEZE", (x,), tree.add((6, 5, 8), **SCALE))
    deep = tree.apply("EXPAND_DIMS", (flat, tree.numbers(2)), tree.add((6, 5, 1, 8), **SCALE))
    tree.apply("RELU", (deep,), tree.add((6, 5, 1, 8), **SCALE))
    _split(tree, flat)
    return tree.model()


def _split(tree: Tree, x: int) -> None:
    """Take [6, 5, 8] apart along each of its axes, and stack some of the parts."""
    halves = tuple(tree.add((6, 5, 4), **SCALE) for _ in range(2))
    tree.apply_to_several("SPLIT", (tree.numbers(-1), x), halves, "SplitOptions", NumSplits=2)
    rows = tuple(tree.add((extent, 5, 4), **SCALE) for extent in (2, 1, 3))
    tables = (tree.numbers(2, -1, 3), tree.numbers(0))
    options = {"NumSplits": 3}
    tree.apply_to_several("SPLIT_V", (halves[1], *tables), rows, "SplitVOptions", **options)
    columns = tuple(tree.add((6, 4), **SCALE) for _ in range(5))
    options = {"Axis": 1, "Num": 5}
    tree.apply_to_several("UNPACK", (halves[0],), columns, "UnpackOptions", **options)
    stacked = tree.add((6, 2, 4), **SCALE)
    options = {"Axis": 1, "ValuesCount": 2}
    tree.apply("PACK", (columns[1], columns[3]), stacked, "PackOptions", **options)


def picks(builder: ModuleType) -> Any:
    """Make a network of operators that read elements at places of their own."""
    tree = Tree(builder)
    x = tree.add((1, 6, 5, 8), **SCALE)
    nearest, aligned = "ResizeNearestNeighborOptions", {"AlignCorners": True}
    taller = tree.add((1, 12, 7, 8), **SCALE)
    tree.apply("RESIZE_NEAREST_NEIGHBOR", (x, tree.numbers(12, 7)), taller, nearest, **aligned)
    wider = tree.add((1, 12, 10, 2), **SCALE)
    tree.apply("DEPTH_TO_SPACE", (x,), wider, "DepthToSpaceOptions", BlockSize=2)
    deeper = tree.add((1, 6, 5, 8), **SCALE)
    tree.apply("SPACE_TO_DEPTH", (wider,), deeper, "SpaceToDepthOptions", BlockSize=2)
    block, pads = tree.numbers(2, 3), tree.numbers(1, 1, 0, 1, shape=(2, 2))
    batches = tree.add((6, 4, 2, 8), **SCALE)
    tree.apply("SPACE_TO_BATCH_ND", (deeper, block, pads), batches)
    image = tree.add((1, 6, 5, 8), **SCALE)
    tree.apply("BATCH_TO_SPACE_ND", (batches, block, pads), image)
    value = tree.add((), data=np.array(-128, np.int8), **SCALE)
    around = tree.numbers(0, 0, 1, 0, 2, 1, 0, 0, shape=(4, 2))
    padded = tree.apply("PADV2", (image, around, value), tree.add((1, 7, 8, 8), **SCALE))
    tree.apply("MIRROR_PAD", (padded, around), tree.add((1, 8, 11, 8), **SCALE), "MirrorPadOptions")
    tree.apply("BROADCAST_TO", (x, tree.numbers(3, 6, 5, 8)), tree.add((3, 6, 5, 8), **SCALE))
    tree.apply("TILE", (x, tree.numbers(1, 2, 1, 3)), tree.add((1, 12, 5, 24), **SCALE))
    tree.apply("SHAPE", (x,), tree.add((4,), dtype="int32"), "ShapeOptions", OutType=2)
    tree.apply("FILL", (tree.numbers(2, 3), value), tree.add((2, 3), **SCALE))
    places = tree.add((1, 6, 8), dtype="int32")
    tree.apply("ARG_MAX", (x, tree.numbers(2)), places)
    row = tree.apply("RESHAPE", (places,), tree.add((48,), dtype="int32"), "ReshapeOptions")
    tree.apply("BROADCAST_ARGS", (row, tree.numbers(3, 1)), tree.add((48,), dtype="int32"))
    tree.apply("ZEROS_LIKE", (padded,), tree.add((1, 7, 8, 8), **SCALE))
    chosen, along = tree.add((1, 6, 6, 8, 8), **SCALE), {"Axis": 2, "BatchDims": 1}
    tree.apply("GATHER", (x, places), chosen, "GatherOptions", **along)
    where = tree.numbers(0, 5, 4, 0, 0, 2, shape=(2, 3))
    tree.apply("GATHER_ND", (x, where), tree.add((2, 8), **SCALE))
    begin = tree.numbers(0, 9, 2)
    flat = tree.apply("RESHAPE", (x,), tree.add((6, 5, 8), **SCALE), "ReshapeOptions")
    part = tree.apply("RESHAPE", (image,), tree.add((6, 5, 8), **SCALE), "ReshapeOptions")
    small = tree.add((2, 5, 3), **SCALE)
    tree.apply("SLICE", (part, tree.numbers(1, 0, 4), tree.numbers(2, 5, 3)), small)
    tree.apply("DYNAMIC_UPDATE_SLICE", (flat, small, begin), tree.add((6, 5, 8), **SCALE))
    tree.apply("EMBEDDING_LOOKUP", (row, tree.weights((9, 3))), tree.add((48, 3), **WEIGHTS))
    truths = tree.apply("CAST", (flat,), tree.add((6, 5, 8), dtype="bool"))
    every, options = tree.add((6, 1, 8), dtype="bool"), {"KeepDims": True}
    tree.apply("REDUCE_ALL", (truths, tree.numbers(1)), every, "ReducerOptions", **options)
    tree.apply("REVERSE_V2", (taller, tree.numbers(2, 1)), tree.add((1, 12, 7, 8), **SCALE))
    return tree.model()


def computed(builder: ModuleType) -> Any:
    """Make a network whose filters, and the value that a PADV2 fills with, are computed."""
    tree = Tree(builder)
    x = tree.add((1, 4, 5, 6), **SCALE)
    rows = tree.apply("RESHAPE", (x,), tree.add((4, 30), **SCALE), "ReshapeOptions")
    filters = tree.apply("RELU", (rows,), tree.add((4, 30), scales=(0.03,), zero_points=(9,)))
    for activation in (0, 1, 3):
        dense = tree.add((4, 4), scales=(0.5,), zero_points=(-20,))
        fused: dict[str, float] = {"FusedActivationFunction": activation}
        tree.apply("FULLY_CONNECTED", (rows, filters), dense, "FullyConnectedOptions", **fused)
    axes, most = tree.numbers(0, 1, 2, 3), tree.add((), **SCALE)
    tree.apply("REDUCE_MAX", (x, axes), most, "ReducerOptions", KeepDims=False)
    around = tree.numbers(0, 0, 1, 0, 2, 1, 0, 3, shape=(4, 2))
    tree.apply("PADV2", (x, around, most), tree.add((1, 5, 8, 9), **SCALE))
    return tree.model()


def _windows(tree: Tree, x: int) -> int:
    """Add a grouped convolution, a transposed one, and a resizing: [1, 11, 11, 6]."""
    steps: dict[str, float] = {"StrideH": 1, "StrideW": 1}
    grouped = tree.add((1, 6, 6, 4), scales=(0.2,), zero_points=(7,))
    tree.apply("CONV_2D", (x, tree.weights((4, 3, 3, 4))), grouped, "Conv2DOptions", **steps)
    wider = tree.add((1, 12, 12, 6), scales=(0.2,), zero_points=(-7,))
    shape, weights = tree.numbers(1, 12, 12, 6), tree.weights((6, 3, 3, 4))
    bias = tree.numbers(*range(6))
    operands, twice = (shape, weights, grouped, bias), {"StrideH": 2, "StrideW": 2}
    tree.apply("TRANSPOSE_CONV", operands, wider, "TransposeConvOptions", **twice)
    resized = tree.add((1, 11, 11, 6), scales=(0.2,), zero_points=(-7,))
    size, half = tree.numbers(11, 11), {"HalfPixelCenters": True}
    return tree.apply("RESIZE_BILINEAR", (wider, size), resized, "ResizeBilinearOptions", **half)


def _rows(tree: Tree, x: int) -> None:
    """Add a product of matrices, sums along its rows, and two ways to normalise them."""
    product = tree.add((1, 11, 6, 6), scales=(4.0,), zero_points=(3,))
    tree.apply("BATCH_MATMUL", (x, x), product, "BatchMatMulOptions", AdjX=True)
    summed = tree.add((1, 11, 6, 6), scales=(8.0,), zero_points=(0,))
    tree.apply("CUMSUM", (product, tree.numbers(2)), summed, "CumsumOptions", Reverse=True)
    unit = tree.add((1, 11, 6, 6), scales=(1 / 128,), zero_points=(0,))
    tree.apply("L2_NORMALIZATION", (summed,), unit, "L2NormOptions")
    shares = tree.add((1, 11, 6, 6), scales=(1 / 16,), zero_points=(127,))
    tree.apply("LOG_SOFTMAX", (unit,), shares, "LogSoftmaxOptions")
