"""Let devices work at the same time: start early, wait late."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    IRModule,
    Step,
)
from atoll.ir.verify_overlap import disturbs


@dataclass(frozen=True)
class OverlapRuns:
    """Split each run of some devices into a start and a wait.

    A start comes right after the last step that makes its inputs or still needs the bytes that it
    writes; a wait right before the first step that needs its outputs, writes what it touches, or
    wants the device. All other steps keep their order. A pair with nothing in between stays one
    run. Buffers live from start to wait, so a plan may need more memory than before.

    Attributes:
        devices: names of the devices that work while the host goes on.
    """

    name: ClassVar[str] = "overlap-runs"
    devices: frozenset[str]

    def run(self, module: IRModule) -> IRModule:
        """Return the module with its steps in the new order."""
        steps: list[Step] = []
        pending: list[Step] = []
        for step in module.entry.steps:
            for wait in [wait for wait in pending if _conflict(wait, step)]:
                pending.remove(wait)
                steps.append(wait)
            if isinstance(step.action, AcceleratorRun) and step.device in self.devices:
                steps.insert(_earliest(step, steps), _start(step, step.action))
                wait = replace(step, action=AcceleratorWait(step.device), overlaps=())
                pending.append(wait)
            else:
                steps.append(step)
        joined = tuple(_joined([*steps, *pending]))
        return replace(module, entry=replace(module.entry, steps=joined))


def _start(step: Step, run: AcceleratorRun) -> Step:
    start = AcceleratorStart(run.device, run.commands, run.count)
    return replace(step, action=start, overlaps=())


def _conflict(one: Step, other: Step) -> bool:
    return one.device == other.device or disturbs(one, other)


def _earliest(step: Step, before: Sequence[Step]) -> int:
    """Return the first place after every step that `step` has to wait for."""
    place = len(before)
    while place and not _conflict(before[place - 1], step):
        place -= 1
    return place


def _joined(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps, starts that are waited for at once as runs."""
    following = iter(pairwise((*steps, None)))
    for step, after in following:
        assert step is not None
        start = step.action
        if isinstance(start, AcceleratorStart) and after and after.number == step.number:
            next(following)
            run = AcceleratorRun(start.device, start.commands, start.count)
            yield replace(step, action=run)
        else:
            yield step
