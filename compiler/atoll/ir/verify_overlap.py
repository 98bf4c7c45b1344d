# SPDX-License-Identifier: Apache-2.0
"""The rules of order: bytes pass on as in the graph, every start has its wait, nobody disturbs."""

from collections.abc import Iterator
from itertools import product

from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Entry, Step


def disturbs(step: Step, other: Step, entry: Entry) -> bool:
    """Say whether two steps must not run at once: one writes what the other touches."""
    mine, theirs = {*step.reads, *step.writes}, {*other.reads, *other.writes}
    pairs = (*product(mine, other.writes), *product(step.writes, theirs))
    return any(entry.meet(one, two) for one, two in pairs)


class Overlap:
    """Follows the steps of an entry in their order.

    Steps may change places against their numbers, which are the order of the graph, unless one of
    them writes bytes that the other touches.

    Attributes:
        pending: the start of what each device is busy with, by device.
    """

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self.pending: dict[str, Step] = {}
        self._seen: set[int] = set()
        self._touched: dict[str, int] = {}
        self._written: dict[str, int] = {}

    def objections(self, step: Step) -> Iterator[str]:
        """Yield what is wrong with the order of `step`, the next one."""
        if isinstance(step.action, AcceleratorWait):
            yield from self._wait(step, self.pending.pop(step.device, None))
            return
        if step.number in self._seen:
            yield f"repeats the number {step.number}"
        self._seen.add(step.number)
        for start in self.pending.values():
            if start.device in step.devices:
                yield f"runs on '{start.device}', which is busy with '{start.operator}'"
            elif disturbs(step, start, self._entry):
                yield f"disturbs '{start.operator}', which runs on '{start.device}'"
        yield from self._order(step)
        if isinstance(step.action, (AcceleratorStart, CallStart)):
            self.pending[step.device] = step

    def _order(self, step: Step) -> Iterator[str]:
        """Yield the buffers that a later operator of the graph has touched too early."""
        for name in dict.fromkeys((*step.reads, *step.writes)):
            rivals = self._touched if name in step.writes else self._written
            latest = max(rivals.get(it, -1) for it in self._entry.beside.get(name, (name,)))
            if latest > step.number:
                yield f"touches '{name}', comes after step {latest}"
            self._touched[name] = max(step.number, self._touched.get(name, -1))
            if name in step.writes:
                self._written[name] = max(step.number, self._written.get(name, -1))

    def _wait(self, step: Step, start: Step | None) -> Iterator[str]:
        if start is None or start.number != step.number:
            yield f"waits for what was not started on '{step.device}'"
        elif (start.operator, start.reads, start.writes) != (
            step.operator,
            step.reads,
            step.writes,
        ):
            yield "does not repeat operator and buffers of its start"
