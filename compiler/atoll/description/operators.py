# SPDX-License-Identifier: Apache-2.0
"""The names that the description of an accelerator may use: operators, features, drivers.

Tests hold these tables against what `atoll.ops` and the drivers of the BSP really have.
"""

from collections.abc import Mapping
from types import MappingProxyType

OPERATOR_GROUP = "atoll.operators"
"""Entry points of other packages' operators, whose features nobody knows before they are loaded."""

_WINDOW = (
    *("kernel_h", "kernel_w", "stride_h", "stride_w"),
    *("dilation_h", "dilation_w", "pad_top", "pad_left", "pad_bottom", "pad_right"),
)
_IMAGES = (
    *("batches", "in_height", "in_width", "in_channels"),
    *("out_height", "out_width", "out_channels"),
)
_CONVOLUTION = (*_WINDOW, *_IMAGES, "depth_multiplier", "groups", "macs", "int8", "rounds_once")
_POOLING = (*_WINDOW, *_IMAGES, "macs")
_ELEMENTWISE = ("macs", "elements", "broadcast", "element_bytes")
_RESCALED = (*_ELEMENTWISE, "rounds_once")
_MOVEMENT = ("macs", "bytes")
_RESIZING = ("macs", *_IMAGES, "align_corners", "half_pixel_centers")
_ROWS = ("macs", "rows", "depth")
_REDUCTION = ("macs", "reduced", "rows", "channels", "apart")
_SUM = (*_REDUCTION, "rounds_once")
_COMMAND_LIST = (
    *("CONTROL", "STATUS", "ERROR", "FAULT_ADDRESS", "LIST_ADDRESS", "LIST_COUNT"),
    *("COMPLETED", "IRQ_ENABLE", "IRQ_STATUS"),
)
_DOORBELL = (
    *("CONTROL", "STATUS", "ERROR", "FAULT_ADDRESS", "DOORBELL", "QUEUE"),
    *("COMPLETED", "IRQ_ENABLE", "IRQ_STATUS"),
)

FEATURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ABS": _ELEMENTWISE,
        "ADD": _ELEMENTWISE,
        "ADD_N": _ELEMENTWISE,
        "ARG_MAX": _REDUCTION,
        "ARG_MIN": _REDUCTION,
        "ASSIGN_VARIABLE": _MOVEMENT,
        "AVERAGE_POOL_2D": (*_POOLING, "rounds_to_even"),
        "BATCH_MATMUL": ("macs", "batches", "rows", "columns", "depth", "rounds_once"),
        "BATCH_TO_SPACE_ND": _MOVEMENT,
        "BROADCAST_ARGS": _MOVEMENT,
        "BROADCAST_TO": _MOVEMENT,
        "CAST": _ELEMENTWISE,
        "CONCATENATION": _MOVEMENT,
        "CONV_2D": _CONVOLUTION,
        "COPY": _MOVEMENT,
        "CUMSUM": ("macs", "depth"),
        "DEPTHWISE_CONV_2D": _CONVOLUTION,
        "DEPTH_TO_SPACE": _MOVEMENT,
        "DIV": _ELEMENTWISE,
        "DYNAMIC_UPDATE_SLICE": _MOVEMENT,
        "ELU": _ELEMENTWISE,
        "EMBEDDING_LOOKUP": _MOVEMENT,
        "EQUAL": _ELEMENTWISE,
        "ETHOS_U": ("macs", "operators"),
        "EXP": _ELEMENTWISE,
        "EXPAND_DIMS": _MOVEMENT,
        "FULLY_CONNECTED": _CONVOLUTION,
        "FILL": _MOVEMENT,
        "GATHER": _MOVEMENT,
        "GATHER_ND": _MOVEMENT,
        "GELU": _ELEMENTWISE,
        "GREATER": _ELEMENTWISE,
        "GREATER_EQUAL": _ELEMENTWISE,
        "HARD_SWISH": _ELEMENTWISE,
        "JOIN_ROWS": _MOVEMENT,
        "L2_NORMALIZATION": _ROWS,
        "LAYER_NORMALIZATION": _ROWS,
        "LEAKY_RELU": _RESCALED,
        "LESS": _ELEMENTWISE,
        "LESS_EQUAL": _ELEMENTWISE,
        "LOG": _ELEMENTWISE,
        "LOGICAL_AND": _ELEMENTWISE,
        "LOGICAL_NOT": _ELEMENTWISE,
        "LOGICAL_OR": _ELEMENTWISE,
        "LOGISTIC": _ELEMENTWISE,
        "LOG_SOFTMAX": _ROWS,
        "LOOKUP": _ELEMENTWISE,
        "MAXIMUM": _ELEMENTWISE,
        "MAX_POOL_2D": _POOLING,
        "MEAN": _SUM,
        "MINIMUM": _ELEMENTWISE,
        "MIRROR_PAD": _MOVEMENT,
        "MUL": _RESCALED,
        "NOT_EQUAL": _ELEMENTWISE,
        "PAD": _MOVEMENT,
        "PADV2": _MOVEMENT,
        "PRELU": _RESCALED,
        "QUANTIZE": _RESCALED,
        "REDUCE_ALL": _REDUCTION,
        "REDUCE_MAX": _REDUCTION,
        "REDUCE_MIN": _REDUCTION,
        "RELAYOUT": (*_MOVEMENT, "patches"),
        "RELU": _ELEMENTWISE,
        "RELU6": _ELEMENTWISE,
        "RESHAPE": _MOVEMENT,
        "RESIZE_BILINEAR": (*_RESIZING, "rounds_to_even"),
        "RESIZE_NEAREST_NEIGHBOR": _RESIZING,
        "REVERSE_V2": _MOVEMENT,
        "ROWS": _MOVEMENT,
        "RSQRT": _ELEMENTWISE,
        "SELECT_V2": _ELEMENTWISE,
        "SHAPE": _MOVEMENT,
        "SLICE": _MOVEMENT,
        "SOFTMAX": _ROWS,
        "SPACE_TO_BATCH_ND": _MOVEMENT,
        "SPACE_TO_DEPTH": _MOVEMENT,
        "SQUARED_DIFFERENCE": _ELEMENTWISE,
        "SQUEEZE": _MOVEMENT,
        "STRIDED_SLICE": _MOVEMENT,
        "SUB": _ELEMENTWISE,
        "SUM": _SUM,
        "SVDF": ("macs", "batches", "in_channels", "out_channels", "rank", "steps"),
        "TANH": _ELEMENTWISE,
        "TILE": _MOVEMENT,
        "TRANSPOSE": _MOVEMENT,
        "TRANSPOSE_CONV": _CONVOLUTION,
        "UNIDIRECTIONAL_SEQUENCE_LSTM": ("macs", "batches", "in_channels", "out_channels", "steps"),
        "ZEROS_LIKE": _MOVEMENT,
    }
)
"""What a description may limit of each operator that it may name."""

DRIVERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command_list": _COMMAND_LIST,
        "doorbell": _DOORBELL,
        "ethos_u": _COMMAND_LIST,
    }
)
"""The registers that each C driver uses."""

_ACTIVATION = ("activation_min", "activation_max")
_SCALED = ("output_multiplier", "output_shift")

_SUMMED = (
    *("left_shift", "input1_multiplier", "input1_shift"),
    *("input2_multiplier", "input2_shift", *_SCALED, *_ACTIVATION),
)

QUANTITIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ADD": _SUMMED,
        "AVERAGE_POOL_2D": _ACTIVATION,
        "BATCH_MATMUL": _SCALED,
        "CONV_2D": _ACTIVATION,
        "CUMSUM": _SCALED,
        "DEPTHWISE_CONV_2D": _ACTIVATION,
        "FULLY_CONNECTED": _ACTIVATION,
        "MAX_POOL_2D": _ACTIVATION,
        "MEAN": _SCALED,
        "MUL": (*_SCALED, *_ACTIVATION),
        "QUANTIZE": (*_SCALED, *_ACTIVATION),
        "SUB": _SUMMED,
        "SUM": _SCALED,
        "TRANSPOSE_CONV": _ACTIVATION,
    }
)
"""Numbers of their arithmetic, besides features, that formulas may have of operators."""

OPERANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ADD": ("input1", "input2"),
        "BATCH_MATMUL": ("input1", "input2"),
        "CONV_2D": ("input", "filter", "bias"),
        "DEPTHWISE_CONV_2D": ("input", "filter", "bias"),
        "DIV": ("input1", "input2"),
        "EQUAL": ("input1", "input2"),
        "FULLY_CONNECTED": ("input", "filter", "bias"),
        "GREATER": ("input1", "input2"),
        "GREATER_EQUAL": ("input1", "input2"),
        "LESS": ("input1", "input2"),
        "LESS_EQUAL": ("input1", "input2"),
        "LOGICAL_AND": ("input1", "input2"),
        "LOGICAL_OR": ("input1", "input2"),
        "MAXIMUM": ("input1", "input2"),
        "MINIMUM": ("input1", "input2"),
        "MUL": ("input1", "input2"),
        "NOT_EQUAL": ("input1", "input2"),
        "PRELU": ("input", "alpha"),
        "SELECT_V2": ("condition", "input1", "input2"),
        "SQUARED_DIFFERENCE": ("input1", "input2"),
        "SUB": ("input1", "input2"),
        "TRANSPOSE_CONV": ("input", "filter", "bias"),
    }
)
"""What formulas and steps call the inputs of an operator, in their order; ``input`` of others."""

PLACE = "address"

PROPERTIES = (PLACE, "bytes", "elements", "zero_point")
"""What formulas may have of an operand, the result or a packed constant: ``input.address``."""


def operands_of(kind: str) -> tuple[str, ...]:
    """Return what the inputs of an operator are called; `kind` is in capitals."""
    return OPERANDS.get(kind, ("input",))
