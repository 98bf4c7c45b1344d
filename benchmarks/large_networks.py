# SPDX-License-Identifier: Apache-2.0
"""Networks as large as people's, with random weights: MobileNetV2 and a chain of many operators."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.tflite_builder import Model, Operator, Tensor, write

MOBILENET = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1))
"""Of each group of blocks: expansion, channels, blocks, stride of the first; from the paper's
table 2 (Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", 2018)."""

LAST = ((6, 160, 3, 2), (6, 320, 1, 1))
RELU6 = 3
SCALE: dict[str, Any] = {"scales": (0.05,), "zero_points": (-3,)}


class _Builder:
    """Adds operators on int8 images; tensors are known by number."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._rng = np.random.default_rng(7)
        self._tensors = [Tensor(shape=shape, name="image", **SCALE)]
        self._operators: list[Operator] = []

    def shape(self, number: int) -> tuple[int, ...]:
        return self._tensors[number].shape

    def conv(
        self, x: int, channels: int, kernel: int = 1, stride: int = 1, act: int = RELU6
    ) -> int:
        """Add a CONV_2D with SAME padding."""
        weights = self._weights((channels, kernel, kernel, self.shape(x)[3]), 0)
        made = self._image(x, stride, channels)
        options: dict[str, float] = {"StrideH": stride, "StrideW": stride}
        options |= {"FusedActivationFunction": act}
        return self._add("CONV_2D", (x, *weights), made, "Conv2DOptions", options)

    def depthwise(self, x: int, stride: int) -> int:
        """Add a 3x3 DEPTHWISE_CONV_2D with SAME padding."""
        channels = self.shape(x)[3]
        weights = self._weights((1, 3, 3, channels), 3)
        options: dict[str, float] = {"StrideH": stride, "StrideW": stride, "DepthMultiplier": 1}
        options |= {"FusedActivationFunction": RELU6}
        made = self._image(x, stride, channels)
        return self._add(
            "DEPTHWISE_CONV_2D", (x, *weights), made, "DepthwiseConv2DOptions", options
        )

    def add(self, left: int, right: int) -> int:
        """Add an ADD."""
        return self._add("ADD", (left, right), self.shape(left), "AddOptions", {})

    def mean(self, x: int) -> int:
        """Add a MEAN over height and width."""
        axes = np.array((1, 2), np.int32)
        self._tensors.append(Tensor(shape=(2,), dtype="int32", data=axes, name="axes"))
        shape = (self.shape(x)[0], self.shape(x)[3])
        number = len(self._tensors) - 1
        return self._add("MEAN", (x, number), shape, "ReducerOptions", {"KeepDims": False})

    def dense(self, x: int, count: int) -> int:
        """Add a FULLY_CONNECTED."""
        weights = self._weights((count, self.shape(x)[1]), 0)
        shape = (self.shape(x)[0], count)
        return self._add("FULLY_CONNECTED", (x, *weights), shape, "FullyConnectedOptions", {})

    def file(self, output: int) -> bytes:
        """Return the network whose output is a tensor."""
        model = Model(
            tensors=tuple(self._tensors),
            operators=tuple(self._operators),
            inputs=(0,),
            outputs=(output,),
        )
        return write(model)

    def _weights(self, shape: tuple[int, ...], axis: int) -> tuple[int, int]:
        channels = shape[axis]
        scales: dict[str, Any] = {
            "scales": (0.004,) * channels,
            "zero_points": (0,) * channels,
            "axis": axis,
        }
        data = self._rng.integers(-127, 128, shape).astype(np.int8)
        self._tensors.append(Tensor(shape=shape, data=data, name="weights", **scales))
        bias = self._rng.integers(-9000, 9001, channels).astype(np.int32)
        scales |= {"scales": (0.0002,) * channels, "axis": 0}
        tensor = Tensor(shape=(channels,), dtype="int32", data=bias, name="bias", **scales)
        self._tensors.append(tensor)
        return len(self._tensors) - 2, len(self._tensors) - 1

    def _image(self, x: int, stride: int, channels: int) -> tuple[int, ...]:
        batch, height, width, _ = self.shape(x)
        return batch, -(-height // stride), -(-width // stride), channels

    def _add(
        self,
        code: str,
        inputs: tuple[int, ...],
        shape: tuple[int, ...],
        table: str,
        options: dict[str, float],
    ) -> int:
        self._tensors.append(Tensor(shape=shape, name=f"act{len(self._operators)}", **SCALE))
        made = len(self._tensors) - 1
        self._operators.append(
            Operator(code=code, inputs=inputs, outputs=(made,), table=table, options=options)
        )
        return made


def mobilenet_v2(size: int = 96, classes: int = 1000) -> bytes:
    """Return MobileNetV2 of width 1 on images of size x size x 3: 66 operators, 3.5 MB."""
    net = _Builder((1, size, size, 3))
    x = net.conv(0, 32, 3, 2)
    for expansion, channels, blocks, first in (*MOBILENET, *LAST):
        for number in range(blocks):
            stride, start = (first if number == 0 else 1), x
            if expansion > 1:
                x = net.conv(x, expansion * net.shape(x)[3])
            x = net.conv(net.depthwise(x, stride), channels, act=0)
            if stride == 1 and net.shape(start) == net.shape(x):
                x = net.add(start, x)
    return net.file(net.dense(net.mean(net.conv(x, 1280)), classes))


def many_operators(count: int = 1000) -> bytes:
    """Return residual blocks of 16 channels on images of 16x16: so many operators."""
    net = _Builder((1, 16, 16, 16))
    x, made = 0, 0
    while made + 4 <= count:
        start = x
        x = net.add(start, net.conv(net.depthwise(net.conv(x, 16), 1), 16, act=0))
        made += 4
    while made < count:
        x, made = net.conv(x, 16), made + 1
    return net.file(x)


NETWORKS: dict[str, Callable[[], bytes]] = {
    "MobileNetV2 96x96": mobilenet_v2,
    "1,000 operators": many_operators,
}
