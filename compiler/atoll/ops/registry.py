"""The operator kinds that Atoll knows, and what each of them must provide."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from atoll import plugins
from atoll.ir.graph import Graph, Operator

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered

Array = NDArray[np.generic]

OPERATORS: dict[str, str] = {
    "add": "atoll.ops.elementwise:ADD",
    "average_pool_2d": "atoll.ops.pooling:AVERAGE_POOL_2D",
    "concatenation": "atoll.ops.shape:CONCATENATION",
    "conv_2d": "atoll.ops.convolution:CONV_2D",
    "copy": "atoll.ops.shape:COPY",
    "depthwise_conv_2d": "atoll.ops.convolution:DEPTHWISE_CONV_2D",
    "fully_connected": "atoll.ops.convolution:FULLY_CONNECTED",
    "max_pool_2d": "atoll.ops.pooling:MAX_POOL_2D",
    "mean": "atoll.ops.reduction:MEAN",
    "mul": "atoll.ops.elementwise:MUL",
    "pad": "atoll.ops.shape:PAD",
    "quantize": "atoll.ops.elementwise:QUANTIZE",
    "reshape": "atoll.ops.shape:RESHAPE",
    "softmax": "atoll.ops.softmax:SOFTMAX",
}


class OperatorKind(Protocol):
    """All that Atoll needs to know about one kind of operator."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept `op` if it can be compiled.

        Raises:
            ModelError: an option, type or shape is not supported; the message names the
                operator, the tensor and its index.
        """

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return what accelerator descriptions match on and reports count, at least `macs`."""

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the outputs from the inputs, bit for bit as the TFLM reference kernels."""

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the operator's loop program, with shapes and quantisation as constants."""

    def overlap(self, op: Operator, graph: Graph) -> tuple[int | None, ...]:
        """Say how far the output of the loop program may lie over each input.

        Returns:
            For each input the least distance in bytes, 0 or more, from the start of the output
            up to the start of the input with which no byte is written that is still read; None
            where the two must not share bytes.
        """


def kind_of(op: Operator) -> OperatorKind:
    """Look the kind of `op` up."""
    return cast("OperatorKind", plugins.load(OPERATORS[op.kind], "atoll.operators"))
