# SPDX-License-Identifier: Apache-2.0
"""The reef accelerator's view of a command: fields of 16 words and what makes them legal.

Reads docs/reef.md a second time on purpose: it shares no code with the compiler's encoder.
"""

from collections.abc import Mapping

import numpy as np

from atoll.records import dataclass
from atoll_sim.engines.common.decode import BYTES, WORDS, ErrorCode, check_of

CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED, ADD, MUL, LINK, MOVE = 1, 2, 3, 4, 5, 6, 7
SOFTMAX = 8
ALIGNMENT = 16
_MOST_VALUES = 4095


@dataclass(frozen=True, slots=True)
class Command:
    """A fetched descriptor. Field names are those of docs/reef.md."""

    words: tuple[int, ...]

    @classmethod
    def from_bytes(cls, data: bytes) -> "Command":
        """Split 64 little-endian bytes into words."""
        return cls(tuple(int(word) for word in np.frombuffer(data, "<u4", WORDS)))

    def half(self, word: int, upper: bool) -> int:
        """Return the unsigned 16 bits of a word."""
        return self.words[word] >> (16 if upper else 0) & 0xFFFF

    def signed_byte(self, word: int, index: int) -> int:
        """Return byte `index` of a word as int8."""
        value = self.words[word] >> (8 * index) & 0xFF
        return value - 256 if value > 127 else value

    @property
    def opcode(self) -> int:
        """What to compute."""
        return self.words[0] & 0xFF

    @property
    def depthwise(self) -> bool:
        """Every output channel reads one input channel."""
        return self.opcode == DEPTHWISE_CONV_2D

    @property
    def over_elements(self) -> bool:
        """One element of each operand makes one of the result."""
        return self.opcode in (ADD, MUL)

    @property
    def moves(self) -> bool:
        """Rows of bytes go elsewhere."""
        return self.opcode == MOVE

    @property
    def shares(self) -> bool:
        """Values become their shares of their rows."""
        return self.opcode == SOFTMAX

    @property
    def mapped(self) -> bool:
        """A move takes what a table has for each byte."""
        return bool(self.half(7, True) & 1)

    @property
    def filled(self) -> bool:
        """A move reads nothing, and writes a value."""
        return bool(self.half(7, True) & 2)

    @property
    def row_counts(self) -> tuple[int, int, int]:
        """Rows of a move, planes of them, and how many of these."""
        return self.half(6, False), self.half(6, True), self.half(7, False)

    def rows_at(self, first: int, step: int) -> list[int]:
        """Return where the rows of a move begin; words from `step` on say how far it is on."""
        rows, planes, spaces = self.row_counts
        places = [self.words[first]]
        for number in range(1, rows * planes * spaces):
            level = 0 if number % rows else 1 if number % (rows * planes) else 2
            places.append((places[-1] + self.words[step + level]) % (1 << 32))
        return places

    @property
    def links(self) -> bool:
        """It ends its list and goes on with another one."""
        return self.opcode == LINK

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """Height, width, channels."""
        return self.half(5, False), self.half(5, True), self.half(6, False)

    @property
    def output_shape(self) -> tuple[int, int, int]:
        """Height, width, channels."""
        return self.half(7, False), self.half(7, True), self.half(6, True)

    @property
    def kernel(self) -> tuple[int, int]:
        """Height, width."""
        return self.half(8, False), self.half(8, True)

    @property
    def stride(self) -> tuple[int, int]:
        """Down, across."""
        return self.half(9, False), self.half(9, True)

    @property
    def padding(self) -> tuple[int, int]:
        """Top, left."""
        return self.half(10, False), self.half(10, True)

    @property
    def depth_multiplier(self) -> int:
        """Output channels of each input channel."""
        return self.half(12, False)

    @property
    def uniform(self) -> bool:
        """All blocks of output channels have the weights and parameters of the first."""
        return bool(self.half(12, True) & 1)

    @property
    def by_lines(self) -> bool:
        """Rows of the input are kept on chip, and the weights are packed for that."""
        return bool(self.half(12, True) & 2)

    @property
    def joined(self) -> bool:
        """The rows of the kernel are packed as one."""
        return bool(self.half(12, True) & 4)

    @property
    def greatest(self) -> bool:
        """The greatest product of a window counts instead of the sum."""
        return bool(self.half(12, True) & 8)

    @property
    def once(self) -> bool:
        """Sums and products are rounded once."""
        return bool(self.half(11, False) & 1 if self.over_elements else self.half(12, True) & 16)

    def error(self, instance: Mapping[str, int]) -> ErrorCode:
        """Say what makes the command illegal for an `instance`, by its parameters.

        Returns:
            NONE if it may run.
        """
        known = self.opcode in (CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED)
        units = 1 if self.over_elements or self.moves else 2 if self.shares else 3
        if (
            not (known or units <= instance["vector"] or self.links)
            or self.words[0] >> 8 & 0xFF != 1
        ):
            return ErrorCode.BAD_OPCODE
        if not self._is_legal(instance):
            return ErrorCode.BAD_FIELD
        if not self._is_aligned():
            return ErrorCode.MISALIGNED
        if self.half(0, True) != check_of(self.words):
            return ErrorCode.BAD_CHECK
        return ErrorCode.NONE

    def _is_legal(self, instance: Mapping[str, int]) -> bool:
        if self.links:
            return self.words[2] in range(1, 1 << 16) and not any(self.words[3:])
        if self.moves:
            return self._move_is_legal()
        if self.shares:
            return self._shares_are_legal()
        return (
            self._elements_are_legal() if self.over_elements else self._fields_are_legal(instance)
        )

    def _is_aligned(self) -> bool:
        if self.links:
            return self.words[1] % BYTES == 0
        if self.moves:
            return not self.mapped or self.words[3] % ALIGNMENT == 0
        return self.over_elements or not (self.words[3] % ALIGNMENT or self.words[4] % ALIGNMENT)

    def _move_is_legal(self) -> bool:
        source, output, table, again = self.words[1:5]
        if self.filled:
            alone = source == output and not any((*self.words[8:11], self.mapped))
        else:
            alone = not self.words[7] >> 24
        return (
            not any((*self.words[14:16], self.half(7, True) >> 2 & 0x3F))
            and all((self.words[5], *self.row_counts))
            and again == table
            and (self.mapped or table == source)
            and alone
        )

    def _shares_are_legal(self) -> bool:
        table, again, values, rows = self.words[3:7]
        return (
            not any(self.words[7:])
            and table == again
            and 1 <= values <= _MOST_VALUES
            and 1 <= rows <= 0xFFFF
        )

    def _elements_are_legal(self) -> bool:
        shifts = [self.signed_byte(9, index) for index in range(3)]
        operands = zip(self.words[6:8], shifts[:2], strict=True)
        if self.opcode == MUL:
            scaled = not any(self.words[6:8]) and not any(shifts[:2])
        else:
            scaled = all(word < 1 << 31 and -31 <= shift <= 0 for word, shift in operands)
        reserved = (
            self.words[9] >> 24,
            self.words[10] >> 24,
            self.half(11, False) >> (self.opcode == MUL),
        )
        return (
            not any((*reserved, *self.words[12:16]))
            and self.words[4] == self.words[3]
            and self.words[5] > 0
            and scaled
            and -31 <= shifts[2] <= 30
            and self.signed_byte(11, 2) <= self.signed_byte(11, 3)
        )

    def _fields_are_legal(self, instance: Mapping[str, int]) -> bool:
        counts = (*self.input_shape, *self.output_shape, *self.kernel, *self.stride)
        low, high = self.signed_byte(11, 2), self.signed_byte(11, 3)
        return (
            self.half(12, True) <= 31
            and (not self.by_lines or self._lines_are_legal(instance))
            and (not self.joined or self._joined_is_legal(instance))
            and (not self.greatest or (self.depthwise and not self.by_lines))
            and all((*counts, self.depth_multiplier, *self.words[13:16]))
            and all(pad < extent for pad, extent in zip(self.padding, self.kernel, strict=True))
            and low <= high
            and self._channels_are_legal()
            and self.words[15] == self.kernel[1] * (1 if self.depthwise else self.input_shape[2])
            and (self.opcode != FULLY_CONNECTED or self._is_pointwise())
        )

    def _lines_are_legal(self, instance: Mapping[str, int]) -> bool:
        row = instance["input_lanes"] * instance["output_lanes"]
        return (
            self.depthwise
            and self.depth_multiplier == 1
            and self.input_shape[1] <= instance["line_columns"]
            and self.kernel[0] <= 4
            and self.kernel[1] <= 8
            and 2 * self.words[14] <= instance["weight_rows"] * row
        )

    def _joined_is_legal(self, instance: Mapping[str, int]) -> bool:
        row = instance["input_lanes"] * instance["output_lanes"]
        return not self.depthwise and self.words[14] <= instance["weight_rows"] * row

    def _channels_are_legal(self) -> bool:
        if not self.depthwise:
            return self.depth_multiplier == 1
        return self.output_shape[2] == self.input_shape[2] * self.depth_multiplier

    def _is_pointwise(self) -> bool:
        return {self.input_shape[0], *self.kernel, *self.stride} == {1}
