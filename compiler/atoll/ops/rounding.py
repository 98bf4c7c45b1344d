"""How often an operator rounds what it scales: twice as TFLite, or once as onnxruntime does."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.ir.graph import Operator

ROUNDING, ONCE = "rounding", "once"
"""The attribute, and its value; absent it is twice."""

FEATURE = "rounds_once"
"""What accelerators' descriptions call it: 1 if an operator rounds once, else 0."""

ROUNDED = frozenset(
    {
        "batch_matmul",
        "conv_2d",
        "depthwise_conv_2d",
        "fully_connected",
        "leaky_relu",
        "mean",
        "mul",
        "prelu",
        "quantize",
        "sum",
        "transpose_conv",
    }
)
"""The kinds that heed the attribute."""


def rounds_once(op: Operator) -> bool:
    """Tell whether an operator rounds once."""
    return op.attributes.get(ROUNDING) == ONCE


def rounding_feature(op: Operator) -> Mapping[str, int]:
    """Return the feature of a kind that heeds the attribute, nothing of others."""
    return {FEATURE: int(rounds_once(op))} if op.kind in ROUNDED else {}


def rounding_twice(op: Operator) -> Operator:
    """Return the operator as TFLite rounds."""
    kept = {name: value for name, value in op.attributes.items() if name != ROUNDING}
    return replace(op, attributes=kept) if rounds_once(op) else op
