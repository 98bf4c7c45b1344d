# SPDX-License-Identifier: Apache-2.0
"""A step of one inference: one operator on its device."""

from dataclasses import replace

from atoll.ir.actions import Action, CallSpread, CoreAction, CoreCall, EngineAction
from atoll.ir.maintenance import Maintenance
from atoll.ir.safe_overlap import SafeOverlap
from atoll.ir.statements import bracket
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator of the placed graph.

    Attributes:
        operator: its name.
        number: its place in the placed graph, from 0; trace events carry it.
        device: the device that runs it, or that runs the first part of it.
        reads: buffers whose bytes it reads, constants included.
        writes: buffers whose bytes it writes; scratch is in both.
        overlaps: which results may lie over which operands, and how.
        driver: the host, where it reads the record by which it drives the device; "" where the
            device reads its commands itself. It is `device` where it also moves the data.
        record: the buffer among `reads` that only the driver reads, if the device moves its data.
        before, after: what cores do to their data caches around it: the host before it runs or
            starts the step, a core around its kernel.
    """

    operator: str
    number: int
    device: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    action: Action
    overlaps: tuple[SafeOverlap, ...] = ()
    record: str = ""
    driver: str = ""
    before: tuple[Maintenance, ...] = ()
    after: tuple[Maintenance, ...] = ()

    @property
    def calls(self) -> tuple[CoreCall, ...]:
        """The kernels that it runs, none on an accelerator."""
        if isinstance(self.action, CallSpread):
            return self.action.parts
        if isinstance(self.action, CoreAction):
            return (CoreCall(self.device, self.action.function, self.action.arguments),)
        return ()

    @property
    def devices(self) -> tuple[str, ...]:
        """All that work on it, at once."""
        if isinstance(self.action, CallSpread):
            return tuple(part.device for part in self.action.parts)
        return (self.device,)

    @property
    def runner(self) -> str:
        """The device that runs it, whoever moves its data."""
        return self.action.device if isinstance(self.action, EngineAction) else self.device

    @property
    def masters(self) -> tuple[str, ...]:
        """All that touch its buffers: its devices, and the host that reads their record."""
        return (*self.devices, *([self.driver] if self.record else ()))

    def accesses_of(self, device: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what one of its masters reads, and what it writes."""
        if self.record:
            own = tuple(name for name in self.reads if name != self.record)
            return (own, self.writes) if device == self.device else ((self.record,), ())
        if not isinstance(self.action, CallSpread):
            return self.reads, self.writes
        names = {
            name for part in self.action.parts if part.device == device for name in part.arguments
        }
        reads, writes = (
            tuple(name for name in touched if name in names)
            for touched in (self.reads, self.writes)
        )
        return reads, writes

    def with_calls(self, calls: tuple[CoreCall, ...]) -> "Step":
        """Return the step with others in the place of its `calls`, as many and where they were."""
        if isinstance(self.action, CallSpread):
            return replace(self, action=CallSpread(calls))
        if isinstance(self.action, CoreAction):
            (call,) = calls
            action = replace(self.action, function=call.function, arguments=call.arguments)
            return replace(self, action=action)
        return self

    def __str__(self) -> str:
        head = f"step {self.number} {self.operator} on {self.device}: {self.action}"
        line = f"{head} reads {bracket(self.reads)} writes {bracket(self.writes)}"
        lists = {"over": self.overlaps, "before": self.before, "after": self.after}
        parts = (f" {word} {bracket(map(str, each))}" for word, each in lists.items() if each)
        driven = f" driven by {self.driver}" if self.driver else ""
        driven += f" with {self.record}" if self.record else ""
        return line + driven + "".join(parts)
