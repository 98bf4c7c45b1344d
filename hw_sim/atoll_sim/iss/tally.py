# SPDX-License-Identifier: Apache-2.0
"""What cores run for each operator, from its begin event to its end event."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from atoll.driver.pipeline import Compiled
from atoll.ir.actions import CoreCall
from atoll.protocol import Trace, TraceEvent
from atoll.resolve.specs import DataLines, KernelRun
from atoll_sim.iss.core import IssCore
from atoll_sim.iss.native import CoreState, IssModel

if TYPE_CHECKING:
    from atoll.cost.kernel_runs import Which

ACCESSES, LINES = ("load", "store"), ("in", "out")


class Tally:
    """Counts the first run of each network.

    The host's part of an operator goes from its begin event to its end event, with what it asks
    other cores; the part of another core from when it takes the step until it answers. What a core
    with its mailbox in memory takes is not seen: operators with such a part are not counted.

    Attributes:
        runs: what each core ran that made a part of an operator.
    """

    def __init__(self, models: Sequence[Compiled]) -> None:
        """Begin; `models` run in turn."""
        self.runs: dict[Which, tuple[KernelRun, ...]] = {}
        self._models = models
        self._begun: dict[Which, list[_Part]] = {}
        self._asked: dict[str, _Part] = {}

    def note(self, trace: Trace, turn: int, cores: Mapping[str, IssCore], model: IssModel) -> None:
        """Take an event of the host, of a network's turn; `model` has the cores."""
        which = turn, trace.operator
        if trace.event == TraceEvent.OPERATOR_BEGIN and turn < len(self._models):
            compiled = self._models[turn]
            step = next(s for s in compiled.module.entry.steps if s.number == trace.operator)
            if any(cores[call.device].cpu.shared_mailbox for call in step.calls):
                return
            for call in step.calls:
                cpu = cores[call.device].cpu
                spans = dict(_spans(call, compiled))
                places = _places_of(spans, compiled)
                lines = (
                    DataLines(cpu.cache, places, {})
                    if cpu.cache and cpu.cache.is_countable
                    else None
                )
                part = _Part(cores[call.device].state, model, spans, lines)
                self._begun.setdefault(which, []).append(part)
                if call.device == compiled.soc.host:
                    part.begin()
                else:
                    self._asked[call.device] = part
        elif trace.event == TraceEvent.OPERATOR_END and which in self._begun:
            self.runs[which] = tuple(part.run or part.end() for part in self._begun.pop(which))

    def hear(self, core: str, *, ends: bool) -> None:
        """Take that a core begins, or ends, what the host asked of it."""
        if ends and core in self._asked:
            self._asked.pop(core).end()
        elif core in self._asked:
            self._asked[core].begin()


class _Part:
    """What one core runs for an operator: `run`, once it has ended."""

    def __init__(
        self,
        state: CoreState,
        model: IssModel,
        spans: Mapping[str, range],
        lines: DataLines | None,
    ) -> None:
        self._state, self._model, self._spans, self._data = state, model, spans, lines
        self.run: KernelRun | None = None

    def begin(self) -> None:
        """Count what the core runs from now on."""
        self._ran, self._lines = tuple(self._state.ran), self._state.lines
        self._instructions = self._state.instructions
        self._model.count_touches(self._state, [*self._spans.values(), range(2**32 - 1)])

    def end(self) -> KernelRun:
        """Return what it was."""
        touched = self._model.touches(self._state, len(self._spans) + 1)
        counts = dict(zip((*self._spans, ""), touched, strict=True))
        self.run = KernelRun(
            classes=tuple(now - then for now, then in zip(self._state.ran, self._ran, strict=True)),
            accesses={
                (access, buffer): number
                for buffer, numbers in counts.items()
                for access, number in zip(ACCESSES, numbers[:2], strict=True)
                if number
            },
            lines=self._state.lines - self._lines,
            instructions=self._state.instructions - self._instructions,
            data=self._data and replace(self._data, moved=self._count_moved(counts)),
        )
        return self.run

    def _count_moved(self, counts: Mapping[str, Sequence[int]]) -> Mapping[tuple[str, str], int]:
        return {
            (way, buffer): number
            for buffer, numbers in counts.items()
            for way, number in zip(LINES, numbers[2:], strict=True)
            if number
        }


def _places_of(spans: Mapping[str, range], compiled: Compiled) -> Mapping[str, int]:
    """Return the addresses of buffers of which a data cache keeps lines."""
    soc, placed = compiled.soc, compiled.plan.placements
    pools = ((name, soc.pool(placed[name].pool).region) for name in spans)
    return {name: spans[name].start for name, region in pools if soc.is_kept(region)}


def _spans(call: CoreCall, compiled: Compiled) -> Iterator[tuple[str, range]]:
    sizes = compiled.module.entry.sizes
    for name in dict.fromkeys(call.arguments):
        if name in compiled.plan.placements:
            origin = compiled.plan.address(name)
            yield name, range(origin, origin + sizes[name])
