# SPDX-License-Identifier: Apache-2.0
"""What a value of an ONNX network is while the graph is made."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from atoll.frontend.onnx.layout import Order
from atoll.frontend.onnx.model import Array, Node
from atoll.frontend.real_functions import RealFunction
from atoll.ir.graph import Quantization
from atoll.records import dataclass


class Unfit(Exception):  # noqa: N818 - a refusal, which becomes a fault of the node
    """A node, or one of its operands, has no counterpart.

    Attributes:
        remedy: what to change.
        code: of the fault.
        place: the node, where it is not the current one.
        left_real: an operand is a real number that nothing quantises.
    """

    def __init__(
        self, message: str, remedy: str = "", code: str = "E054", *, left_real: bool = False
    ) -> None:
        super().__init__(message)
        self.left_real = left_real
        self.code = code
        self.place = ""
        self.remedy = remedy or "change the layer as docs/onnx.md allows, and export it again"


_ALIKE = 2.0**-22
"""Of numbers that are one number of float32."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Which real numbers the values of a type stand for."""

    dtype: str
    quantization: Quantization

    @property
    def scale(self) -> float:
        """The step of what is quantised as a whole."""
        return self.quantization.scales[0]

    @property
    def zero_point(self) -> int:
        """The value of 0."""
        return self.quantization.zero_points[0]

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest value."""
        info = np.iinfo(self.dtype)
        return int(info.min), int(info.max)

    def reaches(self, real: float) -> bool:
        """Tell whether a real number lies within the limits."""
        return bool(self.limits[0] <= real / self.scale + self.zero_point <= self.limits[1])

    def states(self, real: float) -> bool:
        """Tell whether a value stands for a real number, as float32 tells them apart."""
        steps = real / self.scale
        return self.reaches(real) and abs(steps - round(steps)) < _ALIKE * max(1.0, abs(steps))

    def nearest(self, real: Any) -> Any:
        """Return the values that are nearest to real numbers, halves to even ones."""
        with np.errstate(over="ignore"):
            values = np.rint(np.asarray(real, np.float64) / self.scale) + self.zero_point
        return np.clip(values, *self.limits).astype(self.dtype)


def grid(dtype: str, scale: float, zero_point: int) -> Grid:
    """Return the grid of what is quantised as a whole."""
    rounded = float(np.float32(scale))
    return Grid(dtype, Quantization(scales=(rounded,), zero_points=(zero_point,)))


_BETWEEN = 64
_WIDEST, _LEAST_SCALE, _MOST = 32767, 2.0**-100, 2.0**100


def finer(coarse: Grid) -> Grid:
    """Return a grid of 16 bits that has every value of one of 8 bits, and 63 between two."""
    return coarse if coarse.dtype == "int16" else grid("int16", coarse.scale / _BETWEEN, 0)


Range = tuple[float, float]
"""The least and the greatest real number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A value that a tensor of the graph holds.

    Attributes:
        tensor: its name.
        shape: ONNX's extents.
        order: how they are stored.
        grid: None for plain integers.
        real: it stands for real numbers, as behind a DequantizeLinear.
        error: by how much these may differ from those of the file, where 16 bits hold them.
        folded: extents, as stored, that the last axis was made of, if ONNX has them in `unfolded`
            order: a flattened image whose channels lie side by side.
    """

    tensor: str
    shape: tuple[int, ...]
    order: Order
    grid: Grid | None
    real: bool
    folded: tuple[int, ...] = ()
    unfolded: Order = ()
    error: float = 0.0

    @property
    def range(self) -> Range:
        """The least and the greatest real number that it can hold."""
        to = self.require_grid()
        least, most = ((each - to.zero_point) * to.scale for each in to.limits)
        return least, most

    def require_grid(self) -> Grid:
        """Return the grid.

        Raises:
            Unfit: there is none.
        """
        if self.grid is None:
            raise Unfit("an operand is not quantised", "quantise the whole network")
        return self.grid


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """A value that is known; integers with a grid where they stand for real numbers.

    Attributes:
        values: in ONNX's order.
        quantization: per tensor, or along an axis.
    """

    values: Array
    quantization: Quantization | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """ONNX's extents."""
        return self.values.shape

    def require_grid(self) -> Grid:
        """Return the grid of integers that are quantised as a whole.

        Raises:
            Unfit: there is none.
        """
        if self.quantization is None or len(self.quantization.scales) != 1:
            raise Unfit("a constant operand is not quantised per tensor")
        return Grid(self.values.dtype.name, self.quantization)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A real result whose grid is stated by what follows it.

    Attributes:
        shape: ONNX's extents.
        make: adds the operator; takes the grid of its result and its fused activation.
        fuses: it has a fused activation.
        own: the grid that its values lie on, or suit at an output of the network; None for none.
        rounds: they do not lie on it.
        low, high: what clamps it afterwards.
        range: its real numbers before that, None where they are not known.
        error: by how much they may differ from those of the file.
        exact: what to change so that they do not; "" if that is not one thing.
        of: the value that it is a function of, and that function, where a table can have both.
        biased: returns the same with a constant added to each channel.
        channels: ONNX's axis of these channels.
        node: what makes it, None until its handler returns.
    """

    shape: tuple[int, ...]
    make: Callable[[Grid, str], Stored]
    fuses: bool = False
    own: Grid | None = None
    rounds: bool = False
    low: float = -np.inf
    high: float = np.inf
    range: Range | None = None
    error: float = 0.0
    exact: str = ""
    of: tuple[Stored, RealFunction] | None = None
    biased: Callable[[Array], "Pending"] | None = None
    channels: int = 1
    node: Node | None = None

    @property
    def lies_on(self) -> Grid | None:
        """The grid that its values lie on, a finer one where a clamp's bound lies beside it."""
        if self.own is None or self.rounds:
            return None
        bounds = [each for each in (self.low, self.high) if self.own.reaches(each)]
        if all(map(self.own.states, bounds)):
            return self.own
        fine = finer(self.own)
        return self.wide if self.wide is not None and self.wide.scale < fine.scale else fine

    @property
    def span(self) -> Range | None:
        """The least and the greatest real number after the clamp, None where they are not known."""
        if self.range is None:
            return None
        low, high = (float(np.clip(each, self.low, self.high)) for each in self.range)
        return low, high

    @property
    def wide(self) -> Grid | None:
        """A grid of 16 bits that has all its values, if they are known."""
        if self.span is None:
            return None
        most = max(map(abs, self.span))
        return grid("int16", max(most / _WIDEST, _LEAST_SCALE), 0) if most < _MOST else None

    def clamp(self, low: float, high: float) -> "Pending":
        """Return the same, clamped."""
        low, high = max(self.low, low), min(self.high, high)
        return replace(self, low=low, high=high, biased=None)


Part = Stored | Constant | Pending


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of operands together.

    Raises:
        Unfit: they do not go together.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        told = " and ".join(str([*shape]) for shape in shapes)
        raise Unfit(f"has operands of shapes {told}, which do not go together") from None
