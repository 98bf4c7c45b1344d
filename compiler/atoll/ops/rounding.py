# SPDX-License-Identifier: Apache-2.0
"""How operators round, where not as TFLite: as ONNX says, once, from the exact value."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from atoll.ir.graph import Operator

ROUNDING = "rounding"
"""The attribute; where it is absent, an operator rounds as TFLite does."""

ONCE, EVEN = "once", "even"
"""Its values: once and halves up, where TFLite rounds twice; halves to even from the zero point."""

FEATURES: Mapping[str, str] = MappingProxyType({ONCE: "rounds_once", EVEN: "rounds_to_even"})
"""What accelerators' descriptions call them: 1 if an operator rounds so, else 0."""

ROUNDED: Mapping[str, str] = MappingProxyType(
    {
        "average_pool_2d": EVEN,
        "batch_matmul": ONCE,
        "conv_2d": ONCE,
        "depthwise_conv_2d": ONCE,
        "fully_connected": ONCE,
        "leaky_relu": ONCE,
        "mean": ONCE,
        "mul": ONCE,
        "prelu": ONCE,
        "quantize": ONCE,
        "resize_bilinear": EVEN,
        "sum": ONCE,
        "transpose_conv": ONCE,
    }
)
"""The value of each kind that heeds the attribute."""


def rounds_once(op: Operator) -> bool:
    """Tell whether an operator rounds once where TFLite rounds twice."""
    return op.attributes.get(ROUNDING) == ONCE


def rounds_to_even(op: Operator) -> bool:
    """Tell whether an operator rounds halves to even."""
    return op.attributes.get(ROUNDING) == EVEN


def as_onnx(kind: str) -> Mapping[str, str]:
    """Return the attribute with which a kind rounds as ONNX says, nothing for other kinds."""
    return {ROUNDING: ROUNDED[kind]} if kind in ROUNDED else {}


def rounding_feature(op: Operator) -> Mapping[str, int]:
    """Return the feature of a kind that heeds the attribute, nothing of others."""
    if op.kind not in ROUNDED:
        return {}
    return {FEATURES[ROUNDED[op.kind]]: int(ROUNDING in op.attributes)}


def as_tflite(op: Operator) -> Operator:
    """Return the operator rounding as TFLite does."""
    kept = {name: value for name, value in op.attributes.items() if name != ROUNDING}
    return replace(op, attributes=kept) if ROUNDING in op.attributes else op
