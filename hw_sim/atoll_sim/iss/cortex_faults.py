# SPDX-License-Identifier: Apache-2.0
"""Faults of a Cortex-M: how it enters and leaves a handler.

Armv7-M Architecture Reference Manual, B1.5.6 to B1.5.8. The firmware runs with PRIMASK set, so
every fault is a HardFault. Threads use the main stack; the frame is the basic one.
"""

from typing import Protocol

from atoll_sim.engines.interface import BusFault
from atoll_sim.iss.riscv import Registers

HARD_FAULT = 3
STACKED = (0, 1, 2, 3, 12, 14)
"""Registers of a frame, then the address of the instruction and xPSR."""

SP, LR, XPSR = 13, 14, 16
FRAME, PADDED = 32, 1 << 9
THUMB = 0x0100_0000
LEAVE = 0xFFFF_FFF9
"""What a handler goes to: back to a thread on the main stack."""

LEAVES = range(0xFF00_0000, 1 << 32)
"""What Unicorn names when a core goes there: where it is, or an address just before."""

STAND_STILL = 0xE7FD_BF30
"""``wfi`` and a branch back to it: where the start-up code of every core ends."""


class Words(Protocol):
    """Memory as the core sees it; both raise `BusFault` where it sees none."""

    def word(self, address: int) -> int:
        """Return a word."""
        ...

    def put(self, address: int, value: int) -> None:
        """Set a word."""
        ...


class Faults:
    """Whether a core is in its handler of faults, and its way there and back."""

    def __init__(self, registers: Registers, words: Words) -> None:
        self._registers = registers
        self._words = words
        self.active = False

    def enter(self, vectors: int, address: int) -> int | None:
        """Leave the thread that would run `address` next for the handler.

        Args:
            vectors: where the table of handlers is.
            address: of the instruction that faults.

        Returns:
            Where the handler begins. None if there is none: the core stands still, as it does
            after a fault in the handler itself.
        """
        if self.active:
            return None
        try:
            handler = self._words.word(vectors + 4 * HARD_FAULT) & ~1
            if self._words.word(handler) == STAND_STILL:
                return None
            self._push(address)
        except BusFault:
            return None
        self._registers.set(LR, LEAVE)
        self.active = True
        return handler

    def leave(self) -> int | None:
        """Go back to the thread; return where it goes on, None if its frame is gone."""
        frame = self._registers.get(SP)
        try:
            *values, address, status = (self._words.word(frame + 4 * n) for n in range(FRAME // 4))
        except BusFault:
            return None
        for register, value in zip(STACKED, values, strict=True):
            self._registers.set(register, value)
        self._registers.set(SP, frame + FRAME + 4 * bool(status & PADDED))
        self._registers.set(XPSR, status & ~PADDED)
        self.active = False
        return address & ~1

    def _push(self, address: int) -> None:
        top = self._registers.get(SP)
        frame = (top - FRAME) & ~7
        status = self._registers.get(XPSR) | THUMB | PADDED * bool(top & 4)
        values = [self._registers.get(register) for register in STACKED]
        for number, value in enumerate((*values, address, status)):
            self._words.put(frame + 4 * number, value)
        self._registers.set(SP, frame)
