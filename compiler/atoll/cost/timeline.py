# SPDX-License-Identifier: Apache-2.0
"""When each operator of a program begins and ends, by the cycles that are expected of each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import BETWEEN_CYCLES
from atoll.cost.engines import driver_cycles
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Step
from atoll.resolve.soc import ResolvedSoc, found_once

Lists = Iterable[Sequence[Step]]
"""Steps of a program in their order, those together whose lists are one for the host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Cycles of the host from the begin event of the first operator on.

    Attributes:
        begins: of each operator, by name.
        ends: likewise; the host has waited for it.
        length: until the last end.
    """

    begins: Mapping[str, int]
    ends: Mapping[str, int]
    length: int


def timeline_of(lists: Lists, cycles: Mapping[str, int], soc: ResolvedSoc) -> Timeline:
    """Follow the host through the steps of a program.

    What it starts goes on beside it until it waits for that.
    """
    start, finish, _ = driver_cycles(soc)
    between = between_cycles(soc)
    now, length = 0, 0
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for step, is_last in ((step, step is steps[-1]) for steps in lists for step in steps):
        name = step.operator
        if isinstance(step.action, AcceleratorStart | CallStart):
            begins[name] = now
            ends[name] = now + cycles[name]
            now += start + between
            continue
        if isinstance(step.action, AcceleratorWait):
            length = ends[name] = max(now + finish, ends[name])
        else:
            begins[name] = now
            length = ends[name] = now + cycles[name]
        now = length + (between if is_last else 0)
    return Timeline(begins=begins, ends=ends, length=length)


@found_once
def between_cycles(soc: ResolvedSoc) -> int:
    """Return what the host takes from one list to the next."""
    return drive_cycles(BETWEEN_CYCLES, soc.host_cpu, soc)
