# SPDX-License-Identifier: Apache-2.0
"""Weights and biases of sums of products: int8, and int32 in the scale of the sums."""

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx.conversion import Conversion
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Array, Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Stored, Unfit
from atoll.ir.graph import Quantization
from atoll.records import dataclass

_LEAST, _MOST = -128, 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Constant weights without their zero point.

    Attributes:
        values: in ONNX's order; -256 to 254.
        scales: one, or one for each output channel.
        outputs: how many output channels there are.
        axis: along which they lie.
    """

    values: Array
    scales: tuple[float, ...]
    outputs: int
    axis: int

    @property
    def wide(self) -> bool:
        """Whether int8 does not hold them, so that each operand is multiplied by their parts."""
        return self.parts > 1

    @property
    def parts(self) -> int:
        """How many values of int8 make one of these: three for 255 and -255 at most."""
        least, most = int(self.values.min(initial=0)), int(self.values.max(initial=0))
        return max(1, -(-most // _MOST), -(least // -_LEAST))

    def filters(self, values: Array, depth: int) -> Array:
        """Return the values, moved somehow, as int8; if they are wide, their parts along an axis.

        Args:
            values: the same values in another order.
            depth: the axis of what is multiplied and summed up.
        """
        rest, parts = values.astype(np.int16), list[Array]()
        for _ in range(self.parts):
            part = np.clip(rest, _LEAST, _MOST)
            rest = rest - part
            parts.append(part.astype(np.int8))
        return np.concatenate(parts, axis=depth)

    def along(self, axis: int) -> Quantization:
        """Return the quantisation where output channels lie along an axis."""
        count = len(self.scales)
        axis = axis if count > 1 else 0
        return Quantization(scales=self.scales, zero_points=(0,) * count, axis=axis)

    def sum_scales(self, x: Stored) -> NDArray[np.float64]:
        """Return the scale of the sums of each output channel."""
        scales = np.broadcast_to(np.array(self.scales, np.float64), self.outputs)
        return scales * x.require_grid().scale

    def reach(self, x: Stored, bias: Array | None) -> tuple[float, float, float]:
        """Return the least and the greatest result, and how many errors of x make one of it."""
        rows = np.moveaxis(self.values.astype(np.float64), self.axis, 0).reshape(self.outputs, -1)
        above, below = rows.clip(min=0).sum(1), rows.clip(max=0).sum(1)
        low, high = (limit - x.require_grid().zero_point for limit in x.require_grid().limits)
        scales, added = self.sum_scales(x), 0 if bias is None else bias
        least = ((above * low + below * high + added) * scales).min()
        most = ((above * high + below * low + added) * scales).max()
        return (
            float(least),
            float(most),
            float(((above - below) * scales).max() / x.require_grid().scale),
        )

    def bias_constant(self, x: Stored, values: Array) -> Held:
        """Return a bias in the scale of sums."""
        wide = x.require_grid().dtype == "int16"
        scales = tuple(float(np.float32(each * x.require_grid().scale)) for each in self.scales)
        quantization = Quantization(scales=scales, zero_points=(0,) * len(scales))
        return Held(values.astype(np.int64 if wide else np.int32), "bias", quantization)


def weights_of(c: Conversion, node: Node, at: int, channels: int) -> Weights:
    """Return an operand that must be constant int8 or uint8, its values less their zero point.

    Args:
        c: the conversion.
        node: of sums of products.
        at: the operand.
        channels: its axis of output channels.

    Raises:
        Unfit: it is computed or float, or its values are too far from their zero point.
    """
    part = c.part(node, at)
    if not isinstance(part, Constant):
        raise Unfit(f"weights '{node.inputs[at]}' are computed", "export the model for inference")
    return constant_weights(part, node.inputs[at], channels)


def constant_weights(part: Constant, name: str, channels: int) -> Weights:
    """Return constant weights, their values less their zero points; raises as `weights_of`."""
    quantization, values = part.quantization, part.values
    if quantization is None:
        raise Unfit(f"weights '{name}' are float", "quantise weights to int8")
    if values.dtype != np.int8:
        raise Unfit(f"weights '{name}' are {values.dtype.name}", "quantise weights to int8")
    if values.ndim <= channels:
        raise Unfit(f"weights '{name}' have {values.ndim} dimensions")
    if len(quantization.scales) > 1 and quantization.axis != channels:
        message = f"weights '{name}' have scales along axis {quantization.axis}"
        raise Unfit(message, f"quantise them along axis {channels}, the output channels")
    extents = [1] * values.ndim
    extents[quantization.axis] = len(quantization.zero_points)
    zeros = np.array(quantization.zero_points, np.int64).reshape(extents)
    centred = (values.astype(np.int64) - zeros).astype(np.int16)
    return Weights(
        values=centred, scales=quantization.scales, outputs=values.shape[channels], axis=channels
    )


def repeat_channels(c: Conversion, tensor: str, grid: Grid, times: int, groups: int = 1) -> str:
    """Return an operand whose channels, in groups along its last axis, are there several times.

    So sums of products by the parts of wide weights are those by the weights.
    """
    *outer, across, channels = (1, *c.emit.tensor(tensor).shape)
    parts = (*outer, across * groups, channels // groups)[1:]
    half = c.emit.as_stored(c.emit.reshape(tensor, parts), grid)
    shape = (*parts[:-1], times * parts[-1])
    axis = len(shape) - 1
    options: dict[str, int | str] = {"axis": axis, "activation": "none"}
    whole = c.emit.operator("concatenation", [half] * times, shape, grid, **options)
    return c.emit.reshape(whole, (*outer, across, times * channels)[1:])


def bias_of(c: Conversion, node: Node, at: int, x: Stored, weights: Weights) -> Array | None:
    """Return the bias of a node in the scale of its sums, None if it has none.

    It may be int32 as a QOperator node has it, or real numbers: then it is rounded to that scale.

    Raises:
        Unfit: it is computed, or too large.
    """
    if not c.has(node, at):
        return None
    part = c.part(node, at)
    if not isinstance(part, Constant):
        raise Unfit(f"bias '{node.inputs[at]}' is computed", "export the model for inference")
    return constant_bias(part, node.inputs[at], x, weights)


def constant_bias(part: Constant, name: str, x: Stored, weights: Weights) -> Array:
    """Return a constant bias, int32 values held as int64; raises as `bias_of`."""
    if part.values.size not in (1, weights.outputs):
        raise Unfit(f"bias '{name}' has {part.values.size} values for {weights.outputs} channels")
    if part.values.dtype == np.int32 and part.quantization is None:
        return np.broadcast_to(part.values.reshape(-1).astype(np.int64), weights.outputs)
    real = real_values(part, name).reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.rint(real / weights.sum_scales(x))
    if not (np.abs(rounded) < 2**31).all():
        message = f"bias '{name}' leaves int32 in the scale of its sums"
        raise Unfit(message, "quantise the model again with representative data")
    return np.broadcast_to(rounded.astype(np.int64), weights.outputs)


def real_values(part: Constant, name: str) -> NDArray[np.float64]:
    """Return the real numbers of a constant; a list of them, if it has several scales.

    Raises:
        Unfit: it has plain integers.
    """
    values = part.values.astype(np.float64)
    if part.quantization is None:
        if part.values.dtype.kind != "f":
            raise Unfit(f"'{name}' has plain integers")
        return values
    extents = [1] * values.ndim
    if values.ndim:
        extents[part.quantization.axis] = len(part.quantization.scales)
    scales = np.array(part.quantization.scales).reshape(extents)
    zeros = np.array(part.quantization.zero_points).reshape(extents)
    return np.asarray((values - zeros) * scales, np.float64)


def uniform(part: Constant, name: str) -> float | None:
    """Return the value that all elements have, None if they differ."""
    values = real_values(part, name)
    return float(values.flat[0]) if values.size and (values == values.flat[0]).all() else None
