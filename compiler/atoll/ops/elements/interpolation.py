# SPDX-License-Identifier: Apache-2.0
"""LOGISTIC and TANH of int16: the logistic function between 256 values (TFLM: `sigmoid_table`).

TANH follows from it: tanh(x) = 2 * logistic(2 * x) - 1.
"""

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, binary, maximum, minimum, multiply, select, subtract
from atoll.ir.tir import Expr, Operation, Type
from atoll.ops.elements.elementwise import Result
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import Integers
from atoll.records import dataclass

ENTRIES, STEPS_OF_ONE = 256, 24
_HALF = 1 << 15
_MOST_PLACES = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpolation:
    """How a curve is computed of int16.

    Attributes:
        places: bits of the scaled input between two entries.
        shifts: of a power of two from 2^-12 on, that are taken without a rounded factor.
        signed: the result goes from -1 to 1 instead of from 0.
    """

    places: int
    shifts: tuple[int, ...]
    signed: bool

    def results(self, scale: float, values: Integers) -> Integers:
        """Return the results of values with a scale."""
        factor, right = self._factor(scale)
        base, slope = _tables(signed=self.signed)
        scaled = (values * factor + ((1 << right) >> 1)) >> right
        distance = np.abs(scaled)
        at = np.minimum(distance >> self.places, ENTRIES - 1)
        rest = distance & ((1 << self.places) - 1)
        made = ((base[at] + _HALF) << self.places) + rest * slope[at]
        above, below, end = self._ends()
        results: Integers = np.where(scaled >= 0, made + above, below - made) >> end
        return results

    def element_expression(self, scale: float, builder: KernelBuilder) -> Result:
        """Return what does the same to an element."""
        return self.between(scale, builder, self.add_tables(builder))

    def add_tables(self, builder: KernelBuilder, prefix: str = "") -> tuple[Buffer, Buffer]:
        """Give a kernel the tables; they are the same for every scale."""
        base, slope = _tables(signed=self.signed)
        return (
            builder.table(f"{prefix}base", base, Type.I16),
            builder.table(f"{prefix}slope", slope, Type.I16),
        )

    def between(
        self, scale: float, builder: KernelBuilder, tables: tuple[Buffer, Buffer]
    ) -> Result:
        """Return what computes an element of the tables of a kernel."""
        factor, right = self._factor(scale)
        base, slope = tables
        above, below, end = self._ends()

        def result(values: Sequence[Expr]) -> Expr:
            moved = add(multiply(values[0], factor), (1 << right) >> 1)
            scaled = builder.let("scaled", binary(Operation.SHR, moved, right))
            distance = builder.let("distance", maximum(scaled, subtract(0, scaled)))
            whole = binary(Operation.SHR, distance, self.places)
            at = builder.let("at", minimum(whole, ENTRIES - 1))
            rest = binary(Operation.AND, distance, (1 << self.places) - 1)
            first = binary(Operation.SHL, add(base.wide(at), _HALF), self.places)
            made = builder.let("made", add(first, multiply(rest, slope.wide(at))))
            positive = binary(Operation.LE, 0, scaled)
            chosen = select(positive, add(made, above), subtract(below, made))
            return binary(Operation.SHR, chosen, end)

        return result

    def _factor(self, scale: float) -> tuple[int, int]:
        """Return what brings an input to steps of 1/3 of 2^-12, and a shift to the right."""
        fraction, exponent = math.frexp(scale)
        left = 12 + exponent - 1
        if fraction == 0.5 and left in self.shifts:
            return 3 << left, 0
        factor, right = scale * 4096 * 3, 0
        while factor <= 32767 / 2 and right < _MOST_PLACES:
            factor, right = factor * 2, right + 1
        return int(factor), right

    def _ends(self) -> tuple[int, int, int]:
        """Return what is added from 0 on, what a result is taken from below, and the last shift."""
        if self.signed:
            return (1 << 7) - (1 << 23), (1 << 23) + (1 << 7) - 1, 8
        return 1 << 9, (1 << 25) + (1 << 9) - 1, 10


@cache
def _tables(*, signed: bool) -> tuple[Integers, Integers]:
    """Return the entries less a half of 2^16, and how far it is to the next; the last is 1."""
    entries = [_entry(at) for at in range(ENTRIES)]
    slopes = [*np.diff(entries).tolist(), 0]
    entries[-1] = 2 * _HALF - (1 if signed else 2)
    made = np.array(entries, np.int64) - _HALF, np.array(slopes, np.int64)
    for table in made:
        table.flags.writeable = False
    return made


def _entry(at: int) -> int:
    """Return the logistic function of steps of 1/24, in 16 bits; the last entry is the greatest.

    Entries are moved by half of what a straight line to the next is off in the middle.
    """
    here, middle, there = (_logistic(each) for each in (at, at + 0.5, at + 1))
    off = (here + there) / 2 - middle
    return 2 * _HALF - 1 if at == ENTRIES - 1 else math.floor(here - off / 2 + 0.5)


def _logistic(step: float) -> float:
    return 2 * _HALF / (1 + math.exp(-step / STEPS_OF_ONE))
