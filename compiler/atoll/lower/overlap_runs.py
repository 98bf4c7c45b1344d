# SPDX-License-Identifier: Apache-2.0
"""Let devices work at the same time: start early, wait late."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from operator import itemgetter
from typing import ClassVar

from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Action,
    CallStart,
    Entry,
    IRModule,
    KernelCall,
    Step,
)
from atoll.lower.step_schedule import (
    Event,
    Phase,
    Timeline,
    Work,
    copies_by_pools,
    list_schedule,
)
from atoll.records import dataclass

WINDOWS = (1, 64)
"""Ready steps that a schedule chooses from; each is tried."""

AHEAD = (1, 2, 0)
"""What `OverlapRuns.ways` tries: one buffer, two of them, any number."""


@dataclass(frozen=True)
class OverlapRuns:
    """Split runs of some devices into a start and a wait, and order all steps so that they overlap.

    Two list schedules are made from the estimates and the one that ends first is taken: in one the
    step at the head of the longest chain always comes next, in the other the host never waits while
    another step can begin. A third one keeps the order as far as the host need not wait: buffers of
    parts that come one after the other are not there at once. Steps that touch the same bytes, one
    of them writing, keep their order. A wait comes right before the first step that needs it, or
    earlier if the device is surely done. Copies may depend on little before them: `ahead` says how
    early those of `movers` may begin. If nothing is gained, the program stays as it is. Buffers
    live from start to wait and steps change places, so a plan may need more memory than before.
    What is split loses its overlaps, since operand and result are both alive while other steps run.

    Attributes:
        devices: names of the devices that work while the host goes on; the host is none of them.
        cycles: estimate for each operator, by name; only comparisons rely on it.
        host: of these, what the host itself takes to start a device and to hear of its end.
        saving: what steps take less, in their order, than the sum of these: an engine may go from
            one to the next by itself.
        movers: those of the devices that copy.
        ahead: copies to the same pools whose bytes may be in use at the same time; 0: any number.
        keeps_order: make the third schedule.
    """

    name: ClassVar[str] = "overlap-runs"
    devices: frozenset[str]
    cycles: Mapping[str, int]
    host: tuple[int, int] = (0, 0)
    saving: Callable[[Sequence[Step]], int] = lambda steps: 0
    movers: frozenset[str] = frozenset()
    ahead: int = 0
    keeps_order: bool = False

    def run(self, module: IRModule) -> IRModule:
        """Return the module with its steps in the new order; what is split already stays."""
        return self._time(module)[1]

    def ways(self, module: IRModule) -> tuple[IRModule, ...]:
        """Return the different ways to let devices overlap, that first which ends first.

        They differ in how early copies begin, and in the order of steps; of those that end
        together, that which copies late comes first, since it takes less memory.
        """
        copies = bool(copies_by_pools(module.entry, self.movers))
        each = (
            replace(self, ahead=ahead, keeps_order=keeps)._time(module)
            for ahead, keeps in product(AHEAD if copies else (0,), (True, False))
        )
        ways: list[IRModule] = []
        for _, way in sorted(each, key=itemgetter(0)):
            if way != module and way not in ways:
                ways.append(way)
        return tuple(ways)

    def _time(self, module: IRModule) -> tuple[int, IRModule]:
        """Return when the last step of the new order ends, and the module."""
        steps = module.entry.steps
        if len({step.number for step in steps}) < len(steps):
            return 0, module
        best = self._schedule(module.entry)
        alone = sum(best.work.cycles) - self.saving(steps)
        ordered = tuple(_steps(steps, best.events))
        beside = best.now - self.saving(ordered)
        if beside >= alone:
            return alone, module
        return beside, replace(module, entry=replace(module.entry, steps=ordered))

    def _schedule(self, entry: Entry) -> Timeline:
        steps = entry.steps
        work = Work(
            entry=entry,
            steps=steps,
            cycles=tuple(self.cycles[step.operator] for step in steps),
            beside=tuple(
                step.device in self.devices and _halves(step) is not None for step in steps
            ),
            starting=self.host[0],
            finishing=self.host[1],
            copies=copies_by_pools(entry, self.movers),
            ahead=self.ahead,
        )
        if self.keeps_order:
            return list_schedule(work, WINDOWS[-1], [0] * len(steps))
        schedules = (list_schedule(work, window, work.urgency) for window in WINDOWS)
        return min(schedules, key=lambda each: each.now)


def _halves(step: Step) -> tuple[Action, Action] | None:
    """Return start and wait of what can be split, a call only on another core than the host."""
    match step.action:
        case AcceleratorRun(device, commands, count):
            return AcceleratorStart(device, commands, count), AcceleratorWait(device)
        case KernelCall(function, arguments):
            return CallStart(function, arguments), AcceleratorWait(step.device)
    return None


def _steps(steps: tuple[Step, ...], events: list[Event]) -> Iterator[Step]:
    """Yield the steps of a program; what is waited for at once is one run."""
    following = iter(pairwise((*events, None)))
    for event, after in following:
        assert event is not None
        step, halves = steps[event.position], _halves(steps[event.position])
        if event.phase is Phase.RUN or halves is None:
            yield step
        elif event.phase is Phase.START and after == Event(Phase.WAIT, event.position):
            next(following)
            yield step
        else:
            yield replace(step, action=halves[event.phase is Phase.WAIT], overlaps=())
