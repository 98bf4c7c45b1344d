# SPDX-License-Identifier: Apache-2.0
"""A serial line of two pseudo-terminals that damages and loses bytes."""

import os
import random
import select
import threading
import tty
from types import TracebackType
from typing import Self

_SOME = 4096


class NoisyLine:
    """Carries bytes between a pseudo-terminal and a new one, not all of them, nor as they were.

    Attributes:
        path: of the new one.
        carried: how many bytes came.
        harmed: how many of them were changed or lost.
    """

    def __init__(self, far: str, share: float, seed: int) -> None:
        self.carried = self.harmed = 0
        self._share = share
        self._far = os.open(far, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._far)
        self._near, self._port = os.openpty()
        tty.setraw(self._port)
        self.path = os.ttyname(self._port)
        self._ways = {
            self._near: (self._far, random.Random(seed)),
            self._far: (self._near, random.Random(seed + 1)),
        }
        self._quit, self._asked = os.pipe()
        self._thread = threading.Thread(target=self._carry)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.write(self._asked, b"x")
        self._thread.join()
        for file in (self._far, self._near, self._port, self._quit, self._asked):
            os.close(file)

    def _carry(self) -> None:
        while True:
            ready, _, _ = select.select([*self._ways, self._quit], [], [])
            if self._quit in ready:
                return
            for file in ready:
                to, dice = self._ways[file]
                data = os.read(file, _SOME)
                self.carried += len(data)
                left = self._damage(data, dice)
                while left:
                    left = left[os.write(to, left) :]

    def _damage(self, data: bytes, dice: random.Random) -> bytes:
        made = bytearray()
        for byte in data:
            if dice.random() >= self._share:
                made.append(byte)
                continue
            self.harmed += 1
            if dice.random() < 0.5:
                made.append(byte ^ dice.randrange(1, 256))
        return bytes(made)
