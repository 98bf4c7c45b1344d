# SPDX-License-Identifier: Apache-2.0
"""When each operator of a program begins and ends, by the cycles that are expected of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from atoll.cost.cores import fetched
from atoll.cost.engines import driver_cycles
from atoll.cost.measured import BETWEEN_CYCLES
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Step
from atoll.lower.joined_lists import joined
from atoll.resolve.soc import ResolvedSoc


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


def timeline_of(steps: Sequence[Step], cycles: Mapping[str, int], soc: ResolvedSoc) -> Timeline:
    """Follow the host through the steps of a program.

    What it starts goes on beside it until it waits for that.
    """
    start, finish, _ = driver_cycles(soc)
    between = fetched(BETWEEN_CYCLES, soc.host_cpu, soc)
    now, length = 0, 0
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for step, goes_on in _with_joints(steps, soc):
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
        now = length + (0 if goes_on else between)
    return Timeline(begins=begins, ends=ends, length=length)


def _with_joints(steps: Sequence[Step], soc: ResolvedSoc) -> Iterator[tuple[Step, bool]]:
    """Yield the steps, and of each whether its engine goes on with the next one by itself."""
    for together in joined(steps, soc):
        for step in together:
            yield step, step is not together[-1]
