# SPDX-License-Identifier: Apache-2.0
"""The accelerators of a chip in RTL, for a host that is not: `--cpu native`."""

import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from atoll.bsp.headers import driver_timeout
from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import EngineAction, Step
from atoll.lower.records import record_layout
from atoll.resolve.soc import Access, Engine, ResolvedSoc
from atoll.utils.children import start, too_long
from atoll_sim.build.verilate import kept_warnings, notes_of
from atoll_sim.chip.chip_parts import PICOSECONDS
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.plan import beat_bytes, merge_spans, plan_chip
from atoll_sim.chip.sources import read_folders
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.player import lists_of
from atoll_sim.host.external import SOCKET, End, Job, Report
from atoll_sim.host.memory import Accessed, Bytes
from atoll_sim.host.rtl_jobs import (
    Around,
    abort_job,
    list_job,
    list_outcome,
    polled_job,
    popped_bytes,
    probe_job,
    program_job,
    program_outcome,
    pushed_bytes,
)
from atoll_sim.model.process import (
    LOG,
    MAX_SECONDS,
    bench_environment,
    reading_from,
    said_notes,
    unfinished_error,
)
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.device_rows import known_registers
from atoll_sim.shadow.rules import RULES
from atoll_sim.shadow.table import ports_table
from atoll_sim.trace.findings import name_findings
from atoll_sim.trace.run_files import SHADOW
from atoll_sim.trace.simulation import USUAL, Conditions, Finding, Touched
from atoll_sim.trace.timeline import occasions_of, touches_by_phase


def record_bytes(npu: Engine) -> int:
    """Return the bytes of a record of an engine that runs one kind of operator."""
    assert npu.spec.program
    (kind,) = npu.spec.program.runs
    return record_layout(kind, npu).size


BENCH = "atoll_sim.host.bench"
NEVER_DONE = next(rule.name for rule in RULES if rule.symbol == "NO_END")
NO_LIST = -1
"""In place of the address of commands, where there are none."""

SHARES = 256
"""The model counts shares of cycles in these parts."""


class Memory(Protocol):
    """The host's copy of the chip's memories."""

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes, which lie in one memory."""
        ...

    def write(self, address: int, data: bytes) -> None:
        """Store `data` in one memory."""
        ...


class RtlAccelerators:
    """Runs command lists on the RTL; use as a context manager.

    Before each list the model's memories get the host's bytes that the accelerator can read, and
    afterwards the host gets those that it can write.
    """

    def __init__(
        self,
        soc: ResolvedSoc,
        memory: Memory,
        executable: Path,
        folder: Path,
        models: Sequence[Compiled] = (),
        *,
        watched: bool = False,
        conditions: Conditions = USUAL,
    ) -> None:
        """Prepare a run.

        Args:
            soc: the chip.
            memory: what the host sees.
            executable: of `build_model` with ``external_host=True``.
            folder: for the log; made if missing.
            models: the networks, whose records accelerators with programs need.
            watched: hold the accelerators to the rules of their ports; see `findings`.
            conditions: under which they run.
        """
        self._soc = soc
        self._memory = memory
        self._executable = executable
        self._folder = folder
        self._masters = tuple(m.name for m in plan_chip(soc, external_host=True).masters)
        self._ends = ExitStack()
        self._phases_taken = 0
        self._reports: list[Report] = []
        self._findings: list[Finding] = []
        self._moved: list[Accessed] = []
        self._table = ports_table(soc) if watched else None
        held = round(conditions.hold * SHARES)
        self._options = ("--seed", str(conditions.seed), "--hold", str(held))
        self._lists = lists_of(models)
        self._numbers = {id(each): number for number, each in enumerate(models)}
        self._known = 0
        self._occasions: Mapping[tuple[str, int], int] = {}
        self._broken_off = False
        self._driven: set[str] = set()
        self._records = {
            key: len(compiled.commands[step.action.commands])
            for key, (compiled, step) in self._lists.items()
            if isinstance(step.action, EngineAction)
        }

    def __enter__(self) -> Self:
        """Start the model."""
        self._folder.mkdir(parents=True, exist_ok=True)
        mapped = write_map(self._soc, self._folder)
        self._command = (str(self._executable.absolute()), *mapped, *self._options)
        if self._table:
            (self._folder / SHADOW).write_bytes(self._table.words)
            self._command += ("--shadow", SHADOW)
        ours, theirs = socket.socketpair()
        with theirs, (self._folder / LOG).open("w") as log:
            self._child = self._ends.enter_context(
                start(
                    self._command,
                    folder=self._folder,
                    environment={
                        **bench_environment(BENCH),
                        **reading_from(read_folders(self._soc)),
                        SOCKET: str(theirs.fileno()),
                    },
                    seconds=MAX_SECONDS,
                    stdout=log,
                    stderr=log,
                    files=[theirs.fileno()],
                )
            )
        self._connection = Connection(ours.detach())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the model."""
        with self._ends:
            with suppress(OSError):
                self._connection.send(None)
            if kind is None and not self._broken_off:
                end: End = self._receive()
                self._note(end.findings, None)
                self._occasions = occasions_of(end.occasions, self._masters)
                self._child.wait()
            self._connection.close()

    @property
    def notes(self) -> tuple[str, ...]:
        """What Verilator warned of in their RTL, and what that printed."""
        warned = notes_of(self._soc, kept_warnings(self._executable))
        return (*warned, *said_notes(self._folder))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What broke a rule of ports: complete when the model has ended."""
        return tuple(self._findings)

    @property
    def occasions(self) -> Mapping[tuple[str, int], int]:
        """How often each rule of ports could have been broken, when the model has ended.

        By the accelerator's name and the rule's number.
        """
        return self._occasions

    def _note(self, records: bytes, at: tuple[Compiled, Step] | None) -> None:
        """Keep the findings that are new, of an operator if one is known."""
        if not self._table:
            return
        every = name_findings(records, self._table, self._soc)
        for finding in every[self._known :]:
            if at:
                compiled, step = at
                operator = compiled.graph.operators[step.number].name
                finding = Finding(
                    model=self._numbers[id(compiled)],
                    violation=replace(finding.violation, operator=operator),
                )
            self._findings.append(finding)
        self._known = len(every)

    @property
    def cycles(self) -> tuple[int, ...]:
        """Cycles that each list took so far, from its start to its end."""
        return tuple(report.cycles for report in self._reports)

    def fail(self, npu: Engine, address: int, count: int) -> Outcome:
        """Do what `run` does, and keep nothing that memory or the host get of it."""
        job = replace(self._job(npu, address, count), after=())
        report = self._run_job(npu, address, job)
        self.take_touched()
        return list_outcome(report) if npu.spec.program is None else program_outcome(npu, report)

    def abort(self, npu: Engine, address: int, count: int, delay: int) -> None:
        """Begin what `run` does, abort it, and wait for its end; `delay` is as in `abort_job`.

        What comes of it is kept nowhere. That it did not end before is no finding.

        Raises:
            SimulationError: it never ends.
        """
        record = self._record(npu, address) if npu.spec.program else b""
        whole = replace(self._job(npu, address, count), after=())
        known = len(self._findings)
        self._run_job(npu, address, abort_job(npu, record, whole, delay))
        self._findings[known:] = [
            each for each in self._findings[known:] if each.violation.rule != NEVER_DONE
        ]
        self.take_touched()

    def reset(self, npu: Engine, address: int, count: int, delay: int) -> None:
        """Begin what `run` does, and reset the chip after `delay` cycles, whatever it does then.

        What comes of it is kept nowhere. As the first time, the next run begins with a look at the
        registers of which it is known what they read after reset.
        """
        whole = replace(self._job(npu, address, count), after=(), finish=(), irq=None, read=())
        self._run_job(npu, address, replace(whole, reset=delay))
        self._driven.clear()
        self.take_touched()

    def poll(self, npu: Engine, address: int, count: int) -> None:
        """Run a command list with its interrupt off, and keep nothing that comes of it.

        Raises:
            SimulationError: it never ends.
        """
        whole = replace(self._job(npu, address, count), after=())
        self._run_job(npu, address, polled_job(npu, whole))
        self.take_touched()

    def probe(self, npu: Engine) -> None:
        """Try what no register allows, and read those of which it is known what they hold."""
        self._run_job(npu, NO_LIST, probe_job(npu, self._around(npu)))
        self.take_touched()

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """Run a command list, or an operator by its record, to its end or its first error.

        Raises:
            SimulationError: the accelerator never ends, or the simulator breaks off.
        """
        if npu.spec.program is None:
            return list_outcome(self._run_job(npu, address, self._job(npu, address, count)))
        outcome, results = self._program(npu, address)
        for at, data in results.items():
            self._memory.write(at, data)
            self._moved.append(
                Accessed(self._soc.host, AccessKind.WRITE, range(at, at + len(data)))
            )
        return outcome

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """Return what an operator makes whose data the host moves; see `native.Accelerators`."""
        results = self._program(npu, address)[1]
        self.take_touched()
        return results

    def _program(self, npu: Engine, address: int) -> tuple[Outcome, Mapping[int, bytes]]:
        record, job = self._record(npu, address), self._job(npu, address, 1)
        for span in pushed_bytes(npu, record):
            self._moved.append(Accessed(self._soc.host, AccessKind.READ, span))
        report = self._run_job(npu, address, job)
        return program_outcome(npu, report), popped_bytes(npu, record, report.taken)

    def _record(self, npu: Engine, address: int) -> bytes:
        size = self._records.get((npu.name, address)) or record_bytes(npu)
        return self._memory.read(address, size)

    def _job(self, npu: Engine, address: int, count: int) -> Job:
        if npu.spec.program is None:
            return list_job(npu, address, count, self._around(npu))
        record = self._record(npu, address)
        return program_job(npu, record, self._memory.read, self._around(npu))

    def _run_job(self, npu: Engine, address: int, job: Job) -> Report:
        """Have the model do a job; its memory is the host's then."""
        with suppress(OSError):
            self._connection.send(job)
        report: Report = self._receive()
        self._note(report.findings, self._lists.get((npu.name, address)))
        if not report.ended:
            raise SimulationError(
                "E088",
                f"device '{npu.name}' did not end its commands at {address:#010x} within"
                f" {job.max_cycles:,} cycles (A9){_waits(npu, report)}",
                at=npu.spec.places.get("rtl.module") or npu.at,
                remedy="run the same network with '--accelerator model' to check the commands",
            )
        for at, data in report.memory.items():
            self._memory.write(at, data)
        self._reports.append(report)
        return report

    def _receive(self) -> Any:
        """Return what the model sends.

        Raises:
            SimulationError: it has broken off.
        """
        try:
            return self._connection.recv()
        except (EOFError, OSError) as fault:
            self._broken_off = True
            status = self._child.wait()
            if self._child.over:
                raise too_long(self._command, MAX_SECONDS, self._folder) from fault
            raise unfinished_error(self._folder, status, self._soc) from fault

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """See `Accelerators`; RTL has none (E259)."""

    def recent(self) -> tuple[Accessed, ...]:
        """Return what the last list read, then what it wrote: its log has no order."""
        beats = {npu.name: beat_bytes(npu) for npu in self._soc.engines}
        touched = sorted(self._last_touched(), key=lambda touch: touch.kind is AccessKind.WRITE)
        return (
            *self._moved,
            *(
                Accessed(touch.master, touch.kind, span, beats[touch.master])
                for touch in touched
                if touch.master in beats
                for span in touch.spans
            ),
        )

    def take_touched(self) -> tuple[Touched, ...]:
        """Return what the accelerators touched since the last call."""
        touched = self._last_touched()
        self._phases_taken, self._moved = len(self._reports), []
        return touched

    def _last_touched(self) -> tuple[Touched, ...]:
        if not self._reports:
            return ()
        last, first = self._reports[-1], self._phases_taken
        by_phase = touches_by_phase(last.counts, last.spans, self._masters)
        fresh = sorted(phase for phase in by_phase if phase >= first)
        return tuple(touched for phase in fresh for touched in by_phase[phase])

    def _around(self, npu: Engine) -> Around:
        before = {
            span.start: self._memory.read(span.start, len(span))
            for span in self._spans(npu, (Access.READ, Access.WRITE))
        }
        after = tuple((s.start, len(s)) for s in self._spans(npu, (Access.WRITE,)))
        look = () if npu.name in self._driven or not self._table else known_registers(npu)
        self._driven.add(npu.name)
        return Around(
            look=look,
            before=before,
            after=after,
            patience=driver_timeout(self._soc),
            cycle_time=PICOSECONDS // self._soc.host_cpu.clock,
        )

    def _spans(self, npu: Engine, allowed: Sequence[Access]) -> tuple[range, ...]:
        """Return what the accelerator reaches; no span crosses from one memory to the next."""
        merged = merge_spans(
            range(window.origin, window.origin + window.size)
            for window, access in self._soc.windows(npu)
            if access in allowed
        )
        cut = (
            range(max(span.start, memory.origin), min(span.stop, memory.end))
            for span in merged
            for memory in self._soc.memories
        )
        return tuple(span for span in cut if span)


def _waits(npu: Engine, report: Report) -> str:
    """Return which register it was that never became as it should, and what it held."""
    if report.awaited is None:
        return ": its interrupt did not come"
    do, found = report.awaited
    offset = do.address - npu.registers.origin
    names = {place: name for name, place in npu.spec.registers.items()}
    name = names.get(offset, f"{offset:#x}")
    return f": {name} & {do.mask:#x} is to be {do.equals:#x}, and {name} is {found:#x}"
