# SPDX-License-Identifier: Apache-2.0
"""Bit-exact software model of the reef accelerator (docs/reef.md).

Runs the descriptors that the firmware runs, from the bytes in memory, and reads nothing but
what the hardware reads. A second implementation: it shares no arithmetic with `atoll.ops`.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from atoll.resolve.soc import Engine
from atoll_sim.engines.common.decode import BYTES, ErrorCode
from atoll_sim.engines.interface import Bus, BusFault, Outcome
from atoll_sim.engines.reef.arithmetic import (
    dense_sums,
    depthwise_sums,
    greatest_products,
    requantise,
)
from atoll_sim.engines.reef.decode import Command
from atoll_sim.engines.reef.element_arithmetic import element_results
from atoll_sim.engines.reef.share_arithmetic import shares_of

_PARAMETER_BYTES = 16


class _StopError(Exception):
    """A list that must end now."""

    def __init__(self, error: ErrorCode, address: int) -> None:
        super().__init__(error, address)
        self.error = error
        self.address = address


class ReefModel:
    """One accelerator instance, as functional as the hardware and without its timing."""

    def __init__(self, npu: Engine) -> None:
        """Take lanes and data width from the instance's parameters."""
        self._params = npu.params
        self._input_lanes = npu.params["input_lanes"]
        self._lanes = npu.params["output_lanes"]
        self._beat = npu.params["data_bytes"]

    def run(self, bus: Bus, list_address: int, count: int) -> Outcome:
        """Execute a list of descriptors up to its end or the first error.

        A command that stops with an error has written nothing, or some rows of a move. The
        hardware may have written a part of its output by then.
        """
        completed = 0
        try:
            if list_address % BYTES:
                raise _StopError(ErrorCode.MISALIGNED, list_address)
            if not 1 <= count <= 0xFFFF:
                raise _StopError(ErrorCode.BAD_FIELD, list_address)
            address, left = list_address, count
            while left:
                command = self._execute(bus, address)
                completed += 1
                address, left = address + BYTES, left - 1
                if command.links:
                    address, left = command.words[1:3]
        except _StopError as stop:
            return Outcome(stop.error, stop.address, completed)
        return Outcome(ErrorCode.NONE, 0, completed)

    def _execute(self, bus: Bus, address: int) -> Command:
        command = Command.from_bytes(self._read(bus, address, BYTES))
        if error := command.error(self._params):
            raise _StopError(error, address)
        if command.over_elements:
            self._write(bus, command.words[2], self._elements(bus, command))
        elif command.moves:
            self._move(bus, command)
        elif command.shares:
            self._write(bus, command.words[2], self._shares(bus, command))
        elif not command.links:
            self._compute(bus, command)
        return command

    def _compute(self, bus: Bus, command: Command) -> None:
        table = self._read_table(bus, command)
        weights = self._read_weights(bus, command)
        image = self._read_image(bus, command)
        if command.greatest:
            sums = greatest_products(command, image, weights, table)
        else:
            sums = (depthwise_sums if command.depthwise else dense_sums)(command, image, weights)
        results = requantise(command, sums, table)
        self._write(bus, command.words[2], results.tobytes())

    def _elements(self, bus: Bus, command: Command) -> bytes:
        first, second = (
            np.frombuffer(self._read(bus, command.words[word], command.words[5]), np.int8)
            for word in (1, 3)
        )
        return element_results(command, first, second).tobytes()

    def _shares(self, bus: Bus, command: Command) -> bytes:
        table = np.frombuffer(self._read(bus, command.words[3], 4 * 256), "<u4")
        values, rows = command.words[5:7]
        data = np.frombuffer(self._read(bus, command.words[1], rows * values), np.int8)
        return b"".join(shares_of(row, table) for row in data.reshape(rows, values))

    def _move(self, bus: Bus, command: Command) -> None:
        size, table = command.words[5], np.arange(256, dtype=np.uint8)
        if command.mapped:
            table = np.frombuffer(self._read(bus, command.words[3], 256), np.uint8)
        if command.filled:
            rows = [bytes([command.words[7] >> 24]) * size] * prod(command.row_counts)
        else:
            read = [self._read(bus, at, size) for at in command.rows_at(1, 8)]
            rows = [table[np.frombuffer(row, np.uint8)].tobytes() for row in read]
        for at, row in zip(command.rows_at(2, 11), rows, strict=True):
            self._write(bus, at, row)

    def _read_table(self, bus: Bus, command: Command) -> NDArray[np.int64]:
        channels = command.output_shape[2]
        blocks = -(-channels // self._lanes)
        read = 1 if command.uniform else blocks
        data = self._read(bus, command.words[4], read * self._lanes * _PARAMETER_BYTES)
        table = np.frombuffer(data * (blocks // read), "<i4").reshape(-1, 4)
        return table[:channels].astype(np.int64)

    def _read_weights(self, bus: Bus, command: Command) -> NDArray[np.int8]:
        """Return int8 [O, kernel height, kernel row bytes]."""
        if command.by_lines:
            return self._read_lines(bus, command)
        channels, (height, _) = command.output_shape[2], command.kernel
        row = command.words[15]
        if command.joined:
            height, row = 1, height * row
        chunk = 1 if command.depthwise else self._input_lanes
        steps = -(-row // chunk)
        blocks, size = -(-channels // self._lanes), height * steps * self._lanes * chunk
        pitch = 0 if command.uniform else command.words[14]
        parts = [self._read(bus, command.words[3] + block * pitch, size) for block in range(blocks)]
        packed = np.frombuffer(b"".join(parts), np.int8)
        tiles = packed.reshape(blocks, height, steps, self._lanes, chunk)
        rows = tiles.transpose(0, 3, 1, 2, 4).reshape(blocks * self._lanes, height, -1)
        return rows[:channels, :, :row].reshape(channels, command.kernel[0], command.words[15])

    def _read_lines(self, bus: Bus, command: Command) -> NDArray[np.int8]:
        """Likewise, of rows that have four rows of the kernel by some columns for each lane."""
        channels, (height, width) = command.output_shape[2], command.kernel
        columns = self._input_lanes // 4
        blocks, steps = -(-channels // self._lanes), -(-width // columns)
        pitch = 0 if command.uniform else command.words[14]
        size = steps * self._lanes * self._input_lanes
        parts = [self._read(bus, command.words[3] + block * pitch, size) for block in range(blocks)]
        rows = np.frombuffer(b"".join(parts), np.int8)
        taps = rows.reshape(blocks, steps, self._lanes, 4, columns).transpose(0, 2, 3, 1, 4)
        return taps.reshape(blocks * self._lanes, 4, -1)[:channels, :height, :width]

    def _read_image(self, bus: Bus, command: Command) -> NDArray[np.int8]:
        height, width, channels = command.input_shape
        row, pitch, address = width * channels, command.words[13], command.words[1]
        if pitch == row:
            data = self._read(bus, address, height * row)
        else:
            rows = [self._read(bus, address + y * pitch, row) for y in range(height)]
            data = b"".join(rows)
        return np.frombuffer(data, np.int8).reshape(height, width, channels)

    def _read(self, bus: Bus, address: int, size: int) -> bytes:
        try:
            return bus.read(address, size)
        except BusFault as fault:
            code = ErrorCode.READ_DECODE if fault.decode else ErrorCode.READ_SLAVE
            raise _StopError(code, fault.address - fault.address % self._beat) from None

    def _write(self, bus: Bus, address: int, data: bytes) -> None:
        try:
            bus.write(address, data)
        except BusFault as fault:
            code = ErrorCode.WRITE_DECODE if fault.decode else ErrorCode.WRITE_SLAVE
            raise _StopError(code, fault.address - fault.address % self._beat) from None
