# SPDX-License-Identifier: Apache-2.0
"""Where operators begin, in the time of a waveform."""

from collections.abc import Iterator, Sequence

from atoll.records import dataclass
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.trace.simulation import Phase
from atoll_sim.waves.request import Names


@dataclass(frozen=True, slots=True)
class Mark:
    """An operator that begins.

    Attributes:
        time: picoseconds.
    """

    name: str
    time: int


def time_of(chip: Chip, cycle: int) -> int:
    """Return when the rising edge of a cycle is, in picoseconds; the first one is cycle 1."""
    return chip.clocks[0].half_period * max(2 * cycle - 1, 0)


def operator_marks(
    chip: Chip,
    phases: Sequence[Phase],
    names: Sequence[Names],
    cycles: range,
) -> Iterator[Mark]:
    """Yield the operators that begin in `cycles`, in order.

    Args:
        chip: gives the clock.
        phases: of the run.
        names: of the operators by number, for each model; sample k is for model k modulo theirs.
        cycles: those that were recorded.
    """
    before: tuple[int | None, tuple[int, ...]] = None, ()
    for phase in phases:
        for number in phase.operators:
            begun = (phase.sample, number) not in {(before[0], other) for other in before[1]}
            if begun and phase.sample is not None and phase.begin in cycles:
                name = names[phase.sample % len(names)][number]
                yield Mark(name, time_of(chip, phase.begin))
        before = phase.sample, phase.operators
