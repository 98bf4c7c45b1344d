# SPDX-License-Identifier: Apache-2.0
"""Models for tests, made with tests/builder.py."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

SCALE: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}
SHARES: dict[str, Any] = {"scales": (1 / 256,), "zero_points": (-128,)}


def every_operator(builder: ModuleType) -> Any:
    """Make a model with every operator; tensor 0 is unused, input and output are float32."""
    rng, tensor = np.random.default_rng(3), builder.Tensor

    def weights(*shape: int) -> Any:
        data = rng.integers(-127, 128, shape).astype(np.int8)
        return tensor(shape=shape, scales=(0.01,), zero_points=(0,), data=data, name="w")

    def integers(*values: Any) -> Any:
        data = np.array(values, np.int32)
        return tensor(shape=data.shape, dtype="int32", data=data, name="numbers")

    def result(*shape: int, **quantization: Any) -> Any:
        return tensor(shape=shape, name="functional/long;name", **(quantization or SCALE))

    float_input = tensor(shape=(1, 6, 6, 4), dtype="float32", name="serving_default_x-ray:0")
    return builder.Model(
        tensors=(
            integers(7),
            float_input,
            result(1, 6, 6, 4),
            integers((0, 0), (1, 1), (1, 1), (0, 0)),
            result(1, 8, 8, 4),
            weights(8, 3, 3, 4),
            integers(*range(8)),
            result(1, 6, 6, 8),
            weights(1, 3, 3, 8),
            result(1, 6, 6, 8),
            result(1, 6, 6, 8),
            tensor(shape=(8,), data=np.arange(8, dtype=np.int8), **SCALE),
            result(1, 6, 6, 8),
            result(1, 3, 3, 8),
            result(1, 3, 3, 8),
            result(1, 3, 3, 16),
            integers(1, 2),
            result(1, 16),
            result(1, 16, scales=(0.02,), zero_points=(5,)),
            integers(2, 8),
            result(2, 8, scales=(0.02,), zero_points=(5,)),
            weights(5, 8),
            result(2, 5),
            result(2, 5, **SHARES),
            tensor(shape=(2, 5), dtype="float32", name="StatefulPartitionedCall:0"),
        ),
        operators=_operators(builder.Operator),
        inputs=(1,),
        outputs=(24,),
    )


def _operators(operator: Any) -> tuple[Any, ...]:
    pool: dict[str, float] = {"StrideH": 2, "StrideW": 2, "FilterHeight": 2, "FilterWidth": 2}
    same: dict[str, float] = {"StrideH": 1, "StrideW": 1}
    valid: dict[str, float] = {**same, "Padding": 1}
    rows: tuple[tuple[str, tuple[int, ...], int, str, dict[str, float]], ...] = (
        ("QUANTIZE", (1,), 2, "", {}),
        ("PAD", (2, 3), 4, "", {}),
        ("CONV_2D", (4, 5, 6), 7, "Conv2DOptions", valid),
        ("DEPTHWISE_CONV_2D", (7, 8), 9, "DepthwiseConv2DOptions", same | {"DepthMultiplier": 1}),
        ("ADD", (7, 9), 10, "AddOptions", {"FusedActivationFunction": 1}),
        ("MUL", (10, 11), 12, "MulOptions", {}),
        ("MAX_POOL_2D", (12,), 13, "Pool2DOptions", pool),
        ("AVERAGE_POOL_2D", (12,), 14, "Pool2DOptions", pool),
        ("CONCATENATION", (13, 14), 15, "ConcatenationOptions", {"Axis": -1}),
        ("MEAN", (15, 16), 17, "ReducerOptions", {"KeepDims": False}),
        ("QUANTIZE", (17,), 18, "", {}),
        ("RESHAPE", (18, 19), 20, "", {}),
        ("FULLY_CONNECTED", (20, 21, -1), 22, "FullyConnectedOptions", {}),
        ("SOFTMAX", (22,), 23, "SoftmaxOptions", {"Beta": 1.0}),
        ("DEQUANTIZE", (23,), 24, "", {}),
    )
    return tuple(
        operator(code=code, inputs=inputs, outputs=(output,), table=table, options=options)
        for code, inputs, output, table, options in rows
    )


def conv_add_conv(builder: ModuleType) -> Any:
    """Make a pointwise convolution, an addition of its input, and one with fewer channels."""
    return _Network(builder, (1, 8, 8, 16)).finished(
        lambda net: net.conv(net.add(net.conv(net.input, 16), net.input), 4)
    )


def long_convolution(builder: ModuleType) -> Any:
    """Make a pointwise convolution of 16 million products."""
    return _Network(builder, (1, 16, 16, 256)).finished(lambda net: net.conv(net.input, 256))


def branches(builder: ModuleType, width: int = 16) -> Any:
    """Make two chains of two convolutions and a chain of two poolings, over one input, added up.

    The first chain has `width` channels between its convolutions, the second 16.
    """

    def result(net: "_Network") -> int:
        left, right = (net.conv(net.conv(net.input, each), 16) for each in (width, 16))
        return net.add(net.add(left, right), net.pool(net.pool(net.input)))

    return _Network(builder, (1, 16, 16, 16)).finished(result)


def interfaces(builder: ModuleType) -> dict[str, Any]:
    """Make small networks by what is unusual about their inputs and outputs.

    They have a chain x -> a -> b -> c of QUANTIZE, and what their names say.
    """
    tensor, operator = builder.Tensor, builder.Operator
    rescaled = [{"scales": (0.1 / step,), "zero_points": (3 * step,)} for step in range(1, 5)]
    x, a, b, c = range(4)
    chain = [
        tensor(shape=(1, 96), name=name, **q) for name, q in zip("xabc", rescaled, strict=True)
    ]
    unused = tensor(shape=(1, 400), name="unused", **SCALE)
    held = tensor(shape=(1, 9), name="held", data=np.arange(-4, 5, dtype=np.int8), **SCALE)
    flat = tensor(shape=(96,), name="flat", **rescaled[a])
    twice = tensor(shape=(1, 96), name="twice", **rescaled[b])

    def link(source: int, result: int, code: str = "QUANTIZE") -> Any:
        return operator(code=code, inputs=(source,), outputs=(result,))

    def model(
        outputs: tuple[int, ...],
        inputs: tuple[int, ...] = (x,),
        more: tuple[Any, ...] = (),
        operators: tuple[Any, ...] | None = None,
    ) -> Any:
        if operators is None:
            operators = (link(x, a), link(a, b), link(b, c))
        return builder.Model(
            tensors=(*chain, *more), operators=operators, inputs=inputs, outputs=outputs
        )

    doubled = operator(code="ADD", inputs=(a, a), outputs=(4,), table="AddOptions")
    return {
        "outputs_read_later": model((a, b, c)),
        "an_early_output": model((c, a)),
        "an_output_twice": model((c, a, c)),
        "an_output_that_is_an_input": model((x, c)),
        "an_output_that_is_a_constant": model((4, c), more=(held,)),
        "only_a_constant": model((4,), more=(held,)),
        "an_output_with_a_view": model(
            (a, 5),
            more=(flat, tensor(shape=(96,), name="end", **rescaled[b])),
            operators=(link(x, a), link(a, 4, "RESHAPE"), link(4, 5)),
        ),
        "outputs_that_are_views": model(
            (4, b, a), more=(flat,), operators=(link(x, a), link(a, 4, "RESHAPE"), link(a, b))
        ),
        "an_unused_input": model((c,), inputs=(4, x), more=(unused,)),
        "only_unused_inputs": model((5,), inputs=(4, x), more=(unused, held)),
        "a_dead_tail": model((a,)),
        "no_operators": model((x,), operators=()),
        "one_operand_twice": model((4,), more=(twice,), operators=(link(x, a), doubled)),
        "one_operand_twice_kept": model((4, a), more=(twice,), operators=(link(x, a), doubled)),
    }


class _Network:
    """Adds operators on int8 images of one height and width; tensors are known by number."""

    def __init__(self, builder: ModuleType, shape: tuple[int, int, int, int]) -> None:
        self._builder = builder
        self._rng = np.random.default_rng(5)
        self._image = shape[:3]
        self._tensors: list[Any] = []
        self._operators: list[Any] = []
        self.input = self._activation(shape[3])

    def finished(self, result: Callable[["_Network"], int]) -> Any:
        """Return the model whose output `result` makes."""
        output = result(self)
        return self._builder.Model(
            tensors=tuple(self._tensors),
            operators=tuple(self._operators),
            inputs=(self.input,),
            outputs=(output,),
        )

    def conv(self, source: int, channels: int) -> int:
        """Add a pointwise convolution."""
        shape = (channels, 1, 1, self._tensors[source].shape[3])
        data = self._rng.integers(-127, 128, shape).astype(np.int8)
        weights = self._tensor(shape=shape, scales=(0.01,), zero_points=(0,), data=data, name="w")
        options = {"StrideH": 1, "StrideW": 1, "Padding": 1}
        return self._operator("CONV_2D", (source, weights, -1), channels, "Conv2DOptions", options)

    def add(self, left: int, right: int) -> int:
        """Add an addition."""
        channels = self._tensors[left].shape[3]
        return self._operator("ADD", (left, right), channels, "AddOptions", {})

    def pool(self, source: int) -> int:
        """Add a pooling with a window of one pixel."""
        options = {"StrideH": 1, "StrideW": 1, "FilterHeight": 1, "FilterWidth": 1}
        channels = self._tensors[source].shape[3]
        return self._operator("MAX_POOL_2D", (source,), channels, "Pool2DOptions", options)

    def _operator(
        self, code: str, inputs: tuple[int, ...], channels: int, table: str, options: Any
    ) -> int:
        output = self._activation(channels)
        self._operators.append(
            self._builder.Operator(
                code=code, inputs=inputs, outputs=(output,), table=table, options=options
            )
        )
        return output

    def _activation(self, channels: int) -> int:
        return self._tensor(shape=(*self._image, channels), name="act", **SCALE)

    def _tensor(self, **fields: Any) -> int:
        self._tensors.append(self._builder.Tensor(**fields))
        return len(self._tensors) - 1
