"""The names that the description of an accelerator may use: operators, features, drivers.

Tests hold these tables against what `atoll.ops` and the drivers of the BSP really have.
"""

from collections.abc import Mapping
from types import MappingProxyType

OPERATOR_GROUP = "atoll.operators"
"""Entry points of other packages' operators, whose features nobody knows before they are loaded."""

_WINDOW = (
    *("kernel_h", "kernel_w", "stride_h", "stride_w"),
    *("dilation_h", "dilation_w", "pad_top", "pad_left"),
)
_IMAGES = ("in_height", "in_width", "in_channels", "out_height", "out_width", "out_channels")
_CONVOLUTION = (*_WINDOW, *_IMAGES, "depth_multiplier", "macs", "int8")
_POOLING = (*_WINDOW, *_IMAGES, "macs")
_ELEMENTWISE = ("macs", "elements")
_MOVEMENT = ("macs", "bytes")
_COMMAND_LIST = (
    *("CONTROL", "STATUS", "ERROR", "FAULT_ADDRESS", "LIST_ADDRESS", "LIST_COUNT"),
    *("COMPLETED", "IRQ_ENABLE", "IRQ_STATUS"),
)

FEATURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "ADD": _ELEMENTWISE,
        "AVERAGE_POOL_2D": _POOLING,
        "CONCATENATION": _MOVEMENT,
        "CONV_2D": _CONVOLUTION,
        "COPY": _MOVEMENT,
        "DEPTHWISE_CONV_2D": _CONVOLUTION,
        "ETHOS_U": ("macs", "operators"),
        "FULLY_CONNECTED": _CONVOLUTION,
        "MAX_POOL_2D": _POOLING,
        "MEAN": ("macs", "reduced"),
        "MUL": _ELEMENTWISE,
        "PAD": _MOVEMENT,
        "QUANTIZE": _ELEMENTWISE,
        "RESHAPE": _MOVEMENT,
        "SOFTMAX": ("macs", "rows", "depth"),
    }
)
"""What a description may limit of each operator that it may name."""

DRIVERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command_list": _COMMAND_LIST,
        "ethos_u": _COMMAND_LIST,
    }
)
"""The registers that each C driver uses."""
