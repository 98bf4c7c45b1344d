# SPDX-License-Identifier: Apache-2.0
"""Where reef's activations lie, and what their beats take of its port, for estimates."""

from collections.abc import Hashable
from dataclasses import field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from atoll.ir.graph import Tensor
from atoll.records import dataclass
from atoll.resolve.soc import Engine, once_per_engine
from atoll.utils.remember import remember
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.common.transfers import crossing_cycles
from atoll_sim.engines.reef.runs import average, beginnings

BEATS_UNDER_WAY, RETURN_CYCLES = 8, 2.5
"""Beats that a port asks for before the first is there; what it takes longer than memory waits."""

PLACES_AT_HAND = 1024
"""Places at other speeds that a process keeps."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where a tensor is.

    Attributes:
        width: bytes that its memory moves in a cycle.
        memory: its name, "" where nobody knows yet.
        latency: cycles until that memory answers.
        bus_cycles: cycles in one of the bus.
        crossing: cycles that an answer takes longer from another clock.
    """

    width: Fraction
    memory: str = ""
    latency: int = 0
    bus_cycles: Fraction = Fraction(1)
    crossing: float = 0.0
    _written: dict[int, float] = field(default_factory=dict, init=False, repr=False)

    def reading(self, port: int) -> float:
        """Return the cycles of a beat that is read; so many at most are under way at a time."""
        return max(self.writing(port), self.waiting(RETURN_CYCLES + self.crossing))

    def waiting(self, cycles: float) -> float:
        """Return the cycles of each beat of many, whose answers return so long after they came."""
        return (self.latency + cycles) / BEATS_UNDER_WAY

    def writing(self, size: int) -> float:
        """Return the cycles in which so many bytes of a beat pass, see `beat_cycles`."""
        if size not in self._written:
            (width, one), (engine, bus) = (
                each.as_integer_ratio() for each in (self.width, self.bus_cycles)
            )
            cycles = -(-size * one * bus // (width * engine)) * engine / bus
            self._written[size] = max(1.0, cycles)
        return self._written[size]

    def writing_run(self, size: int, step: int, beats: float, port: int) -> float:
        """Return the cycles in which a run of bytes is written that begins at multiples of a step.

        A beat takes a cycle for each word of the memory in which it has a byte.
        """
        (width, one), (engine, bus) = (
            each.as_integer_ratio() for each in (self.width, self.bus_cycles)
        )
        word, rest = divmod(width * engine, one * bus)
        if rest:
            return beats * self.writing(min(size, port))
        return max(beats, _words(size, step, min(word, port)) * engine / bus)

    def changing(self, other: "Place") -> int:
        """Return the cycles of a change to another place, and of the way back.

        Before another memory is asked, all answers of the last one are awaited.
        """
        if not (self.memory and other.memory) or self.memory == other.memory:
            return 0
        return self.latency + other.latency


@lru_cache(maxsize=4096)
def _words(size: int, step: int, word: int) -> float:
    """Return the words that a run touches, on average over where it begins."""
    return average(size, beginnings(step, word), size).beats


@dataclass(frozen=True, eq=False)
class Places:
    """Where the activations of an operator are.

    Attributes:
        read: where its input is.
        written: where its output is.
        size: bytes of a beat of the port.
        takes_turns: the port reads or writes at a time: so it is where the memories are known.
    """

    read: Place
    written: Place
    size: int
    takes_turns: bool

    @cached_property
    def reading(self) -> float:
        """Cycles of a beat that is read."""
        return self.read.reading(self.size)

    @cached_property
    def reading_alone(self) -> float:
        """Likewise, if it need not wait for its answer."""
        return self.read.writing(self.size)

    @cached_property
    def waiting(self) -> float:
        """Likewise, of a beat that waits for it."""
        return self.read.waiting(RETURN_CYCLES + self.read.crossing)

    @cached_property
    def change(self) -> int:
        """Cycles of a change from one to the other, and back."""
        return self.read.changing(self.written)

    @cached_property
    def later(self) -> float:
        """Cycles beyond the first one until a beat that is read is there."""
        return max(0, self.read.latency - 1) + self.read.crossing


def _ratios(
    width: Fraction, memory: str, latency: int, bus_cycles: Fraction
) -> tuple[Hashable, ...]:
    """Return the same as ints, whose hashes are soon made."""
    return width.as_integer_ratio(), memory, latency, bus_cycles.as_integer_ratio()


@remember(_ratios, most=PLACES_AT_HAND)
def place_of(width: Fraction, memory: str, latency: int, bus_cycles: Fraction) -> Place:
    """Return a place: the same one for the same speeds."""
    return Place(width, memory, latency, bus_cycles, crossing_cycles(bus_cycles))


@remember(lambda *given: given, most=PLACES_AT_HAND)
def places_of(read: Place, written: Place, size: int, takes_turns: bool) -> Places:
    """Return two places: the same ones for the same two."""
    return Places(read, written, size, takes_turns)


@dataclass(frozen=True, eq=False)
class Port:
    """What an instance has of its memories, whatever it runs.

    Attributes:
        npu: the instance.
        known: what was asked of it; who asks adds it.
    """

    npu: Engine
    known: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def size(self) -> int:
        """Bytes of a beat."""
        return self.npu.params["data_bytes"]

    @cached_property
    def width(self) -> tuple[int, int]:
        """Bytes of constants in a cycle, as a ratio: the narrower of their memory and the port."""
        whole, part = self.npu.constants_width.as_integer_ratio()
        return (whole, part) if 0 < whole < self.size * part else (self.size, 1)

    @cached_property
    def asking(self) -> float:
        """Cycles in which it asks for a beat of constants."""
        return self.size * self.width[1] / self.width[0]

    @cached_property
    def crossing(self) -> float:
        """Cycles that an answer takes longer from another clock."""
        return crossing_cycles(self.npu.bus_cycles)

    @cached_property
    def takes_turns(self) -> bool:
        """Whether it reads or writes at a time: so it is where the memories are known."""
        return bool(self.npu.workspace_width)

    @cached_property
    def answer_cycles(self) -> float:
        """Cycles until a beat of constants is there."""
        return self.npu.constants_latency + RETURN_CYCLES + self.crossing

    def turn(self, place: Place) -> int:
        """Return the cycles lost on the way from a place to constants and back."""
        npu = self.npu
        return npu.constants_latency + max(1, place.latency) if npu.constants_wait else 0

    @cached_property
    def fetch_cycles(self) -> int:
        """Cycles until a command is there."""
        return self.npu.constants_latency + -(-DESCRIPTOR_BYTES * self.width[1] // self.width[0])

    def read_cycles(self, size: int) -> int:
        """Return the cycles in which so many bytes of constants come.

        So many beats at most are under way at a time.
        """
        whole, part = self.width
        waiting = size * self.answer_cycles
        return max(-(-size * part // whole), int(waiting / (BEATS_UNDER_WAY * self.size)))

    def place(self, tensor: Tensor) -> Place:
        """Return where a tensor is, as far as the graph says: else in the narrowest memory."""
        pool = tensor.pool
        if pool not in self.known:
            held, npu = self.npu.pool_memories.get(pool), self.npu
            width = npu.workspace_width or Fraction(self.size)
            where = (held.width, held.memory, held.latency) if held else (width, "", 0)
            self.known[pool] = place_of(*where, npu.bus_cycles)
        found: Place = self.known[pool]
        return found

    def places(self, read: Tensor, written: Tensor) -> Places:
        """Return where two tensors are."""
        key = read.pool, written.pool
        if key not in self.known:
            self.known[key] = self.between(self.place(read), self.place(written))
        found: Places = self.known[key]
        return found

    def between(self, read: Place, written: Place) -> Places:
        """Return two places as those of an operator."""
        return places_of(read, written, self.size, self.takes_turns)


@once_per_engine
def port_of(npu: Engine) -> Port:
    """Return what an instance has of its memories."""
    return Port(npu)
