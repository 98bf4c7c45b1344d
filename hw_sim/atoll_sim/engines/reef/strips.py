# SPDX-License-Identifier: Apache-2.0
"""Cut an operator of the reef accelerator into strips, so that its output may lie over its input.

reef computes one block of output channels after the other and reads the input again for each, so
the output of a command may only reach bytes that neither it nor a later command reads. A strip
is a part of one row of output pixels, or some whole rows: what one command can compute.
"""

from collections.abc import Hashable, Iterator
from dataclasses import replace

from atoll.ops.overlap import MOST_PIXELS, Bytes, pixel_distance, still_read
from atoll.ops.window import Window
from atoll.records import dataclass
from atoll.utils.remember import remember
from atoll_sim.engines.reef.geometry import Geometry

_LONGEST_ROW = 0xFFFF


@dataclass(frozen=True, slots=True)
class Strip:
    """Output pixels `begin` up to `end`, counted in the order of memory over all samples."""

    begin: int
    end: int

    @property
    def pixels(self) -> int:
        """Count of output pixels."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one command computes.

    Attributes:
        shape: of one image.
        input: where it begins, in bytes from the start of the operator's input.
        output: likewise.
    """

    shape: Geometry
    input: int
    output: int


class Strips:
    """The ways to cut one operator.

    Attributes:
        distance: bytes from the start of the output up to that of the input, or more: then the
            output may lie over the input.
        count: the most commands that this takes.
    """

    def __init__(self, shape: Geometry, lanes: int, most: int) -> None:
        """Find the least distance that few commands can keep.

        Args:
            shape: the operator.
            lanes: output channels that reef computes at once.
            most: commands that may be spent, besides one for each sample.
        """
        self._whole = shape
        self._shape = _as_row(shape)
        self._width = self._shape.output[1]
        self._image = self._shape.output[0] * self._width
        self._channels = shape.output[2]
        self._one_block = self._channels <= lanes
        self._in_place = shape.depthwise and shape.depth_multiplier == 1
        self._apart = shape.samples * self._image * self._channels
        self._least = self._apart
        if shape.samples * self._image <= MOST_PIXELS:
            self._lowest = _lowest(self._shape)
            self._least = min(self._apart, pixel_distance(self._lowest, self._channels))
        self.distance = self._find_distance(most)
        few = self._one_block or self.distance == self._apart
        self.count = shape.samples if few else len(self._cut(self.distance, most))

    @property
    def useful(self) -> bool:
        """Tell whether the output may lie over the input at all."""
        return self.distance < self._apart

    def parts(self, distance: int) -> Iterator[Part]:
        """Yield at most `count` commands for an input this many bytes above the output.

        A command of one block reads and writes pixel by pixel. So does each block of a depthwise
        command, and it stays among its own channels if the distance is a whole number of pixels.
        """
        raster = self._one_block or (self._in_place and distance % self._channels == 0)
        over = self.useful and 0 <= distance < self._apart
        if (raster and distance >= self._least) or not over:
            images = range(0, self._shape.samples * self._image, self._image)
            yield from (_part(self._whole, Strip(at, at + self._image)) for at in images)
            return
        strips = self._cut(distance, self.count)
        if len(strips) > self.count:
            strips = self._cut(self.distance, self.count)
        yield from (_part(self._shape, strip) for strip in strips)

    def _find_distance(self, most: int) -> int:
        if self._one_block or self._least == self._apart:
            return self._least
        if not _inside(self._shape):
            return self._apart
        low, high = self._least, self._apart
        while low < high:
            middle = (low + high) // 2
            if len(self._cut(middle, most)) <= most:
                high = middle
            else:
                low = middle + 1
        return low

    def _cut(self, distance: int, most: int) -> tuple[Strip, ...]:
        """Return the longest strips one after the other, more than `most` if that is too few."""
        strips: list[Strip] = []
        begin, total = 0, self._shape.samples * self._image
        while begin < total and len(strips) <= most:
            end = self._end(begin, distance)
            strips.append(Strip(begin, end))
            begin = end
        return tuple(strips)

    def _end(self, begin: int, distance: int) -> int:
        """Return where the longest strip from `begin` on ends."""
        allowed = (int(self._lowest[begin]) + distance) // self._channels
        row_end = begin - begin % self._width + self._width
        if begin % self._width or allowed < row_end:
            return max(begin + 1, min(allowed, row_end))
        image_end = begin - begin % self._image + self._image
        return min(allowed - allowed % self._width, image_end)


STRIPS_AT_HAND = 256
"""Of operators, that a process keeps."""


def _strips(shape: Geometry, lanes: int, most: int) -> Hashable:
    return shape, shape.output[2] <= lanes, most


@remember(_strips, most=STRIPS_AT_HAND)
def strips_of(shape: Geometry, lanes: int, most: int) -> Strips:
    """Return the ways to cut an operator; of lanes counts whether they have all channels."""
    return Strips(shape, lanes, most)


def _part(shape: Geometry, strip: Strip) -> Part:
    """Return a strip as an operator of its own."""
    sample, first = divmod(strip.begin, shape.output[0] * shape.output[1])
    row, column = divmod(first, shape.output[1])
    rows, columns = max(1, strip.pixels // shape.output[1]), min(strip.pixels, shape.output[1])
    top, pad_top = _corner(row * shape.stride[0] - shape.pad[0])
    left, pad_left = _corner(column * shape.stride[1] - shape.pad[1])
    height, width, channels = shape.input
    part = replace(
        shape,
        samples=1,
        input=(height - top, width - left, channels),
        output=(rows, columns, shape.output[2]),
        pad=(pad_top, pad_left),
    )
    begin = ((sample * height + top) * width + left) * channels
    return Part(shape=part, input=begin, output=strip.begin * shape.output[2])


def _as_row(shape: Geometry) -> Geometry:
    """Return a pointwise operator as one on a single row, so that strips may span rows."""
    row = shape.input[0] * shape.input[1]
    steps = (shape.kernel, shape.stride, shape.pad)
    pointwise = steps == ((1, 1), (1, 1), (0, 0)) and shape.input[:2] == shape.output[:2]
    if not pointwise or row > _LONGEST_ROW:
        return shape
    return replace(shape, input=(1, row, shape.input[2]), output=(1, row, shape.output[2]))


def _inside(shape: Geometry) -> bool:
    """Tell whether every window begins in or before the image, as a command's has to."""
    return all(
        (places - 1) * stride - pad < extent
        for places, stride, pad, extent in zip(
            shape.output[:2], shape.stride, shape.pad, shape.input[:2], strict=True
        )
    )


def _corner(origin: int) -> tuple[int, int]:
    """Return the first coordinate of a window inside the image, and the padding before it."""
    return max(0, origin), max(0, -origin)


def _lowest(shape: Geometry) -> Bytes:
    """Return the lowest byte that each output pixel or a later one reads."""
    window = Window(
        kernel_h=shape.kernel[0],
        kernel_w=shape.kernel[1],
        stride_h=shape.stride[0],
        stride_w=shape.stride[1],
        pad_top=shape.pad[0],
        pad_left=shape.pad[1],
        pad_bottom=_after(shape, 0),
        pad_right=_after(shape, 1),
    )
    return still_read((shape.samples, *shape.input), window)


def _after(shape: Geometry, axis: int) -> int:
    """Return the padding behind the image that makes the output's extent, 0 or less if none."""
    last = (shape.output[axis] - 1) * shape.stride[axis] + shape.kernel[axis]
    return last - shape.pad[axis] - shape.input[axis]
