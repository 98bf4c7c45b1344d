# SPDX-License-Identifier: Apache-2.0
"""Serve the firmware's protocol (docs/platform.md) and record what it does."""

from collections.abc import Sequence
from typing import Protocol

from atoll.protocol import Request, Trace, TraceEvent
from atoll_sim.model.monitors import Event
from atoll_sim.protocol.records import EventKind
from atoll_sim.trace.run_files import Capture, Record, Work
from atoll_sim.trace.simulation import Buffer, Stop
from atoll_sim.trace.so_far import SoFar


class Judge(Protocol):
    """Who held accesses against the contract."""

    def findings(self) -> tuple[bytes, int]:
        """Return a `FINDING` for the first of each kind, and how many accesses were wrong."""
        ...


class Served(Protocol):
    """A chip that runs firmware; `atoll_sim.model.monitors.Model` says what each member is."""

    @property
    def shadow(self) -> Judge: ...  # noqa: D102

    def cycle(self) -> int: ...  # noqa: D102

    def peek(self, address: int, size: int) -> bytes: ...  # noqa: D102

    def poke(self, address: int, data: bytes) -> None: ...  # noqa: D102

    def set_request(self, value: Request) -> None: ...  # noqa: D102

    def events(self, since: int) -> Sequence[Event]: ...  # noqa: D102

    def close_phase(self) -> None: ...  # noqa: D102

    def end_devices(self) -> None: ...  # noqa: D102

    def counts(self) -> bytes: ...  # noqa: D102

    def spans(self) -> bytes: ...  # noqa: D102

    def lines(self) -> bytes | None: ...  # noqa: D102

    def occasions(self) -> bytes: ...  # noqa: D102

    def heat(self) -> bytes: ...  # noqa: D102

    def text(self) -> str: ...  # noqa: D102


class Bench:
    """The other side of the firmware: samples in, results out."""

    def __init__(self, model: Served, work: Work) -> None:
        self.model = model
        self.work = work
        self.asked = 0
        self.so_far = SoFar(networks=len(work.turns))
        self.captures: list[Capture] = []
        self.events: list[Event] = []

    def serve(self) -> Stop | None:
        """Answer the events since the last call; return why to stop, if so."""
        fresh = self.model.events(len(self.events))
        self.events += fresh
        for event in fresh:
            if event.kind is EventKind.EXIT:
                return Stop.EXIT
            if event.kind is EventKind.TRAP:
                return Stop.TRAP
            if event.kind is EventKind.RESTS:
                return Stop.STALL
            if event.kind is EventKind.TRACE:
                self._trace(Trace.of(event.value), event.cycle)
        return None

    def _trace(self, trace: Trace, cycle: int) -> None:
        if trace.event == TraceEvent.READY:
            self._next_sample()
        elif trace.event == TraceEvent.RUN_BEGIN:
            self.model.set_request(Request.NONE)
            self.so_far.begin_run(cycle)
        elif trace.event == TraceEvent.OPERATOR_END:
            self.so_far.end_operator(trace.operator, cycle)
            snapshots = self.work.turn(self.asked - 1).snapshots
            self.capture(self.asked - 1, trace.operator, snapshots.get(trace.operator, ()))
        elif trace.event == TraceEvent.RUN_END:
            self.so_far.end_run(cycle)
            self.capture(self.asked - 1, -1, self.work.turn(self.asked - 1).outputs)

    def _next_sample(self) -> None:
        if self.asked == len(self.work.samples):
            self.model.set_request(Request.LEAVE)
            return
        data = self.work.samples[self.asked]
        for buffer in self.work.turn(self.asked).inputs:
            self.model.poke(buffer.address, data[: buffer.size])
            data = data[buffer.size :]
        self.asked += 1
        self.model.set_request(Request.RUN)

    def capture(self, run: int, operator: int, buffers: tuple[Buffer, ...]) -> None:
        """Read and keep the bytes of `buffers`."""
        self.captures += [
            Capture(run, operator, buffer.name, self.model.peek(buffer.address, buffer.size))
            for buffer in buffers
        ]

    def record(self, stop: Stop, wall_seconds: float) -> Record:
        """Collect all that was seen."""
        self.model.close_phase()
        if not self.events or self.events[-1].kind not in (EventKind.TRAP, EventKind.RESTS):
            self.model.end_devices()
        self.capture(-1, -1, self.work.stacks)
        findings, findings_total = self.model.shadow.findings()
        return Record(
            stop=stop,
            events=self.events,
            captures=self.captures,
            counts=self.model.counts(),
            spans=self.model.spans(),
            lines=self.model.lines(),
            occasions=self.model.occasions(),
            heat=self.model.heat(),
            findings=findings,
            findings_total=findings_total,
            text=self.model.text(),
            cycles=self.model.cycle(),
            wall_seconds=wall_seconds,
        )
