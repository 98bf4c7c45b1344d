# SPDX-License-Identifier: Apache-2.0
"""Memory, registers and interrupt lines around an adapter, cycle by cycle; knows no simulator."""

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import field

from atoll.records import dataclass
from atoll_sim.core_test.expected import Access
from atoll_sim.core_test.layout import BROKEN, MEMORY, NO_LINE, PEER, PROBE, PROBE_SIZE, REGISTERS

OFFSETS = {offset: name for name, offset in REGISTERS.items()}
RAISE_DELAY = 40
"""Cycles from the program's wish until a line rises."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How the bus makes a core wait.

    Attributes:
        taken: chance of a cycle to take a request.
        delay: least and most cycles from a request to its answer.
    """

    taken: float
    delay: tuple[int, int]


PACES = {"none": Pace(1.0, (1, 1)), "some": Pace(0.5, (1, 6)), "many": Pace(0.1, (9, 12))}


@dataclass(frozen=True, slots=True)
class Request:
    """What an adapter asks in a cycle; `enabled` has a bit for each byte of the beat."""

    write: bool
    address: int
    enabled: int
    data: int
    fetch: bool


@dataclass
class Peer:
    """The other side of an adapter.

    Attributes:
        part: what the program is told to do.
        beat: bytes of a beat.
        memories: contents by origin.
        faults: what the adapter did wrong on the bus.
        fetched: address of the first instruction bytes, once they are asked for.
        accesses: of the probe.
        results: what the program reported.
        left: the program has ended.
        waited: cycles from each wish for a line to the next result.
        lines: the interrupt lines.
    """

    part: int
    beat: int
    memories: Mapping[int, bytearray]
    pace: Pace
    chance: random.Random
    faults: list[str] = field(default_factory=list)
    fetched: int | None = None
    accesses: list[Access] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    left: bool = False
    waited: list[int] = field(default_factory=list)
    lines: int = 0
    cycle: int = 0
    probe: bytearray = field(default_factory=lambda: bytearray(PROBE_SIZE))
    _answers: deque[tuple[int, int, bool]] = field(default_factory=deque)
    _kept: Request | None = None
    _rising: tuple[int, int] | None = None
    _wished: int = 0

    def begin(self) -> tuple[bool, tuple[int, bool] | None]:
        """Begin a cycle: return whether a request is taken, and the answer of this cycle."""
        self.cycle += 1
        if self._rising and self.cycle >= self._rising[0]:
            self.lines |= 1 << self._rising[1]
            self._rising = None
        answer = None
        if self._answers and self._answers[0][0] <= self.cycle:
            _, data, failed = self._answers.popleft()
            answer = (data, failed)
        return self.chance.random() < self.pace.taken, answer

    def end(self, request: Request | None, ready: bool) -> None:
        """End the cycle in which the adapter asks `request`, or nothing."""
        if self._kept is not None and request != self._kept:
            self.faults.append(
                f"cycle {self.cycle}: {_show(self._kept)} was not taken yet, but became"
                f" {_show(request)}"
            )
        self._kept = None
        if request is None:
            return
        if request.address % self.beat or not request.enabled:
            self.faults.append(f"cycle {self.cycle}: {_show(request)} names no bytes of a beat")
            return
        if not ready:
            self._kept = request
            return
        least, most = self.pace.delay
        at = self.cycle + self.chance.randint(least, most)
        if self._answers:
            at = max(at, self._answers[-1][0] + 1)
        self._answers.append((at, *self._serve(request)))

    def _serve(self, request: Request) -> tuple[int, bool]:
        """Do what is asked; return the beat and whether it failed."""
        low = (request.enabled & -request.enabled).bit_length() - 1
        first, size = request.address + low, request.enabled.bit_count()
        value = request.data >> (8 * low) & (2 ** (8 * size) - 1)
        if request.enabled >> low != 2**size - 1 or size > 4:
            self.faults.append(f"cycle {self.cycle}: {_show(request)} names bytes with gaps")
        if request.fetch and self.fetched is None:
            self.fetched = first
        if BROKEN <= first < BROKEN + MEMORY:
            return 0, True
        if PROBE <= first < PROBE + PROBE_SIZE:
            self.accesses.append(Access(first, size, value if request.write else None))
            return self._bytes(self.probe, request, request.address - PROBE), False
        for origin, memory in self.memories.items():
            if origin <= first < origin + len(memory):
                return self._bytes(memory, request, request.address - origin), False
        if first - PEER in OFFSETS and size == 4:
            return self._register(OFFSETS[first - PEER], value, request, low), False
        self.faults.append(f"cycle {self.cycle}: {_show(request)}, where nothing is")
        return 0, True

    def _bytes(self, memory: bytearray, request: Request, offset: int) -> int:
        if request.write:
            for lane in range(self.beat):
                if request.enabled >> lane & 1:
                    memory[offset + lane] = request.data >> (8 * lane) & 0xFF
        # What was not asked for may be anything.
        beat = bytearray(self.chance.randbytes(self.beat))
        for lane in range(self.beat):
            if request.enabled >> lane & 1:
                beat[lane] = memory[offset + lane]
        return int.from_bytes(beat, "little")

    def _register(self, name: str, value: int, request: Request, low: int) -> int:
        if not request.write:
            return self.part << (8 * low)
        if name == "RESULT":
            self.results.append(value)
            self.waited.append(self.cycle - self._wished)
            self.lines = 0
            self._rising = None
        elif name == "RAISE":
            self._wished = self.cycle
            self._rising = None if value == NO_LINE else (self.cycle + RAISE_DELAY, value)
        elif name == "LEAVE":
            self.left = True
        return 0


def _show(request: Request | None) -> str:
    if request is None:
        return "none"
    kind = "a write" if request.write else "a fetch" if request.fetch else "a read"
    return f"{kind} of {request.address:#010x}, bytes {request.enabled:#x}"
