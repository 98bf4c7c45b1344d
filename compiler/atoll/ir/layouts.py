# SPDX-License-Identifier: Apache-2.0
"""Where the elements of an image lie in memory, if not row by row with the channels together."""

from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from atoll.records import dataclass

Scalar = TypeVar("Scalar", bound=np.generic)
Indices = NDArray[np.int64]

AXES = "NHWC"
PLAIN = "NHWC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """The windows of a convolution, each a position with all that it covers as its channels.

    That is what im2col makes: channel (y * kernel width + x) * C + c of a position is channel c
    of what tap (y, x) covers there, and the padding value where that is outside of the image.

    Attributes:
        kernel, stride, dilation: rows and columns.
        before: rows above and columns left of the image.
        places: positions of the window down and across.
    """

    kernel: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    before: tuple[int, int]
    places: tuple[int, int]

    def sources(self, image: tuple[int, int, int, int]) -> Indices:
        """Return which element of `image` each element of the patches is.

        Returns:
            [N, rows, columns, kernel rows x kernel columns x C]; -1 outside of the image.
        """
        count, height, width, channels = image
        rows, columns = (
            np.arange(places)[:, None] * stride + np.arange(taps) * dilation - before
            for places, stride, taps, dilation, before in zip(
                self.places, self.stride, self.kernel, self.dilation, self.before, strict=True
            )
        )
        y = rows[None, :, None, :, None, None]
        x = columns[None, None, :, None, :, None]
        n = np.arange(count)[:, None, None, None, None, None]
        c = np.arange(channels)
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        found = np.where(inside, ((n * height + y) * width + x) * channels + c, -1)
        return found.reshape(count, *self.places, -1)


@dataclass(frozen=True)
class Layout:
    """How the elements of an image [N, H, W, C] lie.

    Attributes:
        image: its extents.
        order: the axes from the outermost to the innermost; a ``c`` at the end is a block of
            `block` channels: ``NCHWc`` with blocks of 4 is known as NC4HW4. The last block is
            filled up.
        block: channels of a block; 1 if `order` has none.
        row: elements whose multiples rows begin at: the next step outside of W.
        patches: what the image is taken apart to before; None for itself.
        fill: value of elements that belong to no image: its zero point.
    """

    image: tuple[int, int, int, int]
    order: str = PLAIN
    block: int = 1
    row: int = 1
    patches: Patches | None = None
    fill: int = 0

    @property
    def extents(self) -> tuple[int, int, int, int]:
        """Those of what is laid out: of the image, or of its patches."""
        if self.patches is None:
            return self.image
        count, *_, channels = self.image
        return (count, *self.patches.places, prod(self.patches.kernel) * channels)

    @property
    def strides(self) -> dict[str, int]:
        """Elements from one step of an axis to the next; "" has all elements together."""
        extents = dict(zip(AXES, self.extents, strict=True))
        extents |= {"C": -(-extents["C"] // self.block), "c": self.block}
        strides, step = {"c": 0}, 1
        for axis in reversed(self.order):
            strides[axis] = step
            step *= extents[axis]
            if axis == "W":
                step = -(-step // self.row) * self.row
        return strides | {"": step}

    @property
    def elements(self) -> int:
        """All that it has room for, fillings included."""
        return self.strides[""]

    def offsets(self) -> Indices:
        """Return where each element of `extents` lies."""
        strides = self.strides
        grid: list[Indices] = np.indices(self.extents, sparse=True)  # type: ignore[assignment]
        n, h, w, c = grid
        parts = (n * strides["N"], h * strides["H"], w * strides["W"])
        channel = c // self.block * strides["C"] + c % self.block * strides["c"]
        return np.asarray(sum(parts, channel), np.int64)

    def is_plain(self) -> bool:
        """Tell whether the elements lie as they do without a layout."""
        if self.elements != prod(self.image):
            return False
        plain = np.arange(self.elements)
        sources = self.patches.sources(self.image) if self.patches else plain
        return np.array_equal(self.offsets().ravel(), plain) and np.array_equal(
            sources.ravel(), plain
        )

    def sources(self) -> Indices:
        """Return which element of the image lies at each place, -1 for a filling; [elements]."""
        found = np.full(self.elements, -1)
        every = np.arange(prod(self.image)).reshape(self.image)
        laid = self.patches.sources(self.image) if self.patches else every
        found[self.offsets().ravel()] = laid.ravel()
        return found

    def store(self, values: NDArray[Scalar]) -> NDArray[Scalar]:
        """Lay the elements of an image out; [elements]."""
        sources = self.sources()
        laid = values.reshape(-1)[np.maximum(sources, 0)]
        laid[sources < 0] = self.fill
        return laid

    def load(self, stored: NDArray[Scalar]) -> NDArray[Scalar]:
        """Return the elements of the image [N, H, W, C]; what no patch covers is the filling."""
        sources = self.sources()
        values = np.full(prod(self.image), self.fill, stored.dtype)
        values[sources[sources >= 0]] = stored[sources >= 0]
        return values.reshape(self.image)

    def text(self) -> str:
        """Return all of it, as the text of a graph has it."""
        fields = {"image": self.image, "block": self.block, "row": self.row, "fill": self.fill}
        usual = {"block": 1, "row": 1, "fill": 0}
        values = [f"{key}={value}" for key, value in fields.items() if usual.get(key) != value]
        if self.patches:
            names = ("kernel", "stride", "dilation", "before", "places")
            values += [f"{name}={getattr(self.patches, name)}" for name in names]
        return f"{self.order} {{{', '.join(values)}}}"

    def __str__(self) -> str:
        words = [self.order if self.block == 1 else f"{self.order[:-1]}{self.block}c"]
        words += [f"rows of {self.row}"] if self.row > 1 else []
        words += [f"patches of {'x'.join(map(str, self.patches.kernel))}"] if self.patches else []
        return " in ".join(words)
