# SPDX-License-Identifier: Apache-2.0
"""Networks of one operator of ONNX each, by its name: random operands, shapes and options."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tests.onnx_builder import Builder, Grid

Case = Callable[[Builder], str]


def pick(b: Builder, *values: int) -> int:
    return values[int(b.rng.integers(len(values)))]


def image(b: Builder, channels: int = 0) -> tuple[int, int, int, int]:
    return (pick(b, 1, 1, 2), channels or pick(b, 1, 2, 3, 8), pick(b, 4, 5, 7), pick(b, 4, 6, 9))


def window(b: Builder) -> dict[str, Any]:
    if pick(b, 0, 0, 1):
        return {"auto_pad": ("SAME_UPPER", "SAME_LOWER", "VALID")[pick(b, 0, 1, 2)]}
    return {"pads": [pick(b, 0, 1) for _ in range(4)]}


def channels_last(b: Builder, real: str) -> str:
    """Make the front end store a value with its channels last, its numbers as they are."""
    return b.node("MaxPool", [real], kernel_shape=[1, 1])


def conv(b: Builder) -> str:
    shape, outputs = image(b), pick(b, 1, 4, 6)
    kernel = (pick(b, 1, 2, 3), pick(b, 1, 2, 3))
    axis = 0 if pick(b, 0, 1) else None
    weights = b.weights((outputs, shape[1], *kernel), axis)
    inputs = [b.x(shape), weights] + ([b.bias(outputs)] if pick(b, 0, 1) else [])
    attributes = {**window(b), "strides": [pick(b, 1, 2), pick(b, 1, 2)]}
    if "auto_pad" not in attributes:
        attributes["dilations"] = [pick(b, 1, 1, 2) if shape[2] > 4 else 1, 1]
    made = b.node("Conv", inputs, **attributes)
    return b.node("Relu", [made]) if pick(b, 0, 1) else made


def conv_in_padding(b: Builder) -> str:
    """Slide windows over nothing but padding, which no accelerator does."""
    shape, group = image(b, 2), pick(b, 1, 2)
    weights = b.weights((4, 2 // group, 2, 1), 0)
    pads = [pick(b, 0, 1, 3), pick(b, 0, 2), pick(b, 1, 4), 0]
    return b.node("Conv", [b.x(shape), weights, b.bias(4)], pads=pads, group=group)


def conv_unsigned(b: Builder) -> str:
    shape, outputs = image(b), pick(b, 1, 4)
    weights = b.weights((outputs, shape[1], 3, 3), dtype="uint8", zero=128)
    x = b.x(shape, b.grid("uint8"))
    made = b.node("Conv", [x, weights, b.bias(outputs)], pads=[1, 1, 1, 1])
    bounds = [b.plain(0, "float32"), b.plain(pick(b, 1, 3, 6), "float32")]
    return b.node("Clip", [made, *bounds])


def asymmetric(b: Builder) -> str:
    zero, dtype = ((20, "int8"), (-100, "int8"), (3, "uint8"), (255, "uint8"), (0, "uint8"))[
        pick(b, 0, 1, 2, 3, 4)
    ]
    how, x = pick(b, 0, 1, 2, 3), b.x(image(b, 4))
    if how == 0:
        return b.node("Conv", [x, b.weights((3, 4, 3, 2), dtype=dtype, zero=zero), b.bias(3)])
    if how == 1:
        groups = pick(b, 2, 4)
        weights = b.weights((8, 4 // groups, 2, 2), 0, dtype, zero)
        return b.node("Conv", [x, weights], pads=[1, 0, 0, 1], group=groups)
    if how == 2:
        return b.node("ConvTranspose", [x, b.weights((4, 3, 2, 2), None, dtype, zero)])
    return b.node("Gemm", [b.x((3, 20)), b.weights((20, 6), 1, dtype, zero), b.bias(6)])


def conv_grouped(b: Builder) -> str:
    groups, depth, times = pick(b, 2, 3), pick(b, 1, 2), pick(b, 1, 2)
    shape = image(b, groups * depth)
    weights = b.weights((groups * times, depth, 3, 2), axis=0)
    return b.node("Conv", [b.x(shape), weights, b.bias(groups * times)], group=groups)


def conv_sequence(b: Builder) -> str:
    channels, outputs = pick(b, 1, 3, 4), pick(b, 2, 5)
    weights = b.weights((outputs, channels, 3), axis=0)
    made = b.node("MaxPool", [b.x((1, channels, pick(b, 8, 11)))], kernel_shape=[2])
    return b.node("Conv", [made, weights, b.bias(outputs)], pads=[1, 1], strides=[pick(b, 1, 2)])


def conv_wide(b: Builder) -> str:
    shape, outputs = image(b), pick(b, 1, 4)
    weights = b.weights((outputs, shape[1], 3, 3), axis=0)
    return b.node("Conv", [b.x(shape, b.grid("int16", 1e-3)), weights], pads=[1, 1, 1, 1])


def conv_transpose(b: Builder) -> str:
    shape, outputs, kernel = image(b), pick(b, 1, 3), pick(b, 2, 3, 4)
    step = pick(b, 1, 2)
    weights = b.weights((shape[1], outputs, kernel, kernel), axis=1)
    inputs = [b.x(shape), weights] + ([b.bias(outputs)] if pick(b, 0, 1) else [])
    options: dict[str, Any] = {"strides": [step, step]}
    how = pick(b, 0, 1, 2, 3)
    if how == 0:
        options["auto_pad"] = ("SAME_UPPER", "SAME_LOWER")[pick(b, 0, 1)]
    elif how == 1:
        options["output_shape"] = [shape[2] * step, shape[3] * step]
    else:
        options["pads"] = [pick(b, 0, 1) for _ in range(4)]
        options["output_padding"] = [pick(b, 0, step - 1), pick(b, 0, step - 1)]
    return b.node("ConvTranspose", inputs, **options)


def conv_transpose_sequence(b: Builder) -> str:
    weights = b.weights((3, 2, 3), axis=1)
    return b.node("ConvTranspose", [b.x((1, 3, 7)), weights], strides=[2], pads=[1, 1])


def gemm(b: Builder) -> str:
    depth, outputs, flipped = pick(b, 3, 16), pick(b, 1, 7), pick(b, 0, 1)
    shape = (outputs, depth) if flipped else (depth, outputs)
    axis = (0 if flipped else 1) if pick(b, 0, 1) else None
    inputs = [b.x((pick(b, 1, 3), depth)), b.weights(shape, axis)]
    inputs += [b.bias(outputs)] if pick(b, 0, 1) else []
    return b.node("Gemm", inputs, transB=flipped)


def matmul(b: Builder) -> str:
    depth, outputs = pick(b, 3, 16), pick(b, 1, 7)
    x = b.x(((2, 5, depth), (4, depth))[pick(b, 0, 1)])
    made = b.node("MatMul", [x, b.weights((depth, outputs), axis=1)])
    bias = b.bias(outputs)
    if pick(b, 0, 1):
        return b.node(("Add", "Sub")[pick(b, 0, 1)], [made, bias])
    return b.node("Add", [bias, made]) if pick(b, 0, 1) else made


def conv_and_bias(b: Builder) -> str:
    """Add a constant for each channel, as what is left of a folded normalisation."""
    made = b.node("Conv", [b.x(image(b, 3)), b.weights((4, 3, 2, 2), 0), b.bias(4)])
    constant = b.plain(b.rng.normal(0, 1, (4, 1, 1)), "float32")
    return b.node("Relu", [b.node(("Add", "Sub")[pick(b, 0, 1)], [made, constant])])


def matmul_computed(b: Builder) -> str:
    depth = pick(b, 3, 8)
    x, y = b.x((2, 5, depth)), b.x((2, depth, 4))
    if pick(b, 0, 1):
        y = b.node("Transpose", [b.x((2, 4, depth))], perm=[0, 2, 1])
    return b.node("MatMul", [x, y])


def flattened(b: Builder) -> str:
    shape = image(b)
    made = b.node("Flatten", [channels_last(b, b.x(shape))])
    depth = shape[1] * shape[2] * shape[3]
    return b.node("Gemm", [made, b.weights((5, depth), axis=0)], transB=1)


def sum_of(op: str) -> Case:
    def made(b: Builder) -> str:
        shape = image(b)
        how = pick(b, 0, 1, 2, 3)
        if how == 0:
            return b.node(op, [b.x(shape), b.x(shape)])
        if how == 1:
            return b.node(op, [b.x(shape), b.x((1, shape[1], 1, 1))])
        if how == 2:
            return b.node(op, [b.x(shape), b.weights((shape[1], 1, 1))])
        return b.node(op, [b.x(shape), b.plain(b.rng.normal(), "float32")])

    return made


def after_convolution(b: Builder) -> str:
    shape = image(b)
    x = b.x(shape)
    return b.node("Relu", [b.node("Add", [channels_last(b, x), x])])


def divided(b: Builder) -> str:
    return b.node("Div", [b.x(image(b)), b.plain(b.rng.uniform(0.5, 4), "float32")])


def squared(b: Builder) -> str:
    return b.node("Pow", [b.x(image(b)), b.plain(2, "float32")])


def number(b: Builder, low: float = 0.5, high: float = 4.0) -> str:
    return b.plain(b.rng.uniform(low, high), "float32")


def curved_by_hand(b: Builder) -> str:
    """Write out GELU, of which onnxruntime's quantiser surrounds neither Div nor Erf."""
    x = b.x(image(b))
    made = b.node("Erf", [b.node("Div", [x, b.plain(np.sqrt(2), "float32")])])
    made = b.node("Sub", [b.plain(1, "float32"), b.node("Neg", [b.node("Add", [made, number(b)])])])
    return b.node("Mul", [made, number(b)])


def powers(b: Builder) -> str:
    positive = b.node("Softplus", [b.x(image(b))])
    made = b.node("Pow", [positive, b.plain((-1, 0.5, 3)[pick(b, 0, 1, 2)], "float32")])
    return b.node("Div", [number(b), made]) if pick(b, 0, 1) else made


def rooted_means(b: Builder) -> str:
    """Average what no QuantizeLinear follows: squares, or values of a curve."""
    x, how = b.x(image(b)), pick(b, 0, 1, 2)
    made = b.node("Exp", [x]) if how else b.node("Pow", [x, b.plain(2, "float32")])
    if how == 1:
        return b.node("AveragePool", [made], kernel_shape=[2, 3], strides=[2, 1])
    return b.node("ReduceMean", [made, b.plain([-1])], keepdims=pick(b, 0, 1))


def prelu_of_reals(b: Builder) -> str:
    shape = image(b)
    count = (shape[1], 1)[pick(b, 0, 1)]
    slopes = b.plain(b.rng.uniform(-0.2, 0.4, (count, 1, 1)), "float32")
    return b.node("PRelu", [b.x(shape), slopes])


def prelu(b: Builder) -> str:
    shape = image(b)
    return b.node("PRelu", [b.x(shape), b.weights((shape[1], 1, 1))])


def extreme(op: str) -> Case:
    def made(b: Builder) -> str:
        shape = image(b)
        others = [b.x(shape) for _ in range(pick(b, 1, 2))]
        others += [b.plain(b.rng.normal(), "float32") for _ in range(pick(b, 0, 1, 2))]
        return b.node(op, [b.x((1, *shape[1:])), *others])

    return made


def unary(op: str, **attributes: Any) -> Case:
    return lambda b: b.node(op, [b.x(image(b))], **attributes)


def chained(*ops: str) -> Case:
    """Apply functions one after the other, with nothing but real numbers between."""

    def made(b: Builder) -> str:
        value = b.x(image(b))
        for op in ops:
            value = b.node(op, [value])
        return value

    return made


def clipped(b: Builder) -> str:
    low, high = sorted(b.rng.uniform(-3, 7, 2))
    bounds = [b.plain(low, "float32"), b.plain(high, "float32")]
    return b.node("Clip", [b.x(image(b)), *bounds])


def pool(op: str) -> Case:
    def made(b: Builder) -> str:
        attributes: dict[str, Any] = {
            "kernel_shape": [2, 3],
            "strides": [pick(b, 1, 2), pick(b, 1, 2)],
        }
        padding = window(b)
        attributes |= padding
        if op == "AveragePool" and "pads" in padding:
            attributes["count_include_pad"] = pick(b, 0, 1)
        else:
            attributes["ceil_mode"] = 0 if "pads" in padding else pick(b, 0, 1)
        return b.node(op, [b.x(image(b))], **attributes)

    return made


def resized(how: str, *, wide: bool = False) -> Case:
    def made(b: Builder) -> str:
        shape = image(b)
        sizes = [*shape[:2], shape[2] * pick(b, 1, 2), shape[3] * pick(b, 2, 4)]
        if how == "align_corners":
            sizes[2:] = [shape[2], 2 * shape[3] - 1]
        inputs = [b.x(shape, b.grid("int16", 1e-3) if wide else None), "", "", b.plain(sizes)]
        return b.node("Resize", inputs, mode="linear", coordinate_transformation_mode=how)

    return made


def nearest(b: Builder) -> str:
    shape = image(b)
    x = channels_last(b, b.x(shape)) if pick(b, 0, 1) else b.x(shape)
    how = ("asymmetric", "half_pixel")[pick(b, 0, 1)]
    down, across = pick(b, 1, 2, 3), pick(b, 1, 2, 4)
    options = {"mode": "nearest", "coordinate_transformation_mode": how}
    if how == "asymmetric":
        options["nearest_mode"] = "floor"
    if pick(b, 0, 1):
        return b.node("Resize", [x, "", b.plain([1, 1, down, across], "float32")], **options)
    sizes = b.plain([*shape[:2], shape[2] * down, shape[3] * across])
    return b.node("Resize", [x, "", "", sizes], **options)


def squares(op: str) -> Case:
    def made(b: Builder) -> str:
        size = pick(b, 2, 3)
        shape = (pick(b, 1, 2), 2 * size * size, 4, 5)
        if op == "SpaceToDepth":
            return b.node(
                op, [channels_last(b, b.x((shape[0], 2, 4 * size, 2 * size)))], blocksize=size
            )
        mode = ("DCR", "CRD")[pick(b, 0, 1)]
        return b.node(op, [channels_last(b, b.x(shape))], blocksize=size, mode=mode)

    return made


def expanded(b: Builder) -> str:
    shape = image(b)
    x = channels_last(b, b.x((1, shape[1], 1, 1)))
    made = b.node("Squeeze", [x, b.plain([0])])
    return b.node("Expand", [made, b.plain([2, shape[1], 3, 4])])


def tiled(b: Builder) -> str:
    return b.node("Tile", [channels_last(b, b.x(image(b))), b.plain([1, 2, 1, 3])])


def shuffled(b: Builder) -> str:
    """Mix the channels of groups, as ShuffleNet does."""
    shape = image(b, 6)
    made = channels_last(b, b.x(shape))
    made = b.node("Reshape", [made, b.plain([shape[0], 2, 3, *shape[2:]])])
    made = b.node("Transpose", [made], perm=[0, 2, 1, 3, 4])
    made = b.node("Reshape", [made, b.plain(shape)])
    return channels_last(b, made)


def reduced(op: str) -> Case:
    def made(b: Builder) -> str:
        axes = ([2, 3], [1], [-1], [1, 2, 3])[pick(b, 0, 1, 2, 3)]
        return b.node(op, [b.x(image(b)), b.plain(axes)], keepdims=pick(b, 0, 1))

    return made


def normalized(b: Builder) -> str:
    """Normalise rows, some of many values, with quantised factors and offsets or real ones."""
    depth = pick(b, 3, 8, 16, 40, 500)
    x = b.x((pick(b, 1, 4), depth))
    if pick(b, 0, 1):
        parameters = [b.weights((depth,)), b.bias(depth)][: pick(b, 1, 2)]
    else:
        parameters = [b.plain(b.rng.normal(1, 0.2, depth), "float32"), b.weights((depth,))]
    return b.node(
        "LayerNormalization", [x, *parameters], epsilon=(1e-5, 1e-3, 0.5)[pick(b, 0, 1, 2)]
    )


def normalized_images(b: Builder) -> str:
    """Normalise each channel of images, some stored channels last."""
    shape = image(b)
    x = b.x(shape)
    parameters = [b.weights((shape[1],)), b.bias(shape[1])]
    return b.node(
        "InstanceNormalization", [channels_last(b, x) if pick(b, 0, 1) else x, *parameters]
    )


def normalized_channels(b: Builder) -> str:
    """Normalise channels that lie last already."""
    shape = image(b, 8)
    made = b.node("Transpose", [channels_last(b, b.x(shape))], perm=[0, 2, 3, 1])
    return b.node("LayerNormalization", [made, b.weights((8,)), b.bias(8)])


def softmax(op: str) -> Case:
    def made(b: Builder) -> str:
        shape = ((3, 10), image(b))[pick(b, 0, 1)]
        return b.node(op, [b.x(shape)], axis=pick(b, 1, -1))

    return made


def joined(b: Builder) -> str:
    shape = image(b)
    wide = (shape[0], pick(b, 1, 3), *shape[2:])
    return b.node("Concat", [b.x(shape), b.x(wide)], axis=1)


def moved(b: Builder) -> str:
    """Go through moves in the order of channels last, with what is around them."""
    shape = image(b, 4)
    made = channels_last(b, b.x(shape))
    how = pick(b, 0, 1, 2, 3, 4, 5, 6)
    if how == 0:
        made = b.node("Reshape", [made, b.plain([shape[0], 4, -1])])
        return b.node("Transpose", [made], perm=[0, 2, 1])
    if how == 1:
        return b.node("Reshape", [made, b.plain([shape[0], 2, 2, -1, shape[3]])])
    if how == 2:
        return b.node("Transpose", [made], perm=[0, 2, 3, 1])
    if how == 3:
        return b.node("Slice", [made, b.plain([1, 1]), b.plain([3, 2**31]), b.plain([1, 3])])
    if how == 4:
        first, second = b.many("Split", [made, b.plain([1, 3])], 2, axis=1)
        return b.node("Concat", [second, first], axis=1)
    if how == 5:
        made = b.node("Unsqueeze", [made, b.plain([1])])
        return b.node("Squeeze", [made, b.plain([1])])
    return b.node("Gather", [made, b.plain(pick(b, 0, 2, -1))], axis=pick(b, 1, 2))


def padded(b: Builder) -> str:
    return b.node("Pad", [b.x(image(b)), b.plain([0, 1, 2, 0, 0, 0, 1, 3])])


def padded_with(b: Builder) -> str:
    """Pad with a number that no value of the operand stands for, some in front of a move."""
    x = b.x(image(b))
    made = b.node("Pad", [x, b.plain([0, 1, 2, 0, 0, 0, 1, 3]), number(b, -1, 1)])
    return b.node("Transpose", [made], perm=[0, 2, 3, 1]) if pick(b, 0, 1) else made


def mirrored(b: Builder) -> str:
    return b.node("Pad", [b.x(image(b)), b.plain([0, 0, 2, 1, 0, 0, 1, 3])], mode="reflect")


def reversed_rows(b: Builder) -> str:
    operands = [b.plain([-1]), b.plain([-(2**31)]), b.plain([2]), b.plain([pick(b, -1, -2)])]
    return b.node("Slice", [b.x(image(b)), *operands])


def small_conv(b: Builder) -> str:
    """Compute what no QuantizeLinear follows."""
    return b.node("Conv", [b.x(image(b, 3)), b.weights((4, 3, 2, 2), 0), b.bias(4)])


def activated(b: Builder) -> str:
    """Apply a function to what no QuantizeLinear follows."""
    made, how = small_conv(b), pick(b, 0, 1, 2, 3, 4, 5, 6)
    if how == 0:
        return b.node("LeakyRelu", [made], alpha=(0.1, 0.01, 1.5)[pick(b, 0, 1, 2)])
    if how == 1:
        return b.node("Mul", [made, b.node("Sigmoid", [made])])
    if how == 2:
        return b.node("HardSwish", [made])
    if how == 3:
        return b.node("Mul", [made, b.node("HardSigmoid", [made])])
    if how == 4:
        return b.node("PRelu", [made, b.plain(b.rng.uniform(0, 0.5, (4, 1, 1)), "float32")])
    return b.node(("Sigmoid", "Tanh")[how - 5], [made])


def gated(b: Builder) -> str:
    """Multiply a value with a function of it, which is one table."""
    x = b.x(image(b))
    gate = b.node(("Sigmoid", "Tanh", "HardSigmoid", "Softplus")[pick(b, 0, 1, 2, 3)], [x])
    made = b.node("Mul", [x, gate] if pick(b, 0, 1) else [gate, x])
    return b.node("Mul", [made, number(b)]) if pick(b, 0, 1) else made


def residual(b: Builder) -> str:
    """Add two results of convolutions that nothing quantises, then average or sum."""
    x = b.x((1, 3, 5, 6))
    both = [b.node("Conv", [x, b.weights((4, 3, 1, 1), 0), b.bias(4)]) for _ in range(2)]
    made = b.node(("Add", "Sub", "Mul")[pick(b, 0, 1, 2)], both)
    how = pick(b, 0, 1, 2, 3)
    if how == 0:
        return b.node("AveragePool", [made], kernel_shape=[2, 2])
    if how == 1:
        return b.node(("ReduceSum", "ReduceMean")[pick(b, 0, 1)], [made, b.plain([1])])
    return b.node("GlobalAveragePool", [made]) if how == 2 else made


def many(op: str) -> Case:
    def made(b: Builder) -> str:
        shape = image(b)
        others = [
            b.x(shape if pick(b, 0, 1) else (shape[1], 1, 1)) for _ in range(pick(b, 1, 2, 3))
        ]
        if op == "Sum" and pick(b, 0, 1):
            others.append(small_constant(b))
        return b.node(op, [b.x(shape), *others])

    return made


def small_constant(b: Builder) -> str:
    return b.plain(b.rng.normal(), "float32")


def chosen(b: Builder) -> str:
    shape = image(b)
    mask = b.plain(b.rng.integers(0, 2, (shape[1], 1, shape[3])) > 0, "bool")
    other = b.x(shape) if pick(b, 0, 1) else small_constant(b)
    return b.node(
        "Where", [mask, b.x(shape), other] if pick(b, 0, 1) else [mask, other, b.x(shape)]
    )


COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")


def compared(b: Builder, x: str, shape: tuple[int, ...]) -> str:
    """Compare what is quantised alike or otherwise, or with numbers, some of its own grid."""
    how, op = pick(b, 0, 1, 2, 3), COMPARISONS[pick(b, 0, 1, 2, 3, 4)]
    if how == 0:
        other = b.x((shape[1], 1, 1))
    elif how == 1:
        other = b.node("MaxPool", [x], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    elif how == 2:
        other = small_constant(b)
    else:
        other = b.weights((shape[1], 1, shape[3]))
    return b.node(op, [x, other] if pick(b, 0, 1) else [other, x])


def chosen_by_value(b: Builder) -> str:
    """Choose by comparisons, also of what is stored channels last, and what combines them."""
    shape = image(b, 3)
    x = b.x(shape)
    value = channels_last(b, x) if pick(b, 0, 1) else x
    mask = compared(b, value, shape)
    if pick(b, 0, 1):
        mask = b.node(("And", "Or")[pick(b, 0, 1)], [mask, compared(b, x, shape)])
    if pick(b, 0, 1):
        mask = b.node("Not", [mask])
    other = b.x(shape) if pick(b, 0, 1) else b.node("Mul", [x, small_constant(b)])
    return b.node("Where", [mask, value, other])


def chosen_by_16_bits(b: Builder) -> str:
    shape = image(b)
    x = b.x(shape, b.grid("int16", 1e-3))
    numbers = b.plain(b.rng.normal(0, 10, (shape[1], 1, 1)), "float32")
    operands = [x, numbers] if pick(b, 0, 1) else [numbers, x]
    mask = b.node(COMPARISONS[pick(b, 0, 1, 2, 3, 4)], operands)
    return b.node("Where", [mask, x, b.x(shape)])


def small_product(b: Builder) -> str:
    """Multiply a few numbers that are quantised to fit."""
    axis, extent = pick(b, 1, 2, 3), pick(b, 1, 2, 3, 4)
    shape = [2, 3, 4, 5]
    shape[axis] = extent
    x = b.x(shape, Grid("int8", float(np.float32(b.rng.uniform(0.005, 0.02))), pick(b, 0, -20)))
    x = channels_last(b, x) if pick(b, 0, 1) else x
    return b.node("ReduceProd", [x, b.plain([axis])], keepdims=pick(b, 0, 1))


def swish(b: Builder) -> str:
    b.opset = 24
    x = small_conv(b) if pick(b, 0, 1) else b.x(image(b))
    return b.node("Swish", [x], alpha=(1.0, 0.5, 1.702)[pick(b, 0, 1, 2)])


def gemm_with_beta(b: Builder) -> str:
    rows, depth, outputs = 3, 8, 5
    shape = ((outputs,), (rows, 1), (1, outputs), (rows, outputs))[pick(b, 0, 1, 2, 3)]
    bias = b.plain(b.rng.normal(0, 1, shape), "float32")
    weights = b.weights((depth, outputs), 1)
    return b.node(
        "Gemm", [b.x((rows, depth)), weights, bias], beta=(0.0, 0.5, 1.0)[pick(b, 0, 1, 2)]
    )


def vectors(b: Builder) -> str:
    how = pick(b, 0, 1, 2, 3)
    if how == 0:
        return b.node("MatMul", [b.x((8,)), b.weights((8, 5), 1)])
    if how == 1:
        return b.node("MatMul", [b.x((3, 8)), b.weights((8,))])
    if how == 2:
        return b.node("MatMul", [b.x((2, 3, 8)), b.x((8,))])
    return b.node("MatMul", [b.x((8,)), b.x((8,))])


def gaps(b: Builder) -> str:
    """Take the greatest below windows with gaps, or beside the image."""
    if pick(b, 0, 1):
        pads = [pick(b, 0, 1) for _ in range(4)]
        options: dict[str, Any] = {
            "dilations": [pick(b, 1, 2), 2],
            "strides": [1, pick(b, 1, 2)],
            "pads": pads,
        }
        return b.node("MaxPool", [b.x(image(b))], kernel_shape=[2, 2], **options)
    return b.node(
        "MaxPool", [b.x((1, 6, 9))], kernel_shape=[2], dilations=[3], ceil_mode=1, strides=[2]
    )


def conv_transpose_grouped(b: Builder) -> str:
    groups, dilation = pick(b, 1, 2), pick(b, 1, 2)
    weights = b.weights((4, 3, 2, 3), 1 if groups == 1 else None)
    options: dict[str, Any] = {
        "strides": [pick(b, 1, 2), pick(b, 1, 2)],
        "dilations": [dilation, pick(b, 1, 2)],
    }
    pads = [pick(b, 0, 1) for _ in range(4)]
    return b.node(
        "ConvTranspose",
        [b.x(image(b, 4)), weights, b.bias(3 * groups)],
        group=groups,
        pads=pads,
        **options,
    )


def irregular(b: Builder) -> str:
    if pick(b, 0, 1):
        return b.node("Gather", [b.x(image(b, 8)), b.plain(b.rng.integers(-8, 8, 7))], axis=1)
    shape = (1, 2, 5, 6)
    sizes = b.plain([1, 2, int(b.rng.integers(2, 12)), int(b.rng.integers(2, 12))])
    how = ("asymmetric", "half_pixel", "align_corners")[pick(b, 0, 1, 2)]
    rounding = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")[pick(b, 0, 1, 2, 3)]
    options = {"coordinate_transformation_mode": how, "nearest_mode": rounding}
    return b.node("Resize", [b.x(shape), "", "", sizes], mode="nearest", **options)


def curved(b: Builder) -> str:
    """Apply a function to what no QuantizeLinear follows."""
    op = ("Elu", "Gelu", "Mish", "Selu", "Softplus")[pick(b, 0, 1, 2, 3, 4)]
    return b.node(op, [small_conv(b)])


def curved_in_16_bits(b: Builder) -> str:
    """Apply functions to the whole range of 16 bits, some of which are steepest at its end."""
    op = ("Elu", "Exp", "Gelu", "Mish", "Selu", "Sin", "Softplus")[b.rng.integers(7)]
    return b.node(op, [b.x((4, 200), b.grid("int16", float(b.rng.uniform(2e-5, 1.2e-4))))])


FUNCTIONS = (
    *("Ceil", "Celu", "Cos", "Erf", "Exp", "Floor", "Gelu", "Mish", "Round", "Selu", "Sign", "Sin"),
    *("Softplus", "Softsign", "ThresholdedRelu"),
)
"""Of one real number, which become tables."""

CASES: dict[str, Case] = {
    "Abs": unary("Abs"),
    "Add": sum_of("Add"),
    "AveragePool": pool("AveragePool"),
    "Clip": clipped,
    "asymmetric weights": asymmetric,
    "Concat": joined,
    "Conv": conv,
    "Conv grouped": conv_grouped,
    "Conv and bias": conv_and_bias,
    "Conv in padding": conv_in_padding,
    "Conv int16": conv_wide,
    "Conv of a sequence": conv_sequence,
    "Conv uint8": conv_unsigned,
    "ConvTranspose": conv_transpose,
    "ConvTranspose of a sequence": conv_transpose_sequence,
    "Div": divided,
    "Elu": unary("Elu", alpha=0.5),
    "Flatten and Gemm": flattened,
    "Gemm": gemm,
    "GlobalAveragePool": unary("GlobalAveragePool"),
    "GlobalMaxPool": unary("GlobalMaxPool"),
    "HardSwish": unary("HardSwish"),
    "InstanceNormalization": normalized_images,
    "LayerNormalization": normalized,
    "LayerNormalization of channels": normalized_channels,
    "LeakyRelu": unary("LeakyRelu", alpha=0.1),
    "LogSoftmax": softmax("LogSoftmax"),
    "MatMul": matmul,
    "MatMul of results": matmul_computed,
    "Max": extreme("Max"),
    "MaxPool": pool("MaxPool"),
    "Min": extreme("Min"),
    "Mul": sum_of("Mul"),
    "Neg": unary("Neg"),
    "PRelu": prelu,
    "PRelu of reals": prelu_of_reals,
    "Pad": padded,
    "Pad with a number": padded_with,
    "Pad mirrored": mirrored,
    "Pow": squared,
    "Pow of any exponent": powers,
    "Div, Erf, Add and Mul in one": curved_by_hand,
    "ReduceMean of squares": rooted_means,
    "ReduceMax": reduced("ReduceMax"),
    "ReduceMean": reduced("ReduceMean"),
    "ReduceMin": reduced("ReduceMin"),
    "ReduceSum": reduced("ReduceSum"),
    "Relu": unary("Relu"),
    "Relu and Add": after_convolution,
    "Resize align_corners": resized("align_corners"),
    "Resize asymmetric": resized("asymmetric"),
    "Resize nearest": nearest,
    "SpaceToDepth": squares("SpaceToDepth"),
    "DepthToSpace": squares("DepthToSpace"),
    "Expand": expanded,
    "Tile": tiled,
    "Sum": lambda b: b.node("Sum", [b.x((2, 3, 4)), b.x((3, 1))]),
    "HardSigmoid": unary("HardSigmoid", alpha=1 / 6, beta=0.5),
    "shuffled channels": shuffled,
    "Resize half_pixel": resized("half_pixel"),
    "Resize half_pixel int16": resized("half_pixel", wide=True),
    "Resize asymmetric of int16": resized("asymmetric", wide=True),
    "Sigmoid": unary("Sigmoid"),
    "Slice backwards": reversed_rows,
    "Softmax": softmax("Softmax"),
    "Sub": sum_of("Sub"),
    "Tanh": unary("Tanh"),
    "moves": moved,
    "Log": chained("Softplus", "Log"),
    "Sqrt and Reciprocal": chained("Neg", "Exp", "Sqrt", "Reciprocal"),
    "Relu between": chained("Sin", "Relu", "Exp"),
    "Conv and what follows": activated,
    "ConvTranspose grouped": conv_transpose_grouped,
    "Gather and Resize irregular": irregular,
    "Gemm with beta": gemm_with_beta,
    "MatMul of vectors": vectors,
    "MaxPool with gaps": gaps,
    "Mean": many("Mean"),
    "Mul with a function": gated,
    "Sum of several": many("Sum"),
    "Where": chosen,
    "Where, And, Or, Not of comparisons": chosen_by_value,
    "Where by int16": chosen_by_16_bits,
    "ReduceL2": reduced("ReduceL2"),
    "ReduceProd": small_product,
    "ReduceSumSquare": reduced("ReduceSumSquare"),
    "Swish": swish,
    "Add of convolutions": residual,
    "Conv and a function": curved,
    "functions of 16 bits": curved_in_16_bits,
    **{name: unary(name) for name in FUNCTIONS},
}
