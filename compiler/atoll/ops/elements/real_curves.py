# SPDX-License-Identifier: Apache-2.0
"""Kinds of one int8 operand that TFLite computes with float32 and keeps in a table.

TFLM has the table (`PopulateLookupTable`) and of these kinds ELU alone.
"""

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator
from atoll.ops.checks import require_input
from atoll.ops.elements.unary import Unary
from atoll.ops.quantization import INT8_MAX, INT8_MIN, Integers, scale_of, zero_point_of
from atoll.ops.tflite_form import BYTE, TfliteForm

Wide = NDArray[np.float64]
_ERROR_FUNCTION = np.vectorize(math.erf, otypes=[np.float64])


class RealCurve(Unary):
    """What the kinds share."""

    @abstractmethod
    def curve(self, op: Operator, x: Wide) -> Wide:
        """Return the results of real numbers."""

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Round halves away from 0; what is not a number is the zero point."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        real = np.float32(scale_of(x)) * (values - zero_point_of(x)).astype(np.float32)
        with np.errstate(all="ignore"):
            made = self.curve(op, real.astype(np.float64)).astype(np.float32)
            steps = made * (np.float32(1) / np.float32(scale_of(output)))
        within = np.nan_to_num(steps.astype(np.float64)).clip(2 * INT8_MIN, 2 * INT8_MAX + 2)
        away = np.sign(within) * np.floor(np.abs(within) + 0.5)
        rounded: Integers = away.astype(np.int64)
        return rounded + zero_point_of(output)


class Exp(RealCurve):
    """EXP."""

    tflite = TfliteForm(code="EXP")

    def curve(self, op: Operator, x: Wide) -> Wide:
        """Return e**x."""
        return np.exp(x)


class Gelu(RealCurve):
    """GELU; `approximate` is the one with tanh."""

    tflite = TfliteForm(
        code="GELU",
        table="GeluOptions",
        fields={0: BYTE},
        read=lambda options, shapes: {"approximate": bool(options.Approximate())},
    )

    def curve(self, op: Operator, x: Wide) -> Wide:
        """Return x times the share of a normal distribution below it."""
        if op.attributes["approximate"]:
            root = math.sqrt(2 / math.pi)
            return np.asarray(x / 2 * (1 + np.tanh(root * (x + 0.044715 * x**3))))
        return np.asarray(x / 2 * (1 + _ERROR_FUNCTION(x / math.sqrt(2))))


class Log(RealCurve):
    """LOG; at 0 and below the least value, or the zero point."""

    tflite = TfliteForm(code="LOG")

    def curve(self, op: Operator, x: Wide) -> Wide:
        """Return the natural logarithm."""
        return np.log(x)


EXP, GELU, LOG = Exp(), Gelu(), Log()
