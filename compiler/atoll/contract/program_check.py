# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse a plan by the program that will run on it. Knows nothing of planned lifetimes.

Follows whose value each byte of the pools holds, step by step, as the run would leave it. The
rules of lifetimes and overlaps are not looked at: what counts is that every value is still there
when an operator, or at last the caller, reads it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.tir import (
    AcceleratorStart,
    AcceleratorWait,
    CallStart,
    Entry,
    IRModule,
    Step,
)
from atoll.memory.problem import MemoryPlan

Place = tuple[int, int]
"""First address, and the one past the end."""


def check_program(module: IRModule, plan: MemoryPlan, *, mapped_inputs: bool = False) -> None:
    """Accept `plan` if `module` computes on it what it computes on separate buffers.

    Args:
        module: the planned program.
        plan: where its buffers are.
        mapped_inputs: the caller reads its inputs after the run.

    Raises:
        PlanError: E063; some value is overwritten before its last reader.
    """
    faults = tuple(program_faults(module, plan, mapped_inputs=mapped_inputs))
    if faults:
        raise PlanError.all(faults)


def program_faults(
    module: IRModule, plan: MemoryPlan, *, mapped_inputs: bool = False
) -> Iterator[Fault]:
    """Yield a fault for every value that is lost before it is read."""
    entry = module.entry
    places = {
        name: (plan.address(name), plan.address(name) + entry.sizes[name])
        for name in plan.placements
        if name in entry.sizes
    }
    constants = tuple(each.name for each in entry.constants)
    yield from _apart(entry, plan)
    run = _Run(places, entry)
    yield from run.fill((*constants, *entry.filled))
    for step in entry.steps:
        yield from run.step(step)
    mapped = entry.inputs if mapped_inputs else ()
    kept = (*entry.outputs, *entry.states, *mapped, *constants)
    yield from run.read(dict.fromkeys(kept), "when the run has ended")


class _Run:
    """Whose value each byte holds, and what devices are working on at the same time."""

    def __init__(self, places: Mapping[str, Place], entry: Entry) -> None:
        self._places = places
        self._entry = entry
        self._held = _Held()
        self._under_way: dict[str, Step] = {}

    def fill(self, names: Iterable[str]) -> Iterator[Fault]:
        """Put constants and inputs in their places; none may lie over another."""
        names = tuple(names)
        for name in names:
            self._take(name)
        yield from self.read(names, "before the run")

    def step(self, step: Step) -> Iterator[Fault]:
        """Let an operator read and write; what is started goes on until its wait."""
        if isinstance(step.action, AcceleratorWait):
            del self._under_way[step.device]
            return
        when = f"by '{step.operator}'"
        yield from self.read((name for name in step.reads if name not in step.writes), when)
        yield from self._find_disturbances(step)
        yield from self._over_operands(step)
        for name in step.writes:
            self._take(name)
        if isinstance(step.action, (AcceleratorStart, CallStart)):
            self._under_way[step.device] = step

    def _take(self, name: str) -> None:
        self._held.take(*self._places[name], self._entry.storage(name))

    def read(self, names: Iterable[str], when: str) -> Iterator[Fault]:
        """Yield the buffers whose value is not all there."""
        for name in names:
            other = self._held.other(*self._places[name], self._entry.storage(name))
            if other is not None:
                holder = f"'{other}' is in its place" if other else "it was never written"
                yield _loss(f"buffer '{name}' is read {when}, but {holder}")

    def _find_disturbances(self, step: Step) -> Iterator[Fault]:
        """Yield what `step` and another device would do to each other's bytes at the same time."""
        for other in self._under_way.values():
            theirs, mine = (*other.reads, *other.writes), (*step.reads, *step.writes)
            pairs = {(one, two) for one in step.writes for two in theirs}
            pairs |= {(one, two) for one in mine for two in other.writes}
            for one, two in sorted(pairs):
                if self._share(one, two):
                    yield _loss(
                        f"'{step.operator}' and '{other.operator}' run at the same time, and "
                        f"'{one}' shares bytes with '{two}'"
                    )

    def _over_operands(self, step: Step) -> Iterator[Fault]:
        """Yield the results that lie over what the same operator still reads or writes."""
        distances = {(each.written, each.read): each.distance for each in step.overlaps}
        for index, written in enumerate(step.writes):
            rivals = [name for name in step.reads if name not in step.writes]
            for other in (*rivals, *step.writes[index + 1 :]):
                distance = distances.get((written, other))
                begin, end = self._places[written][0], self._places[other][0]
                if self._share(written, other) and (distance is None or begin + distance > end):
                    yield _loss(
                        f"'{step.operator}' writes '{written}' over '{other}' before it is done "
                        "with it"
                    )

    def _share(self, one: str, other: str) -> bool:
        (begin, end), (since, until) = self._places[one], self._places[other]
        return begin < until and since < end


class _Held:
    """An owner for each address, as disjoint spans in the order of their addresses."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._spans: list[tuple[int, int, str]] = []

    def take(self, begin: int, end: int, owner: str) -> None:
        """Give bytes to `owner`."""
        first, last = self._meeting_spans(begin, end)
        kept = [(begin, end, owner)]
        for low, high, other in self._spans[first:last]:
            kept += [(low, begin, other)] if low < begin else []
            kept += [(end, high, other)] if high > end else []
        kept.sort()
        self._spans[first:last] = kept
        self._begins[first:last] = [low for low, _, _ in kept]

    def other(self, begin: int, end: int, owner: str) -> str | None:
        """Return who has a byte of a span that `owner` should have, "" for nobody, else None."""
        first, last = self._meeting_spans(begin, end)
        reached = begin
        for low, high, holder in self._spans[first:last]:
            if holder != owner:
                return holder
            if low > reached:
                return ""
            reached = high
        return None if reached >= end else ""

    def _meeting_spans(self, begin: int, end: int) -> tuple[int, int]:
        """Return the positions of the spans that share bytes with one."""
        first = max(0, bisect_right(self._begins, begin) - 1)
        if first < len(self._spans) and self._spans[first][1] <= begin:
            first += 1
        return first, max(first, bisect_left(self._begins, end))


def _apart(entry: Entry, plan: MemoryPlan) -> Iterator[Fault]:
    """Yield the parts that lie elsewhere than in their buffer."""
    for part in entry.parts:
        if part.name in plan.placements:
            found, wanted = plan.address(part.name), plan.address(part.buffer) + part.offset
            if found != wanted:
                yield _loss(f"'{part.name}' is at {found:#x}, its bytes of '{part.buffer}' are not")


def _loss(message: str) -> Fault:
    return Fault(code="E063", message=message, remedy="report it: a planner did this")
