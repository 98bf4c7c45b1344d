# SPDX-License-Identifier: Apache-2.0
"""What a constant that is added to sums of products says of its scale, held against theirs."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.quantization import scale_of

MOST_OF_A_STEP = 0.02
"""By which one of a dense layer's bias may be off (TFLM: `GetQuantizedConvolutionMultipler`)."""

_REMEDY = "convert the model again: a bias has the scale of input x filter, and zero point 0"


ROUNDED = 2.0**-20
"""Part of a scale by which it may be off, as scales have 24 bits."""


def is_that_of_sums(
    op: Operator,
    bias: Tensor | None,
    sums: Sequence[float],
    step: float,
    most_each: float = np.inf,
) -> Iterator[Fault]:
    """Require the scale that a bias states, if any, to be that of what it is added to.

    Kernels add it as it is. So a scale that differs is wrong by as much as the bias is great; it
    may be by one step of what the operator makes.

    Args:
        op: the operator, for messages.
        bias: a constant, None if there is none.
        sums: scales of the sums, one or for each channel.
        step: scale of what is made of them.
        most_each: steps that 1 of the bias may be off.
    """
    if bias is None or bias.quantization is None:
        return
    stated, wanted = np.asarray(bias.quantization.scales), np.asarray(sums)
    values = np.abs(bias.array.astype(np.float64).reshape(-1))
    with np.errstate(over="ignore"):
        difference = np.abs(stated - wanted)
        each = np.broadcast_to(difference / step, values.shape)
        differs = difference > ROUNDED * wanted
        wrong = (each > most_each) | (each * values > 1) & differs
    if wrong.any():
        at = int(np.argmax(each * values * wrong))
        found, right = (float(np.broadcast_to(s, values.shape)[at]) for s in (stated, wanted))
        message = f"has scale {found:g}, and the sums that it is added to {right:g}"
        yield checks.fault(op, message, tensor=bias, remedy=_REMEDY)
    elif any(bias.quantization.zero_points):
        yield checks.fault(op, "has a zero point other than 0", tensor=bias, remedy=_REMEDY)


def of_products(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require it of the bias of a convolution or a dense layer."""
    x, weights, bias, *_ = (*graph.operands(op), None)
    assert x is not None
    assert weights is not None
    assert weights.quantization is not None
    scales = weights.quantization.scales
    sums = [scale_of(x) * scale for scale in scales]
    dense = op.kind == "fully_connected" and len(scales) == 1
    step = scale_of(graph.results(op)[0])
    yield from is_that_of_sums(op, bias, sums, step, MOST_OF_A_STEP if dense else np.inf)
