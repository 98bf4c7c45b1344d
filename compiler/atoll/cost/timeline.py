# SPDX-License-Identifier: Apache-2.0
"""When each operator of a program begins and ends, by the cycles that are expected of each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from math import inf

from atoll.cost.contention import Banks, Work, stretches
from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import BETWEEN_CYCLES
from atoll.cost.engines import driver_cycles
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallSpread, CallStart, Step
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc, once_per_chip

Lists = Iterable[Sequence[Step]]
"""Steps of a program in their order, those together whose lists are one for the host."""

LEAST = 1e-6
"""Cycles that are none."""


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


AT_ONCE = (AcceleratorStart, AcceleratorWait, CallSpread, CallStart)
"""What has several devices work at the same time."""

Works = Callable[[str], Work]
"""Return what devices do for an operator, by its name."""


def timeline_of(
    lists: Lists, cycles: Mapping[str, int], soc: ResolvedSoc, works: Works | None = None
) -> Timeline:
    """Follow the host through the steps of a program.

    What it starts goes on beside it until it waits for that. Devices that work at the same time
    slow each other, as far as they ask the same memories; None in place of `works`: they do not.
    """
    start, finish, _ = driver_cycles(soc)
    between = between_cycles(soc)
    clock = _Clock(works, banks_of(soc))
    jobs, now, length = clock.jobs, 0, 0
    begins: dict[str, int] = {}
    ends: dict[str, int] = {}
    for step, is_last in ((step, step is steps[-1]) for steps in lists for step in steps):
        name = step.operator
        if not (jobs or isinstance(step.action, AT_ONCE)):
            begins[name] = now
            length = ends[name] = now + cycles[name]
            now = length + between if is_last else length
            continue
        if not jobs:
            clock.now = now
        if isinstance(step.action, AcceleratorWait):
            due = clock.now + finish
            clock.wait(name)
            clock.spend(due - clock.now)
        else:
            begins[name] = round(clock.now)
            clock.begin(name, cycles[name], len(step.devices))
            if isinstance(step.action, AcceleratorStart | CallStart):
                ends[name] = begins[name] + cycles[name]
                clock.spend(start + between)
                continue
            clock.wait(name)
        length = ends[name] = round(clock.now)
        clock.spend(between if is_last else 0)
        now = round(clock.now)
    return Timeline(begins=begins, ends=ends, length=length)


@dataclass(slots=True)
class _Job:
    """An operator that was begun.

    Attributes:
        cycles: that it takes alone.
        devices: how many work on it.
        done: of its cycles.
        changes: of its cycles, those at which its devices begin and end to work; None if not asked.
    """

    name: str
    cycles: int
    devices: int
    done: float = 0.0
    changes: tuple[int, int] | None = None

    def works(self, works: Works) -> bool:
        """Tell whether its devices work now."""
        if self.changes is None:
            work = works(self.name)
            self.changes = work.lead, work.lead + work.demand.cycles
        return self.changes[0] <= self.done < self.changes[1]

    @property
    def change(self) -> int:
        """Of its cycles, that at which something changes next."""
        changes: tuple[int, ...] = (*(self.changes or ()), self.cycles)
        return min(each for each in changes if each > self.done)


@dataclass(slots=True)
class _Clock:
    """The cycle in which the host is, and what it has begun."""

    works: Works | None
    banks: Banks
    now: float = 0
    jobs: dict[str, _Job] = field(default_factory=dict)

    def begin(self, name: str, cycles: int, devices: int) -> None:
        """Begin an operator."""
        self.jobs[name] = _Job(name, cycles, devices)

    def wait(self, name: str) -> None:
        """Go on until an operator is done."""
        job = self.jobs.pop(name)
        going = [each for each in self.jobs.values() if each.done < each.cycles]
        if not going and job.devices == 1:
            self.now += job.cycles - job.done
            return
        while job.done < job.cycles:
            self._step([*going, job], inf)

    def spend(self, cycles: float) -> None:
        """Go on for some cycles of the host."""
        going = [each for each in self.jobs.values() if each.done < each.cycles]
        while cycles > LEAST:
            cycles -= self._step(going, cycles)

    def _step(self, jobs: Sequence[_Job], most: float) -> float:
        """Go on until something changes, so many cycles at most; return how many these were."""
        going = [each for each in jobs if each.done < each.cycles]
        times = dict.fromkeys((each.name for each in going), 1.0)
        if (works := self.works) and sum(each.devices for each in going) > 1:
            working = [each for each in going if each.works(works)]
            demands = tuple(works(each.name).demand for each in working)
            longer = stretches(demands, self.banks)
            times |= zip((each.name for each in working), longer, strict=True)
        left = {each.name: (each.change - each.done) * times[each.name] for each in going}
        step = min((most, *left.values()))
        for each in going:
            ends = left[each.name] - step < LEAST
            each.done = each.change if ends else each.done + step / times[each.name]
        self.now += step
        return step


@once_per_chip
def banks_of(soc: ResolvedSoc) -> Banks:
    """Return the memories of a chip and their banks."""
    return tuple((memory.name, memory.banks) for memory in soc.memories)


@once_per_chip
def between_cycles(soc: ResolvedSoc) -> int:
    """Return what the host takes from one list to the next."""
    return drive_cycles(BETWEEN_CYCLES, soc.host_cpu, soc)
