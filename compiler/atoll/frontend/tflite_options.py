"""Turn the option tables of TFLite operators into attributes; docs/operators.md lists them."""

from collections.abc import Callable, Sequence
from typing import Any

from tflite.ActivationFunctionType import ActivationFunctionType
from tflite.FullyConnectedOptionsWeightsFormat import FullyConnectedOptionsWeightsFormat
from tflite.Padding import Padding

from atoll.errors import ModelError
from atoll.frontend.tflite_checks import place
from atoll.frontend.tflite_reader import FileOperator, FileTensor
from atoll.ir.graph import Attribute
from atoll.ops.window import same_padding

Attributes = dict[str, Attribute]
Reader = Callable[[Any, Sequence[FileTensor | None]], Attributes]

_ACTIVATIONS: dict[int, str] = {
    number: name.lower()
    for name, number in vars(ActivationFunctionType).items()
    if isinstance(number, int)
}


def attributes(
    op: FileOperator, inputs: Sequence[FileTensor | None], output: FileTensor | None
) -> Attributes:
    """Return the attributes of an operator of a kind that Atoll knows; errors name `output`.

    Raises:
        ModelError: E054, the options are missing or of another kind, or have no meaning here.
    """
    table, reader = _READERS[op.code]
    if table and op.options_table != table:
        raise _unsupported(place(op, output), f"has no {table}")
    try:
        return reader(op.options, inputs)
    except _OptionError as fault:
        raise _unsupported(place(op, output), str(fault)) from fault


class _OptionError(Exception):
    """An option has a value that no attribute can express."""


def _unsupported(where: str, message: str) -> ModelError:
    remedy = "convert the model again with a current TFLite converter"
    return ModelError("E054", f"{where}: {message}", remedy=remedy)


def _convolution(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    kernel = _spatial(inputs, 1)
    dilations = (options.DilationHFactor(), options.DilationWFactor())
    return {
        **_steps(options, _spatial(inputs, 0), kernel, dilations),
        "dilation_h": dilations[0],
        "dilation_w": dilations[1],
        "activation": _activation(options),
    }


def _depthwise(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {**_convolution(options, inputs), "depth_multiplier": options.DepthMultiplier()}


def _pooling(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    kernel = (options.FilterHeight(), options.FilterWidth())
    return {
        **_steps(options, _spatial(inputs, 0), kernel, (1, 1)),
        "filter_h": kernel[0],
        "filter_w": kernel[1],
        "activation": _activation(options),
    }


def _dense(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    if options.WeightsFormat() != FullyConnectedOptionsWeightsFormat.DEFAULT:
        raise _OptionError(f"has weights in shuffled format {options.WeightsFormat()}")
    return {"activation": _activation(options), "keep_num_dims": bool(options.KeepNumDims())}


def _binary(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {"activation": _activation(options)}


def _concatenation(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {"axis": options.Axis(), "activation": _activation(options)}


def _softmax(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {"beta": float(options.Beta())}


def _mean(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {"keep_dims": bool(options.KeepDims())}


def _plain(options: Any, inputs: Sequence[FileTensor | None]) -> Attributes:
    return {}


def _activation(options: Any) -> str:
    number = int(options.FusedActivationFunction())
    return _ACTIVATIONS.get(number, f"activation {number}")


def _spatial(inputs: Sequence[FileTensor | None], position: int) -> tuple[int, int]:
    """Return height and width of an operand; 1 x 1 if it has none, which the checks report."""
    tensor = inputs[position] if position < len(inputs) else None
    shape = tensor.shape if tensor is not None else ()
    return (shape[1], shape[2]) if len(shape) == 4 else (1, 1)


def _steps(
    options: Any, image: tuple[int, int], kernel: tuple[int, int], dilations: tuple[int, int]
) -> Attributes:
    """Return strides and explicit pads; a stride below 1, which the checks report, pads as 1."""
    strides = (options.StrideH(), options.StrideW())
    pads = [(0, 0), (0, 0)]
    if options.Padding() == Padding.SAME:
        windows = zip(image, kernel, strides, dilations, strict=True)
        pads = [
            same_padding(size, extent, max(stride, 1), dilation)
            for size, extent, stride, dilation in windows
        ]
    elif options.Padding() != Padding.VALID:
        raise _OptionError(f"has padding {options.Padding()}, which is neither SAME nor VALID")
    (top, bottom), (left, right) = pads
    return {
        **{"stride_h": strides[0], "stride_w": strides[1]},
        **{"pad_top": top, "pad_left": left, "pad_bottom": bottom, "pad_right": right},
    }


_READERS: dict[str, tuple[str, Reader]] = {
    "ADD": ("AddOptions", _binary),
    "AVERAGE_POOL_2D": ("Pool2DOptions", _pooling),
    "CONCATENATION": ("ConcatenationOptions", _concatenation),
    "CONV_2D": ("Conv2DOptions", _convolution),
    "DEPTHWISE_CONV_2D": ("DepthwiseConv2DOptions", _depthwise),
    "FULLY_CONNECTED": ("FullyConnectedOptions", _dense),
    "MAX_POOL_2D": ("Pool2DOptions", _pooling),
    "MEAN": ("ReducerOptions", _mean),
    "MUL": ("MulOptions", _binary),
    "PAD": ("", _plain),
    "QUANTIZE": ("", _plain),
    "RESHAPE": ("", _plain),
    "SOFTMAX": ("SoftmaxOptions", _softmax),
}

SUPPORTED = tuple(_READERS)
