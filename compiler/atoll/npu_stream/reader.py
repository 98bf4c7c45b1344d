# SPDX-License-Identifier: Apache-2.0
"""Read the register commands of an Ethos-U55, U65 or U85: which bytes each operation touches.

This is a second reading: nothing here is shared with what makes, moves or plays a stream. A command
is a word with its number in bits 0 to 9; with 1 in bits 14 and 15 a second word follows. Numbers
and fields are those of Arm's register interface, which Vela prints with
`--verbose-register-command-stream`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import field

from atoll.npu_stream.spans import Spans, box, join_spans
from atoll.records import dataclass

STOP, CONV, DEPTHWISE, POOL, ELEMENTWISE, RESIZE, DMA = 0, 2, 3, 5, 6, 7, 16
NAMES = {
    CONV: "convolution",
    DEPTHWISE: "depthwise convolution",
    POOL: "pooling",
    ELEMENTWISE: "elementwise operation",
    RESIZE: "resizing",
    DMA: "copy",
}
_SILENT = frozenset({1, 17, 18, 19})
"""Operations that touch no memory: IRQ, DMA_WAIT, KERNEL_WAIT, PMU_MASK."""

_WIDE = 1 << 14
_SETS = 1 << 8
_PADS = {"top": 0x100, "left": 0x101, "right": 0x102, "bottom": 0x103}
_UPSCALE, _PARALLEL, _ACCUMULATOR = 0x107, 0x123, 0x124
_KERNEL_WIDTH, _KERNEL_HEIGHT, _KERNEL_STRIDE = 0x120, 0x121, 0x122
_IFM_DEPTH = 0x104
_OFM_WIDTH, _OFM_HEIGHT, _OFM_DEPTH = 0x111, 0x112, 0x113
_IFM_BROADCAST, _IFM2_BROADCAST = 0x108, 0x180
_WEIGHT_REGION, _SCALE_REGION = 0x128, 0x129
_WEIGHTS = (0x020, 0x090, 0x092, 0x094)
"""Addresses of the parts of weights, each with its length behind it; the U65 has two."""
_SCALES = (0x022, 0x092)
_SOURCE_REGION, _TARGET_REGION, _SOURCE, _TARGET, _LENGTH = 0x130, 0x131, 0x030, 0x031, 0x032
_INTERNAL, _SHAPED = 1 << 8, 7 << 9
"""Of a copy's region: memory of the NPU itself; strides or an index."""
_MEMORY, _STORED_TILES = 14, 1
_ONE_OPERAND = frozenset({5, 6, 7})
"""Elementwise operations without a second operand: LRELU, ABS, CLZ."""
_TWO_OPERANDS = frozenset({*range(5), *range(8, 12), *range(16, 20), 33, 34, 35})
_SCALAR, _SCALAR_85 = 1 << 7, 8
_ACCUMULATED = 2
"""What the accumulators of the U85 begin with: the second operand."""


class StreamError(Exception):
    """A stream that cannot be read, or an operation whose bytes are not known."""


@dataclass(frozen=True, slots=True)
class Access:
    """Bytes that an operation reads or writes.

    Attributes:
        what: the operand, such as ``ifm``.
        spans: bytes from the region's base address on.
    """

    what: str
    region: int
    writes: bool
    spans: Spans

    def __str__(self) -> str:
        return f"bytes {self.spans[0][0]} to {self.spans[-1][1]} of region {self.region}"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation and all that it touches outside of the NPU.

    Attributes:
        word: its place in the stream.
        name: what it is.
    """

    word: int
    name: str
    accesses: tuple[Access, ...]


@dataclass(frozen=True, slots=True)
class _Map:
    """Registers of a feature map.

    Attributes:
        width: of a tile, which the heights of two tiles follow.
        base: the first of four addresses, which strides follow: of columns, rows, bricks.
    """

    what: str
    precision: int
    region: int
    width: int
    base: int


_IFM = _Map("ifm", 0x105, 0x10F, 0x10A, 0x000)
_IFM2 = _Map("ifm2", 0x185, 0x18F, 0x18A, 0x080)
_OFM = _Map("ofm", 0x114, 0x11F, 0x11A, 0x010)


def operations(stream: Sequence[int], product: int) -> tuple[Operation, ...]:
    """Return the operations of a stream in their order.

    Args:
        stream: its words.
        product: 55, 65 or 85.

    Raises:
        StreamError: it is none, or has what cannot be followed.
    """
    return tuple(_operations(stream, _Registers(product)))


def _operations(stream: Sequence[int], registers: "_Registers") -> Iterator[Operation]:
    at = 0
    while at < len(stream):
        word = stream[at]
        number, parameter = word & 0x3FF, word >> 16
        wide = (word >> 14) & 3
        if word & 0x3C00 or wide > 1 or at + wide >= len(stream):
            raise StreamError(f"the word {word:#010x} at {at} is no command")
        if wide:
            if number & _SETS:
                raise StreamError(f"the command {number:#05x} at {at} is not known")
            registers.wide[number] = stream[at + 1] | parameter << 32
        elif number & _SETS:
            registers.narrow[number] = parameter
        elif number == STOP:
            if at + 1 != len(stream):
                raise StreamError(f"{len(stream) - at - 1} words are behind its end")
            return
        elif number in NAMES:
            yield Operation(at, NAMES[number], tuple(registers.accesses(number, parameter)))
        elif number not in _SILENT:
            raise StreamError(f"the operation {number:#05x} at {at} is not known")
        at += 1 + wide
    raise StreamError("it has no end")


@dataclass(slots=True)
class _Registers:
    """What was set so far."""

    product: int
    narrow: dict[int, int] = field(default_factory=dict)
    wide: dict[int, int] = field(default_factory=dict)

    def accesses(self, number: int, parameter: int) -> Iterator[Access]:
        """Yield what an operation touches, reads first."""
        if number == DMA:
            yield from self._copy_accesses()
            return
        if number in (CONV, DEPTHWISE) and not (number == CONV and parameter & 1):
            yield from self._constants()
        maps = (*self._inputs(number, parameter), self._output())
        yield from (access for access in maps if access.spans)

    def _get(self, number: int) -> int:
        if number not in self.narrow:
            raise StreamError(f"the register {number:#05x} is used before it is set")
        return self.narrow[number]

    def _address(self, number: int) -> int:
        if number not in self.wide:
            raise StreamError(f"the register {number:#05x} is used before it is set")
        return self.wide[number] & 0xFF_FFFF_FFFF

    def _stride(self, number: int) -> int:
        """Return a distance, which may be negative."""
        value = self._address(number)
        return value - (value >> 39 << 40)

    def _constants(self) -> Iterator[Access]:
        cores = 1 + self.narrow.get(_PARALLEL, 0) if self.product == 65 else 1
        parts = _WEIGHTS if self.product == 85 else _WEIGHTS[:cores]
        yield from self._parts("weights", _WEIGHT_REGION, parts)
        yield from self._parts("scales", _SCALE_REGION, _SCALES[:cores])

    def _parts(self, what: str, region: int, numbers: Sequence[int]) -> Iterator[Access]:
        lengths = [self.wide.get(number + 1, 0) & 0xFFFF_FFFF for number in numbers]
        found = [
            ((self._address(number), self._address(number) + length),)
            for number, length in zip(numbers, lengths, strict=True)
            if length
        ]
        if not found:
            raise StreamError(f"a convolution has no {what}")
        yield Access(what, self._get(region) & 7, False, join_spans(found))

    def _copy_accesses(self) -> Iterator[Access]:
        length = self._address(_LENGTH) & 0xFFFF_FFFF
        ends = (("source", _SOURCE_REGION, _SOURCE), ("target", _TARGET_REGION, _TARGET))
        for what, register, address in ends:
            region = self._get(register)
            if region & _SHAPED:
                raise StreamError("a copy has strides or an index")
            if not region & _INTERNAL:
                begin = self._address(address)
                spans = ((begin, begin + length),)
                yield Access(what, region & 7, what == "target", spans)

    def _inputs(self, number: int, parameter: int) -> Iterator[Access]:
        rows, columns, depth = self._extents()
        if number == ELEMENTWISE:
            first, second = self._broadcasts()
            yield self._map(_IFM, _shrink((rows, columns, depth), first))
            if parameter not in _ONE_OPERAND | _TWO_OPERANDS:
                raise StreamError(f"the elementwise operation {parameter} is not known")
            if parameter in _TWO_OPERANDS and second is not None:
                yield self._map(_IFM2, _shrink((rows, columns, depth), second))
            return
        deep = self._get(_IFM_DEPTH) + 1
        if number == RESIZE:
            yield self._map(_IFM, (*self._tile(_IFM), deep))
            return
        yield self._map(_IFM, (*self._windows(rows, columns), deep))
        if number == CONV and parameter & 1:
            yield self._map(_IFM2, (*self._tile(_IFM2), deep))
        elif self.product == 85 and self._get(_ACCUMULATOR) >> 4 & 3 == _ACCUMULATED:
            yield self._map(_IFM2, (rows, columns, depth))

    def _extents(self) -> tuple[int, int, int]:
        """Return rows, columns and channels of the result, before it is transposed."""
        rows, columns, depth = (self._get(n) + 1 for n in (_OFM_HEIGHT, _OFM_WIDTH, _OFM_DEPTH))
        return rows, columns, depth

    def _tile(self, of: _Map) -> tuple[int, int]:
        return self._get(of.width + 1) + 1, self._get(of.width) + 1

    def _broadcasts(self) -> tuple[int, int | None]:
        """Return the axes along which either operand has one element; None if it is a number."""
        second = self.narrow.get(_IFM2_BROADCAST, 0)
        if self.product != 85:
            return 0, None if second & _SCALAR else second & 7
        first = self.narrow.get(_IFM_BROADCAST, 0)
        return first & 7, None if second == _SCALAR_85 else second & 7

    def _windows(self, rows: int, columns: int) -> tuple[int, int]:
        """Return rows and columns of the operand that the windows of a result cover."""
        steps = self._get(_KERNEL_STRIDE)
        down = (steps >> 1 & 1 | (steps >> 9 & 1) << 1) + 1
        right = (steps & 1 | (steps >> 6 & 1) << 1) + 1
        pads = {side: self._get(register) for side, register in _PADS.items()}
        high = (rows - 1) * down + self._get(_KERNEL_HEIGHT) + 1 - pads["top"] - pads["bottom"]
        wide = (columns - 1) * right + self._get(_KERNEL_WIDTH) + 1 - pads["left"] - pads["right"]
        if self._get(_UPSCALE):
            high, wide = (high + 1) // 2, (wide + 1) // 2
        return max(high, 1), max(wide, 1)

    def _output(self) -> Access:
        extents = self._extents()
        if self.product == 85 and self._get(_OFM.precision) >> 11 & 7:
            rows, columns = self._tile(_OFM)
            every = extents[0] * extents[1] * extents[2]
            if every % (rows * columns):
                raise StreamError("a transposed result is in several tiles")
            extents = (rows, columns, every // (rows * columns))
        return self._map(_OFM, extents)

    def _map(self, of: _Map, extents: tuple[int, int, int]) -> Access:
        precision = self._get(of.precision)
        writes = of is _OFM
        if self.product == 85 and (stored := precision >> _MEMORY):
            if stored == _STORED_TILES:
                raise StreamError(f"the {of.what} is in tiles of a form that is not known")
            return Access(of.what, 0, writes, ())
        size = 1 << (precision >> (1 if writes else 2) & 3)
        spans = self._tiles(of, extents, size, bool(precision >> 6 & 3))
        return Access(of.what, self._get(of.region) & 7, writes, spans)

    def _tiles(self, of: _Map, extents: tuple[int, int, int], size: int, bricks: bool) -> Spans:
        """Return the bytes of four tiles: left and right, above and below."""
        rows, columns, depth = extents
        upper, lower, left = (self._get(of.width + n) + 1 for n in (1, 2, 0))
        left = min(left, columns)
        right, down, deep = (self._stride(of.base + n) for n in (4, 5, 6))
        parts = []
        for side, (first, width) in enumerate(((upper, left), (lower, columns - left))):
            above = min(first, rows)
            for below, height in enumerate((above, rows - above)):
                if width > 0 and height > 0:
                    base = self._address(of.base + side + 2 * below)
                    parts.append(
                        box(base, (down, right, deep), (height, width, depth), size, bricks)
                    )
        return join_spans(parts)


def _shrink(extents: tuple[int, int, int], axes: int) -> tuple[int, int, int]:
    """Return extents with one element along `axes`: rows, columns and channels from bit 0."""
    rows, columns, depth = (
        1 if axes >> axis & 1 else extent for axis, extent in enumerate(extents)
    )
    return rows, columns, depth
