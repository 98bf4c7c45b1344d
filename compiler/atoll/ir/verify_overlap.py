"""The rules of what runs at once: every start has its wait, and nobody disturbs what runs."""

from collections.abc import Iterator

from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Step


def disturbs(step: Step, other: Step) -> bool:
    """Say whether two steps must not run at once: one writes what the other touches."""
    mine, theirs = {*step.reads, *step.writes}, {*other.reads, *other.writes}
    return not (mine.isdisjoint(other.writes) and theirs.isdisjoint(step.writes))


class Overlap:
    """Follows the steps of an entry in their order.

    Attributes:
        pending: the start of what each device is busy with, by device.
    """

    def __init__(self) -> None:
        self.pending: dict[str, Step] = {}
        self._seen: set[int] = set()
        self._last = -1

    def objections(self, step: Step) -> Iterator[str]:
        """Yield what is wrong with the order of `step`, the next one."""
        if isinstance(step.action, AcceleratorWait):
            yield from self._wait(step, self.pending.pop(step.device, None))
            return
        if step.number in self._seen and step.number > self._last:
            yield f"repeats the number {step.number}"
        self._seen.add(step.number)
        for start in self.pending.values():
            if start.device == step.device:
                yield f"runs on '{step.device}', which is busy with '{start.operator}'"
            elif disturbs(step, start):
                yield f"disturbs '{start.operator}', which runs on '{start.device}'"
        if isinstance(step.action, (AcceleratorStart, CallStart)):
            self.pending[step.device] = step
            return
        if step.number <= self._last:
            yield f"comes after step {self._last}"
        self._last = step.number

    def _wait(self, step: Step, start: Step | None) -> Iterator[str]:
        if start is None or start.number != step.number:
            yield f"waits for what was not started on '{step.device}'"
        elif (start.operator, start.reads, start.writes) != (
            step.operator,
            step.reads,
            step.writes,
        ):
            yield "does not repeat operator and buffers of its start"
