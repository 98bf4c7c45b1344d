# SPDX-License-Identifier: Apache-2.0
"""Bit-exact software model of the ripple DMA engine (docs/ripple.md)."""

import struct
from itertools import product

from atoll.resolve.soc import Engine
from atoll_sim.engines.common.decode import BYTES, ErrorCode, check_of
from atoll_sim.engines.interface import Bus, BusFault, Outcome

_COPY, _VERSION, _WORD = 1, 1, 0xFFFF_FFFF


class RippleModel:
    """One engine, as functional as the hardware and without its timing.

    Source and destination of a command must not overlap; a command that stops with an error may
    have written the rows before.
    """

    def __init__(self, engine: Engine) -> None:
        """Take the data width from the instance's parameters."""
        self._beat = engine.params["data_bytes"]

    def run(self, bus: Bus, list_address: int, count: int) -> Outcome:
        """Execute a list of descriptors up to its end or the first error."""
        if list_address % BYTES:
            return Outcome(ErrorCode.MISALIGNED, list_address, 0)
        if not 1 <= count <= 0xFFFF:
            return Outcome(ErrorCode.BAD_FIELD, list_address, 0)
        for completed in range(count):
            address = list_address + completed * BYTES
            error, fault_address = self._execute(bus, address)
            if error:
                return Outcome(error, fault_address, completed)
        return Outcome(ErrorCode.NONE, 0, count)

    def _execute(self, bus: Bus, address: int) -> tuple[ErrorCode, int]:
        """Run one command; return its error and where."""
        writing = False
        try:
            words = struct.unpack("<16I", bus.read(address, BYTES))
            if error := _objection(words):
                return error, address
            _, source, destination, size, counts, *pitches = words
            rows, planes = counts & 0xFFFF, (counts >> 16) + 1
            row_from, row_to, plane_from, plane_to = pitches[:4]
            for plane, row in product(range(planes), range(rows)):
                writing = False
                data = bus.read(source + plane * plane_from + row * row_from & _WORD, size)
                writing = True
                bus.write(destination + plane * plane_to + row * row_to & _WORD, data)
        except BusFault as fault:
            return _answer(fault, writing), fault.address - fault.address % self._beat
        return ErrorCode.NONE, 0


def _objection(words: tuple[int, ...]) -> ErrorCode:
    if words[0] & 0xFFFF != _VERSION << 8 | _COPY:
        return ErrorCode.BAD_OPCODE
    if any(words[9:]) or not words[3] or not words[4] & 0xFFFF:
        return ErrorCode.BAD_FIELD
    return ErrorCode.NONE if words[0] >> 16 == check_of(words) else ErrorCode.BAD_CHECK


def _answer(fault: BusFault, writing: bool) -> ErrorCode:
    if writing:
        return ErrorCode.WRITE_DECODE if fault.decode else ErrorCode.WRITE_SLAVE
    return ErrorCode.READ_DECODE if fault.decode else ErrorCode.READ_SLAVE
