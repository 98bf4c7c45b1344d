# SPDX-License-Identifier: Apache-2.0
"""Software models in the place of accelerators of a chip in RTL, played by this process.

The model's process asks for each access to a register (model/stand_in.cpp), and gets what the
accelerator then reads and writes, which its stand-in does on the bus (atoll_stand_in.sv).
"""

import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from itertools import count
from threading import Thread

from atoll.cost.engines import busy_cycles
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import Compiled, placed_graph
from atoll.ir.tir import EngineAction, Step
from atoll.records import dataclass
from atoll.resolve.memory_views import on_bus
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.chip.plan import beat_bytes, plan_chip
from atoll_sim.engines.calls import model_of, not_played, run_model, teach
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import BusFault, Outcome
from atoll_sim.engines.list_registers import EngineRegisters, list_registers
from atoll_sim.engines.player import Listed, chains_of, list_address, lists_of, play
from atoll_sim.engines.program_registers import Begun, ProgramRegisters
from atoll_sim.engines.script import script_of

ANSWER, PEEK = 0, 1
NEVER = 2**62
LOW, HIGH, WHEN_DONE = 0, 1, 2
DECODE_ERROR = 3

_QUESTION = struct.Struct("<4I Q 4I")
_ANSWER = struct.Struct("<8I")
_PEEK = struct.Struct("<3I")
_ACCESS = struct.Struct("<3I")


@dataclass(slots=True)
class _Moved:
    """Memory as an accelerator reaches it, with what it accesses in order.

    Attributes:
        accesses: write or not, address, size.
        data: what is written.
    """

    stand_ins: "StandIns"
    engine: Engine
    accesses: list[tuple[int, int, int]] = field(default_factory=list)
    data: bytearray = field(default_factory=bytearray)
    written: dict[int, int] = field(default_factory=dict)

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of memory, with what was written since."""
        at = on_bus(self.stand_ins.soc, self.engine.name, address)
        found = bytearray(self.stand_ins.peek(at, size))
        for number in range(size):
            found[number] = self.written.get(at + number, found[number])
        self._note(0, at, size)
        return bytes(found)

    def write(self, address: int, data: bytes) -> None:
        """Keep bytes for the bus."""
        at = on_bus(self.stand_ins.soc, self.engine.name, address)
        self.written.update(enumerate(data, at))
        self._note(1, at, len(data))
        self.data += data

    def _note(self, write: int, address: int, size: int) -> None:
        beat = beat_bytes(self.engine)
        while size:
            part = min(size, beat - address % beat)
            self.accesses.append((write, address, part))
            address, size = address + part, size - part


class StandIns:
    """Plays some accelerators while a model of the chip runs; use as a context manager.

    Attributes:
        soc: the chip.
        error: what went wrong in an accelerator's own code.
    """

    def __init__(
        self,
        soc: ResolvedSoc,
        models: Sequence[Compiled],
        names: frozenset[str],
        *,
        absent: bool = False,
    ) -> None:
        """Prepare.

        Args:
            soc: the chip.
            models: the networks that run in turn.
            names: the accelerators.
            absent: whoever uses one of them gets E179.
        """
        self._absent = absent
        self.soc = soc
        self.error: AtollError | None = None
        self._models = models
        self._lists, self._joined = lists_of(models), chains_of(models)
        engines = [engine for engine in soc.engines if engine.name in names]
        numbers = {master.name: master.index for master in plan_chip(soc).masters}
        self._engines = {numbers[engine.name]: engine for engine in engines}
        self._registers: Mapping[str, EngineRegisters | ProgramRegisters] = {
            engine.name: ProgramRegisters(engine, partial(self._turn, engine))
            if engine.spec.program
            else list_registers(engine, self._run_list)
            for engine in engines
        }
        self._own = {engine.name: model_of(engine) for engine in engines if engine.spec.model}
        for compiled in models:
            teach(self._own, compiled)
        self._next = {engine.name: self._steps(engine) for engine in engines}
        self._started: tuple[_Moved, int] | None = None
        self._ours, self.theirs = socket.socketpair()
        self._thread = Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "StandIns":
        """Begin to answer."""
        self._thread.start()
        return self

    def __exit__(self, *fault: object) -> None:
        """End; the model's process has ended."""
        self.theirs.close()
        self._thread.join()
        self._ours.close()

    def peek(self, address: int, size: int) -> bytes:
        """Return bytes of the chip's memory.

        Raises:
            BusFault: they are not all in one memory.
        """
        self._ours.sendall(_PEEK.pack(PEEK, address, size))
        found = self._take(size + 1)
        if not found[0]:
            raise BusFault(address, decode=True)
        return found[1:]

    def _serve(self) -> None:
        while question := self._take(_QUESTION.size):
            try:
                self._answer(*_QUESTION.unpack(question)[:-1])
            except AtollError as error:
                self.error = self.error or error
                return
            except OSError:
                return

    def _take(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self._ours.recv(size - len(data))
            if not part:
                return b""
            data += part
        return data

    def _answer(
        self,
        master: int,
        write: int,
        offset: int,
        value: int,
        now: int,
        done: int,
        resp: int,
        address: int,
    ) -> None:
        engine = self._engines[master]
        registers = self._registers[engine.name]
        if done:
            decode = (ErrorCode.READ_DECODE, ErrorCode.READ_SLAVE)[resp != DECODE_ERROR]
            registers.finish(now, decode if resp else 0, address)
        self._started = None
        failed = 0
        try:
            if write:
                registers.write(offset, value, self.soc.host, now)
            else:
                value = registers.read(offset, self.soc.host, now)
        except BusFault:
            failed = 1
        raised = registers.interrupt_time()
        irq = LOW if raised is None else HIGH if raised <= now else WHEN_DONE
        moved, cycles = self._started or (None, 0)
        accesses: tuple[tuple[int, int, int], ...] = tuple(moved.accesses) if moved else ()
        data = bytes(moved.data) if moved else b""
        head = (value, failed, irq, int(moved is not None), len(accesses), len(data), cycles)
        packed = b"".join(_ACCESS.pack(*access) for access in accesses)
        self._ours.sendall(_ANSWER.pack(ANSWER, *head) + packed + data)

    def _run_list(self, engine: Engine, now: int, address: int, count: int) -> tuple[Outcome, int]:
        if self._absent:
            raise not_played(engine)
        moved = _Moved(self, engine)
        found = self._lists.get((engine.name, address))
        if model := self._own.get(engine.name):
            outcome = run_model(model, moved, address, count)
        elif found:
            outcome = play(moved, *found, engine)
        else:
            return Outcome(ErrorCode.BAD_OPCODE, address, 0), 1
        cycles = 1
        if found:
            compiled, step = found
            lists = self._joined.get((engine.name, address), (Listed(step, address, count),))
            cycles = sum(self._cycles(compiled, each, engine) for each in lists)
        self._started = moved, cycles
        return outcome, NEVER

    def _cycles(self, compiled: Compiled, each: Listed, engine: Engine) -> int:
        op = compiled.graph.operators[each.step.number]
        return busy_cycles(op, placed_graph(compiled), engine, self.soc, each.count)

    def _steps(self, engine: Engine) -> Iterator[tuple[Compiled, Step]]:
        """Yield what an accelerator with a program runs, run after run."""
        for turn in count():
            compiled = self._models[turn % len(self._models)]
            for step in compiled.module.entry.steps:
                if isinstance(step.action, EngineAction) and step.action.device == engine.name:
                    yield compiled, step

    def _turn(self, engine: Engine) -> Sequence[Begun]:
        """Return the operator that the host turns to next."""
        if self._absent:
            raise not_played(engine)
        return (self._begin(engine, *next(self._next[engine.name])),)

    def _begin(self, engine: Engine, compiled: Compiled, step: Step) -> Begun:
        assert isinstance(step.action, EngineAction)
        address = list_address(compiled, step)
        record = self.peek(address, len(compiled.commands[step.action.commands]))

        def run(now: int) -> tuple[Mapping[int, bytes], int]:
            if not engine.spec.fed:
                return {}, self._run_list(engine, now, address, 1)[1]
            kept = _Results(self)
            play(kept, compiled, step, engine)
            op = compiled.graph.operators[step.number]
            return kept.written, busy_cycles(op, compiled.graph, engine, self.soc)

        return Begun(script=script_of(engine, record), run=run, read=self.peek)


@dataclass(slots=True)
class _Results:
    """Memory that is read as it is, and results that the host takes."""

    stand_ins: StandIns
    written: dict[int, bytes] = field(default_factory=dict)

    def read(self, address: int, size: int) -> bytes:
        """Return bytes of memory."""
        return self.stand_ins.peek(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Keep a result."""
        self.written[address] = data
