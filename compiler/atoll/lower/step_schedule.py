# SPDX-License-Identifier: Apache-2.0
"""Put steps in an order in which devices work at the same time, by estimated cycles."""

from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

from atoll.ir.tir import Entry, Step
from atoll.records import dataclass
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

ENTRIES_AT_HAND = 64
"""Programs of which a process knows whether they are chains."""

SLACK = 4
"""A device counts as surely done when a quarter more than its estimate has passed."""


class Phase(Enum):
    """What the host does about a step."""

    RUN = "run"
    START = "start"
    WAIT = "wait"


class Event(NamedTuple):
    """One entry of the host's program: what it does about the step at `position`."""

    phase: Phase
    position: int


@dataclass(frozen=True)
class Work:
    """Steps in an order that is right, and what is known of them.

    Attributes:
        entry: says which names stand for bytes of one buffer.
        cycles: estimate for each step.
        beside: for each step, whether its device works while the host goes on.
        starting: cycles of a step that is beside others in which the host starts its device.
        finishing: cycles in which the host hears of its end.
        copies: positions of copies to the same pools, in order, for each such pools.
        ahead: of them, how many may have their bytes in use at the same time; 0 for any number.
    """

    entry: Entry
    steps: tuple[Step, ...]
    cycles: tuple[int, ...]
    beside: tuple[bool, ...]
    starting: int = 0
    finishing: int = 0
    copies: tuple[tuple[int, ...], ...] = ()
    ahead: int = 0

    @cached_property
    def before(self) -> tuple[frozenset[int], ...]:
        """For each step the earlier ones whose bytes it needs or overwrites.

        For a copy also those that read what was copied `ahead` copies before.
        """
        before = list(_predecessors(self.entry, self.steps))
        for copies in self.copies if self.ahead else ():
            for earlier, later in zip(copies, copies[self.ahead :], strict=False):
                readers = (at for at in range(later) if earlier in before[at])
                before[later] = before[later].union(readers)
        return tuple(before)

    @cached_property
    def after(self) -> tuple[tuple[int, ...], ...]:
        """The reverse of `before`."""
        after: list[list[int]] = [[] for _ in self.steps]
        for position, before in enumerate(self.before):
            for earlier in before:
                after[earlier].append(position)
        return tuple(map(tuple, after))

    @cached_property
    def urgency(self) -> tuple[int, ...]:
        """For each step the cycles of the longest chain of steps that begins with it."""
        longest = list(self.cycles)
        for position in reversed(range(len(longest))):
            longest[position] += max((longest[later] for later in self.after[position]), default=0)
        return tuple(longest)


def copies_by_pools(entry: Entry, movers: Collection[str]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the steps on `movers`, in order, for each set of pools they fill."""
    pools = {item.buffer: item.pools for item in entry.allocations}
    copies: dict[object, list[int]] = defaultdict(list)
    for at, step in enumerate(entry.steps):
        if step.device in movers:
            copies[pools.get(entry.storage(step.writes[0]))].append(at)
    return tuple(map(tuple, copies.values()))


def _entry_key(entry: Entry) -> Alike | None:
    count = len(entry.steps)
    return None if count > MOST_OPERATORS else Alike((count, entry.inputs, entry.outputs), entry)


@remember(_entry_key, most=ENTRIES_AT_HAND)
def is_chain(entry: Entry) -> bool:
    """Tell whether each step needs the one before it: then there is nothing to schedule."""
    needs = enumerate(_predecessors(entry, entry.steps))
    return all(not at or at - 1 in before for at, before in needs)


def _predecessors(entry: Entry, steps: Sequence[Step]) -> Iterator[frozenset[int]]:
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = defaultdict(list)
    beside = entry.beside
    for position, step in enumerate(steps):
        touched = (other for name in (*step.reads, *step.writes) for other in beside[name])
        before = {writer[name] for name in touched if name in writer}
        for name in step.reads:
            readers[name].append(position)
        for name in step.writes:
            for other in beside[name]:
                before.update(readers[other])
            readers.pop(name, ())
            writer[name] = position
        yield frozenset(before - {position})


@dataclass
class Timeline:
    """What the host did so far, and until when it and the devices are busy.

    Attributes:
        now: the cycle in which the host is free.
        ends: the cycle in which each step is done, by position.
        events: what the host did, in order.
    """

    work: Work
    now: int = 0
    ends: dict[int, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    _pending: dict[str, int] = field(default_factory=dict)

    def begin(self, position: int) -> int:
        """Return the first cycle in which a step can begin, all before it being placed."""
        needed = [self.ends[earlier] for earlier in self.work.before[position]]
        return max((self.now, *needed, *(self.ends[each] for each in self._busy(position))))

    def place(self, position: int) -> None:
        """Let the host run or start a step, after the waits that it needs."""
        work = self.work
        device, begin = work.steps[position].device, self.begin(position)
        needed = {*work.before[position], *self._busy(position)}
        for other in sorted(self._pending.values(), key=lambda each: (self.ends[each], each)):
            if other in needed or self.ends[other] + work.cycles[other] // SLACK <= begin:
                self._wait(other)
        begin = max(begin, self.now)
        self.ends[position] = begin + work.cycles[position]
        if work.beside[position]:
            self.now = min(begin + work.starting, self.ends[position])
            self._pending[device] = position
            self.events.append(Event(Phase.START, position))
        else:
            self.now = self.ends[position]
            self.events.append(Event(Phase.RUN, position))

    def _busy(self, position: int) -> list[int]:
        """Return what the devices of a step are busy with."""
        devices = self.work.steps[position].devices
        return [self._pending[each] for each in devices if each in self._pending]

    def finish(self) -> None:
        """Wait for everything."""
        for other in sorted(self._pending.values(), key=lambda each: (self.ends[each], each)):
            self._wait(other)

    def _wait(self, position: int) -> None:
        del self._pending[self.work.steps[position].device]
        self.now = max(self.now + self.work.finishing, self.ends[position])
        self.events.append(Event(Phase.WAIT, position))


def list_schedule(work: Work, window: int, urgency: Sequence[int]) -> Timeline:
    """Place all steps: of the most urgent ones that are ready, the one that can begin first.

    Args:
        work: the steps.
        window: how many of the ready steps are looked at; with 1 the most urgent one comes next
            even if the host has to wait for it.
        urgency: of each step; of equals that which comes first.
    """
    timeline = Timeline(work)
    missing = [len(before) for before in work.before]
    ready = sorted((-urgency[at], at) for at, count in enumerate(missing) if not count)
    while ready:
        chosen = min(ready[:window], key=lambda each: _eagerness(timeline, each[1]))
        ready.remove(chosen)
        timeline.place(chosen[1])
        for later in work.after[chosen[1]]:
            missing[later] -= 1
            if not missing[later]:
                insort(ready, (-urgency[later], later))
    timeline.finish()
    return timeline


def _eagerness(timeline: Timeline, position: int) -> tuple[int, bool]:
    return timeline.begin(position), not timeline.work.beside[position]
