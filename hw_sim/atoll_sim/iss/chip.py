# SPDX-License-Identifier: Apache-2.0
"""The chip around the cores of an instruction-set simulation, and whose turn it is."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from atoll.driver.pipeline import Compiled
from atoll.ir.tir import Step
from atoll.protocol import ConsoleRegister, Trace, TraceEvent
from atoll.resolve.mailbox import LINE
from atoll.resolve.memory_views import core_as_it_sees, device_address, on_bus
from atoll.resolve.register_steps import Interrupt
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll_sim.chip.plan import interrupts_of, plan_chip
from atoll_sim.engines.calls import not_played
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Device, Outcome
from atoll_sim.engines.list_registers import EngineRegisters, list_registers
from atoll_sim.engines.player import chains_of
from atoll_sim.engines.program_registers import Begun, ProgramRegisters
from atoll_sim.host.watch import BUS_ERRORS
from atoll_sim.iss.core import IssCore
from atoll_sim.iss.devices import Console, Guard, Mailbox, Watched
from atoll_sim.iss.engines import Engines
from atoll_sim.iss.native import IssModel
from atoll_sim.iss.npu_cache import NpuCache
from atoll_sim.iss.programs import begin_operator, programs_of, run_by_program
from atoll_sim.iss.tally import Tally
from atoll_sim.protocol.records import AccessKind, EventKind
from atoll_sim.simulate.firmware import Text
from atoll_sim.simulate.serve import Bench
from atoll_sim.trace.simulation import Stop

TURN = 10_000
"""Cycles that one core may be ahead of another."""

CLOSE_TURN = 256
"""Likewise where cores look into one memory for what the other one wrote."""

PACE = 20_000_000
"""Cycles after which a core that nothing stops lets others see how far it is."""

MOST_TURNS = 200_000
"""Turns without an event, of less than a cycle each, after which nothing more is expected: so are
those of a core that traps for ever."""

EVENTS = {
    ConsoleRegister.UART_TX: EventKind.UART,
    ConsoleRegister.EXIT: EventKind.EXIT,
    ConsoleRegister.TRACE: EventKind.TRACE,
    ConsoleRegister.RESULT: EventKind.RESULT,
}
KEPT_BACK = (ErrorCode.READ_DECODE, ErrorCode.WRITE_DECODE)


class IssChip:
    """Cores, their devices, and one time.

    Attributes:
        instructions: that all cores had run at each TRACE event, and at the end.
        npu_caches: see `around.Around`.
    """

    def __init__(
        self,
        soc: ResolvedSoc,
        model: IssModel,
        bench: Bench,
        engines: Engines,
        code: Mapping[str, Sequence[Text]],
        tally: Tally | None = None,
    ) -> None:
        """Set the chip up as it is when reset is released.

        Args:
            soc: its description; what the cores reach is as it says.
            model: memories and log.
            bench: what the console is connected to.
            engines: whoever plays them.
            code: where instructions lie, by core; cores without any are left out.
            tally: counts what operators run.
        """
        self._soc = soc
        self._model = model
        self._bench = bench
        self._played = engines
        self._joined = chains_of(engines.models)
        self._code = code
        self._tally = tally
        self._masters = {master.name: master for master in plan_chip(soc).masters}
        self.instructions: list[int] = []
        self._interrupts = tuple(interrupts_of(soc))
        self._high: dict[int, tuple[int, int]] = {}
        self._stop: Stop | None = None
        self._turn = CLOSE_TURN if any(cpu.shared_mailbox for cpu in soc.cpus) else TURN
        self._cores: dict[str, IssCore] = {}
        self._before_reset = 0
        self._guard = Guard(len(soc.devices))
        self.npu_caches: Mapping[str, NpuCache] = {
            npu.name: NpuCache(npu, model) for npu in soc.cached_npus
        }
        engines.accelerators.see_through(self.npu_caches)
        self._reset()

    def run(self, max_cycles: int, stall_cycles: int, pace: Callable[[], None]) -> Stop:
        """Run until the firmware ends, or one of the limits is reached."""
        stop = self._run(max_cycles, stall_cycles, pace)
        self.instructions.append(self._count())
        end = max((core.time for core in self._cores.values()), default=0)
        self._model.at(end)
        rises = ((at, number, 1) for number, (_, at) in self._high.items() if at <= end)
        self._model.line_changes += rises
        return stop

    def _run(self, max_cycles: int, stall_cycles: int, pace: Callable[[], None]) -> Stop:
        heard, since, told, turns = 0, 0, 0, 0
        while self._stop is None:
            due = self._due()
            if (restart := self.restarts()) is not None and (not due or due[0][0] >= restart):
                self._guard.restart()
                self._model.restart()
                self._reset(at=max(restart, *(each.time for each in self._cores.values())))
                self._look(restart)
                continue
            if not due:
                return Stop.STALL
            core = due[0][2]
            now = core.time
            if now >= max_cycles:
                return Stop.LIMIT
            events = len(self._bench.events)
            if events > heard:
                heard, since, turns = events, now, 0
            elif now - since >= stall_cycles or MOST_TURNS <= turns > now - since:
                return Stop.STALL
            if now - told >= PACE:
                told = now
                pace()
            turns += 1
            others = (at + self._turn for at, _, _ in due[1:])
            limits = (max_cycles, since + stall_cycles, now + PACE, *others)
            core.run(max(now + 1, min(limits)))
        return self._stop

    def _count(self) -> int:
        return self._before_reset + sum(c.instructions for c in self._cores.values())

    def note_failure(self, core: Cpu, address: int, *, writes: bool, bus: bool) -> None:
        """See `around.Around`."""
        self._guard.record(core.ordinal, address, writes=writes, bus=bus)
        self._look(self._model.cycle())

    def _look(self, now: int) -> None:
        """Log lines that have fallen, and remember which have risen, or will."""
        cores = {each.core for each in self._interrupts}
        lines = {cpu.name: self._lines(cpu) for cpu in self._soc.cpus if cpu.name in cores}
        for number, each in enumerate(self._interrupts):
            at = lines[each.core].get(each.line)
            told, rise = self._high.get(number, (None, 0))
            if at != told:
                if told is not None and rise <= now:
                    self._model.line_changes += [(rise, number, 1), (now, number, 0)]
                self._high.pop(number, None)
                self._high |= {} if at is None else {number: (at, max(at, now))}

    def _reset(self, at: int = 0) -> None:
        soc, self._before_reset = self._soc, self._count()
        for cache in self.npu_caches.values():
            cache.begin()
        self._signalled: dict[Interrupt, int] = {}
        self._mailboxes = {
            cpu.name: Mailbox(
                soc.host, partial(self.release, cpu) if cpu.is_held else None, self._hear
            )
            for cpu in soc.cpus
            if cpu.mailbox
        }
        self._programs = {e.name: self._program(e) for e in soc.engines if e.spec.program}
        lists = {
            each.name: list_registers(each, self._run_list)
            for each in soc.engines
            if each.name not in self._programs
        }
        self._engines: Mapping[str, EngineRegisters | ProgramRegisters] = {
            **lists,
            **self._programs,
        }
        self._cores = {
            cpu.name: self._make_core(cpu, at)
            for cpu in soc.cpus
            if cpu.name in self._code and cpu.begins
        }

    def release(self, cpu: Cpu, at: int) -> None:
        """Let a core run; the host waits for its turn."""
        if cpu.name in self._code and cpu.name not in self._cores:
            self._cores[cpu.name] = self._make_core(cpu, at)
            self._cores[self._soc.host].pause()

    def set_line(self, core: Cpu, line: Interrupt, at: int, *, high: bool) -> None:
        """See `around.Around`; a core that raises one waits for its turn."""
        if high:
            self._signalled.setdefault(line, at)
            self._cores[core.name].pause()
        else:
            self._signalled.pop(line, None)
        self._look(at)

    def send_event(self, at: int) -> None:
        """See `around.Around`."""
        for core in self._cores.values():
            core.hear(at)

    def _make_core(self, cpu: Cpu, at: int) -> IssCore:
        core = IssCore(
            core_as_it_sees(self._soc, cpu),
            self._masters[cpu.name],
            self._model,
            self,
            self._blocks(cpu),
            lambda: self._lines(cpu),
            self._code[cpu.name],
        )
        core.begin(at)
        if cpu.cache and cpu.name == self._soc.host:
            self._model.caller = core.state
        return core

    def _blocks(self, cpu: Cpu) -> list[tuple[range, Device]]:
        devices: dict[str, Device] = {
            "reg_console": Console(self._request, self._on_write),
            "reg_guard": self._guard,
            **{f"reg_{name}": engine for name, engine in self._engines.items()},
        }
        for name, mailbox in self._mailboxes.items():
            devices |= {f"reg_{name}": mailbox, f"box_{name}": mailbox}
        return [
            (range(seen, seen + len(target.span)), Watched(devices[target.signal], self._look))
            for target in self._masters[cpu.name].targets
            if target.signal in devices
            for seen in (device_address(self._soc, cpu.name, target.span.start),)
        ]

    def _lines(self, cpu: Cpu) -> Mapping[int, int]:
        """Return the lines at a core that are or will be high, and from when on."""
        if cpu.name != self._soc.host:
            box = self._mailboxes.get(cpu.name)
            if cpu.signals and (mine := cpu.signals.core) in self._signalled:
                return {mine.line: self._signalled[mine]}
            return {} if box is None or box.rung is None else {LINE: box.rung}
        irqs = self._soc.irqs
        engines = self._engines.items()
        raised = {irqs[name]: engine.interrupt_time() for name, engine in engines if name in irqs}
        raised |= {irqs[name]: box.answered for name, box in self._mailboxes.items()}
        raised |= {
            line.line: at for line, at in self._signalled.items() if line.core == self._soc.host
        }
        if self._guard.raised:
            raised[cpu.spec.bus_error_line] = 0
        return {line: at for line, at in raised.items() if at is not None}

    def _due(self) -> list[tuple[int, int, IssCore]]:
        """Return when each core goes on, its ordinal and itself, the furthest behind first."""
        due = []
        for core in self._cores.values():
            at = core.wakes() if core.asleep else core.time
            if at is not None and not core.halted:
                due.append((at, core.cpu.ordinal, core))
        return sorted(due)

    def _request(self) -> int:
        return int(self._model.request)

    def _on_write(self, register: ConsoleRegister, value: int) -> None:
        kind = EVENTS[register]
        if kind is EventKind.TRACE:
            self._trace(value)
            self._turn_to(Trace.of(value))
        else:
            self._model.log_event(kind, value & 0xFF if kind is EventKind.UART else value)
        if kind is EventKind.TRACE and Trace.of(value).event == TraceEvent.RUN_BEGIN:
            self._model.litter(self._bench.work.turn(self._bench.asked - 1))
        if kind is not EventKind.UART:
            ended = Trace.of(value).event == TraceEvent.RUN_END
            self._model.reads_as_caller = kind is EventKind.TRACE and ended
            self.serve()
            self._model.reads_as_caller = False

    def _trace(self, word: int) -> None:
        self._model.log_event(EventKind.TRACE, word)
        self.instructions.append(self._count())
        if self._tally:
            self._tally.note(Trace.of(word), self._bench.asked - 1, self._cores, self._model)

    def _hear(self, core: str, ends: bool) -> None:
        """Tell the tally that a core takes a step from its mailbox, or has ended it."""
        if self._tally:
            self._tally.hear(core, ends=ends)

    def restarts(self) -> int | None:
        """See `around.Around`."""
        return self._guard.restarts

    def serve(self) -> None:
        """See `around.Around`."""
        self._stop = self._bench.serve()
        if self._stop is not None:
            for core in self._cores.values():
                core.stop()

    def _turn_to(self, trace: Trace) -> None:
        """Tell an accelerator with a program which operator the host turns to."""
        models = self._played.models
        if trace.event == TraceEvent.OPERATOR_BEGIN and self._bench.asked and self._programs:
            compiled = models[(self._bench.asked - 1) % len(models)]
            if found := run_by_program(compiled, trace.operator):
                self._programs[found[0].name].begin(self._begin(*found, compiled))

    def _program(self, engine: Engine) -> ProgramRegisters:
        """Return the registers of an accelerator with a program.

        A linked image that asks for no samples need not tell which operator it turns to.
        """
        if self._bench.work.samples:
            return ProgramRegisters(engine)
        return ProgramRegisters(engine, partial(self._turns, engine))

    def _turns(self, engine: Engine) -> Sequence[Begun]:
        """Return what the host may turn an accelerator to."""
        if not self._played.models:
            raise not_played(engine)
        found = programs_of(self._played.models, engine)
        return [self._begin(engine, step, compiled) for compiled, step in found]

    def _begin(self, engine: Engine, step: Step, compiled: Compiled) -> Begun:
        found, peek = (engine, step), self._model.peek
        return begin_operator(found, compiled, self._played, peek, self._run_list)

    def _run_list(self, engine: Engine, now: int, address: int, count: int) -> tuple[Outcome, int]:
        """Run a list, and those that the engine goes on with; return how they ended, and when."""
        lists = self._joined.get((engine.name, address), ())
        if not lists or count != lists[0].count + 1:
            return self._run_one(engine, now, address, count)
        cycles = completed = 0
        for place, each in enumerate(lists):
            if place:
                self._model.at(now + cycles)
                self._goes_on(engine, lists[place - 1].step, each.step)
                completed += 1
            outcome, taken = self._run_one(engine, now + cycles, each.address, each.count)
            cycles, completed = cycles + taken, completed + outcome.completed
            if outcome.error:
                break
        self._model.at(now)
        return replace(outcome, completed=completed), cycles

    def _goes_on(self, engine: Engine, before: Step, step: Step) -> None:
        """Log that an engine has begun an operator by itself."""
        for event, number in (
            (TraceEvent.OPERATOR_END, before.number),
            (TraceEvent.OPERATOR_BEGIN, step.number),
        ):
            self._trace(Trace(event, number, engine.ordinal).word())
        self.serve()

    def _run_one(self, engine: Engine, now: int, address: int, count: int) -> tuple[Outcome, int]:
        accelerators = self._played.accelerators
        self._model.engine_begins()
        outcome = accelerators.run(engine, address, count)
        cycles = self._played.cycles_of(engine, address)
        self._model.at(now + cycles)
        master = self._masters[engine.name].index
        for each in accelerators.recent():
            if each.kind is AccessKind.WRITE:
                self._model.engine_wrote(each.span)
            self._model.log_engine(master, each)
        accelerators.take_touched()
        if (kind := BUS_ERRORS.get(outcome.error)) is not None:
            writes, bus = kind is AccessKind.WRITE, outcome.error not in KEPT_BACK
            byte = on_bus(self._soc, engine.name, outcome.fault_address)
            if not bus:
                self._model.log_refusal(master, kind.number, byte)
            self._guard.record(engine.ordinal, byte, writes=writes, bus=bus)
        self._model.at(now)
        return outcome, cycles
