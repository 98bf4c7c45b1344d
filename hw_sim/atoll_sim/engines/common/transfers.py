# SPDX-License-Identifier: Apache-2.0
"""What an engine's beats take of the bus, whose clock may be another one, for estimates."""

from fractions import Fraction
from functools import lru_cache

SYNCHRONISED = Fraction(5, 2)
"""Cycles until what enters a queue between two clocks is seen on its other side, of that side."""


def beat_cycles(size: int, width: Fraction, bus_cycles: Fraction) -> Fraction:
    """Return the cycles in which a beat passes.

    The bus takes whole cycles of its own for it, and the engine one at least.

    Args:
        size: bytes.
        width: those that the memory moves in a cycle of the engine.
        bus_cycles: cycles of the engine in one of the bus.
    """
    return max(Fraction(1), -(-size // (width * bus_cycles)) * bus_cycles)


def crossing_cycles(bus_cycles: Fraction) -> float:
    """Return what requests and their answers take longer between two clocks, 0 if there is one.

    `bus_cycles` are those of the engine in one of the bus.
    """
    return _crossing_cycles(*bus_cycles.as_integer_ratio())


@lru_cache(maxsize=1024)
def _crossing_cycles(engine: int, bus: int) -> float:
    """Return the same for so many cycles of an engine in so many of the bus: ints hash fast."""
    return float(SYNCHRONISED * (Fraction(engine, bus) + 1)) if engine != bus else 0.0
