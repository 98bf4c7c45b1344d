# SPDX-License-Identifier: Apache-2.0
"""Where reef's activations lie, and what their beats take of its port, for estimates."""

from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from atoll.ir.graph import Graph
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.transfers import crossing_cycles
from atoll_sim.engines.reef.runs import average, beginnings

BEATS_UNDER_WAY, RETURN_CYCLES = 8, 2.5
"""Beats that a port asks for before the first is there; what it takes longer than memory waits."""


class Place(NamedTuple):
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

    def reading(self, port: int) -> float:
        """Return the cycles of a beat that is read; so many at most are under way at a time."""
        return max(self.writing(port), self.waiting(RETURN_CYCLES + self.crossing))

    def waiting(self, cycles: float) -> float:
        """Return the cycles of each beat of many, whose answers return so long after they came."""
        return (self.latency + cycles) / BEATS_UNDER_WAY

    def writing(self, size: int) -> float:
        """Return the cycles in which so many bytes of a beat pass, see `beat_cycles`."""
        (width, one), (engine, bus) = (
            each.as_integer_ratio() for each in (self.width, self.bus_cycles)
        )
        return max(1.0, -(-size * one * bus // (width * engine)) * engine / bus)

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


def place_of(name: str, graph: Graph, npu: Engine) -> Place:
    """Return where a tensor is, as far as the graph says: else in the narrowest memory."""
    held = npu.pool_memories.get(graph.tensor(name).pool)
    cycles, crossing = npu.bus_cycles, crossing_cycles(npu)
    if held is None:
        width = npu.workspace_width or Fraction(npu.params["data_bytes"])
        return Place(width, "", 0, cycles, crossing)
    return Place(held.width, held.memory, held.latency, cycles, crossing)


def narrower(memory: Fraction, npu: Engine) -> tuple[int, int]:
    """Return the bytes a cycle of a memory, 0 if it is not known, and the port, as a ratio."""
    port, (whole, part) = npu.params["data_bytes"], memory.as_integer_ratio()
    return (whole, part) if 0 < whole < port * part else (port, 1)
