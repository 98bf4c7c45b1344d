# SPDX-License-Identifier: Apache-2.0
"""One core: its view of memory, its registers, and what it does until a deadline."""

import ctypes
from collections.abc import Iterable, Sequence
from functools import partial, reduce
from itertools import pairwise, starmap
from operator import or_

from atoll.resolve.core_instances import local_of
from atoll.resolve.memory_views import on_bus
from atoll.resolve.soc import Cpu
from atoll_sim.chip.chip_parts import Master
from atoll_sim.chip.plan import merge_spans
from atoll_sim.engines.interface import BusFault, Device
from atoll_sim.host.memory import PAGE
from atoll_sim.iss.around import Around
from atoll_sim.iss.clock import CoreClock, OwnClock
from atoll_sim.iss.core_memory import CoreCache, CoreMemory
from atoll_sim.iss.cortex_m import CortexSystem
from atoll_sim.iss.costs import costs_of
from atoll_sim.iss.devices import CoreLocal
from atoll_sim.iss.emulator import FUNCTIONS, READ, RUN, WRITE, Emulator, End, machine_of
from atoll_sim.iss.function_unit import CoreUnit
from atoll_sim.iss.native import IssModel
from atoll_sim.iss.riscv import (
    FETCH_FAULT,
    ILLEGAL,
    LOAD_FAULT,
    LOAD_MISALIGNED,
    STORE_FAULT,
    STORE_MISALIGNED,
    Lines,
    Next,
    load_target,
)
from atoll_sim.iss.rules import FLOATS, Span, Why, extensions_of
from atoll_sim.iss.step_registers import step_registers
from atoll_sim.iss.systems import system_addresses, system_of
from atoll_sim.protocol.records import AccessKind, EventKind
from atoll_sim.simulate.firmware import Text

WORD = 4


class IssCore:
    """A core that runs its firmware.

    Attributes:
        cpu: its description.
        state: its own cycles, and what its latest access did.
        asleep: it waits for an interrupt.
        halted: it stands still for good.
    """

    def __init__(
        self,
        cpu: Cpu,
        master: Master,
        model: IssModel,
        chip: Around,
        blocks: Iterable[tuple[range, Device]],
        lines: Lines,
        code: Iterable[Text],
    ) -> None:
        """Set a core up as it is at reset.

        Args:
            cpu: its description, with addresses as it sees them.
            master: its number, and what it reaches.
            model: memories, time and log.
            chip: hears of accesses that fail, and of its end.
            blocks: registers that it reaches.
            lines: its interrupt lines; they rise in cycles of the host.
            code: where its instructions lie.
        """
        self.cpu = cpu
        self._clock = CoreClock(cpu.clock, model.soc.host_cpu.clock)
        self.asleep = self.halted = self._illegal = self._misaligned = False
        self._master, self._model, self._chip = master, model, chip
        self._local = CoreLocal(self._stand_still, cpu.hart)
        self._emulator = Emulator(machine_of(cpu))
        kept = self._emulator.kept
        self.state = model.add_core(master.index, FUNCTIONS, costs_of(cpu), cpu, kept)
        self.align_all(on=False)
        model.set_clock(self.state, self._clock)
        if cpu.spec.timing and (instructions := cpu.spec.timing.cache):
            model.count_fetches(self.state, instructions.size, instructions.line)
        self._memory = CoreMemory(cpu, model, self.state)
        cache = CoreCache(cpu, model, self.state)
        own_lines = partial(self._clock.lines, lines)
        self._system = system_of(
            cpu, self, self._memory, own_lines, self._local, cache, self, self._send_event
        )
        self._blocks = list(blocks)
        steps = step_registers(model.soc, cpu, cache, chip)
        self._blocks += steps
        self._own = [span for span, _ in steps]
        if own := local_of(cpu.spec):
            system = self._system
            registers = system if isinstance(system, CortexSystem) else self._local
            self._own.append(own)
            self._blocks.append((own, OwnClock(registers, lambda: self.state.time)))
        self._pc = cpu.reset_address
        self._second_word = 0, -1  # of an access that trapped, and when
        self._map_memories()
        self._map_registers()
        self._emulator.watch(*model.hooks, ctypes.byref(self.state))
        self._emulator.watch_exceptions(self._note_exception)
        texts = [(at.span, model.peek(self._on_bus(at.load), len(at.span))) for at in code]
        found, watch = system_addresses(self._system, texts), self._emulator.watch_instructions
        watch(found, self._system_instruction)
        unit = CoreUnit(cpu.unit, self._emulator)
        self._unit = unit.attach(texts, self.state, model.execute)

    @property
    def time(self) -> int:
        """Cycles of the host since reset was released."""
        return self._clock.to_host(self.state.time)

    @property
    def instructions(self) -> int:
        """That it ran since it was reset."""
        return int(self.state.instructions)

    def begin(self, at: int) -> None:
        """Let the core leave its reset at a time of the host."""
        self.state.time = self._clock.from_host(at)

    def wakes(self) -> int | None:
        """Return when the core, which sleeps, goes on, in cycles of the host."""
        at = self._system.wakes()
        return None if at is None else self._clock.to_host(max(at, self.state.time))

    def counters(self) -> tuple[int, int]:
        """See `riscv.Registers`."""
        return int(self.state.time), self.instructions

    def get(self, number: int) -> int:
        """See `riscv.Registers`."""
        return self._emulator.get(number)

    def set(self, number: int, value: int) -> None:
        """See `riscv.Registers`."""
        self._emulator.set(number, value)

    def let_floats(self, *, on: bool) -> None:
        """See `rules.Rules`."""
        self.state.floats = on and bool(extensions_of(self.cpu) & FLOATS)

    def align_all(self, *, on: bool) -> None:
        """See `rules.Rules`."""
        self.state.aligned = on or self.cpu.spec.misaligned == "traps"

    def protect(self, spans: Sequence[Span], rest: int, *, whole: bool) -> None:
        """See `rules.Rules`."""
        self._model.protect(self.state, spans, rest, whole=whole)

    def run(self, deadline: int) -> None:
        """Run until `deadline` of the host, or until the core sleeps, halts or is stopped."""
        if self.asleep:
            self.state.time = max(self.state.time, self._system.wakes() or 0)
            self.asleep = False
        following = self._system.interrupt(self._pc)
        self.state.deadline = self._clock.from_host(deadline)
        self._expect_interrupt()
        self._model.at(self.time)
        until, self.state.until = self.state.until, 0
        end = self._emulator.run(following, until)
        self._unit.raise_any()
        self._pc = self._emulator.pc
        if end is End.STOPPED:
            self._stop()
            return
        if not self.state.refused:
            self._model.uncount(self.state, self._pc)
        if end is End.FETCH and (back := self._system.handler_exit(self._pc)):
            self._go_on(back)
        elif end is End.FETCH:
            kept_back, byte = AccessKind.FETCH.number, self._on_bus(self._pc)
            self._model.log_refusal(self._master.index, kept_back, byte)
            self._chip.note_failure(self.cpu, byte, writes=False, bus=False)
            self._go_on(self._system.trap(FETCH_FAULT, self._pc, self._pc))
        elif self.state.refused:
            self._refuse()
        else:
            self._go_on(self._system.trap(ILLEGAL, self._pc))

    def _on_bus(self, address: int) -> int:
        return on_bus(self._model.soc, self.cpu.name, address)

    def _instruction(self, address: int) -> bytes:
        return self._model.peek(self._on_bus(address), WORD)

    def _send_event(self) -> None:
        self._chip.send_event(self.time)
        self.pause()

    def hear(self, at: int) -> None:
        """Take an event that a core sent at a time of the host."""
        if isinstance(self._system, CortexSystem):
            self._system.hear(self._clock.from_host(at))

    def pause(self) -> None:
        """Have `run` return after the instruction that is under way."""
        self.state.deadline = min(self.state.deadline, self.state.time)

    def stop(self) -> None:
        """Have `run` return before the next instruction."""
        self._emulator.stop()

    def _expect_interrupt(self) -> None:
        """Have the core stop when its next interrupt comes, to take it, or the watchdog's end."""
        restarts = self._chip.restarts()
        own = None if restarts is None else self._clock.from_host(restarts)
        for at in (self._system.next_interrupt(), own):
            if at is not None:
                self.state.deadline = min(self.state.deadline, at)

    def _map_memories(self) -> None:
        """Let the core's pages have the strongest right of any byte in them."""
        opened: list[tuple[range, int]] = []
        rights = ((self._master.readable, READ | RUN), (self._master.writable, WRITE))
        for spans, right in rights:
            for span in spans:
                self._model.add_window(self.state, span, writes=right == WRITE)
                opened.append((_whole_pages(span), right))
        for each in self._model.soc.address_blocks():
            if (view := each.views.get(self.cpu.name)) is not None:
                self._model.add_view(self.state, view, each.low, hides=True)
        for alias in self._memory.aliases:
            seen = alias.device_range(self.cpu.name)
            self._model.add_view(self.state, seen.start, alias.shown, hides=False)
        edges = sorted({edge for span, _ in opened for edge in (span.start, span.stop)})
        for pages in starmap(range, pairwise(edges)):
            right = reduce(or_, (right for span, right in opened if pages.start in span), 0)
            for part in self._model.memory.parts(pages) if right else ():
                for seen, pointer in self._memory.places(part):
                    self._emulator.map_memory(seen, right, pointer)

    def _map_registers(self) -> None:
        for span in merge_spans(_whole_pages(block) for block, _ in self._blocks):
            self._emulator.map_registers(span, self._read_register, self._write_register)
        for own in self._own:
            for writes in (False, True):
                self._model.add_window(self.state, own, writes=writes)

    def _note_exception(self, misaligned: bool) -> None:
        self._illegal, self._misaligned = not misaligned, misaligned
        self.stop()

    def _system_instruction(self, address: int) -> None:
        data = self._instruction(address)
        self._model.uncount(self.state, address + self._system.length(data))
        word = int.from_bytes(data, "little")
        self._go_on(self._system.execute(word, address))
        if self.halted or self.asleep:
            self.stop()
        self._emulator.pc = self._pc
        self._expect_interrupt()

    def _go_on(self, following: Next) -> None:
        if following.pc is None:
            self._stand_still()
            return
        self.asleep = following.asleep
        self._pc = following.pc if self.asleep else self._system.interrupt(following.pc)

    def _stand_still(self) -> None:
        self.halted = True
        self._model.at(self.time)
        self._model.log_event(EventKind.TRAP, self._master.index)
        self._chip.serve()
        self.stop()

    def _stop(self) -> None:
        """Take what stopped the core, if it was no deadline."""
        if self._illegal:
            self._illegal = False
            at = self._pc - self._system.last_length(self._instruction(self._pc - WORD))
            self._model.uncount(self.state, at)
            self._go_on(self._system.trap(ILLEGAL, at))
        elif self._misaligned:
            self._misaligned = False
            self._model.uncount(self.state, self._pc)
            self._go_on(self._system.trap(LOAD_MISALIGNED, self._pc, 0, Why.MISALIGNED))
        elif self.state.refused:
            self._refuse()
        elif self.state.until and self.state.until == self._pc:
            self.state.until = 0
            self._not_run(Why(self.state.why))

    def _not_run(self, why: Why) -> None:
        """Take an instruction that the core is before, and does not run."""
        if why is Why.PROTECTED:
            self._go_on(self._system.trap(FETCH_FAULT, self._pc, self._pc, why))
        else:
            self._go_on(self._system.trap(ILLEGAL, self._pc, 0, why))

    def _refuse(self) -> None:
        """Take an access that the core does not make, or a firewall keeps back."""
        state, why = self.state, Why(self.state.why)
        writes, address = state.refused == 1 + AccessKind.WRITE.number, state.address
        self._model.undo(state, self._emulator.handle)
        self._pc = self._emulator.pc
        self._model.uncount(state, self._pc)
        if why is Why.FIREWALL:
            self._chip.note_failure(self.cpu, self._on_bus(address), writes=writes, bus=False)
        if why is Why.MISALIGNED:
            cause = STORE_MISALIGNED if writes else LOAD_MISALIGNED
            self._go_on(self._system.trap(cause, self._pc, address, why))
        elif self.cpu.spec.traps or why is Why.PROTECTED:
            self._trap_access(address, writes=writes, why=why)
        else:
            data = self._instruction(self._pc)
            if not writes:
                self.set(load_target(data, self.cpu.instructions.bits), 0)
            self._pc += self._system.length(data)

    def _trap_access(self, address: int, *, writes: bool, why: Why = Why.FIREWALL) -> None:
        cause = STORE_FAULT if writes else LOAD_FAULT
        self._go_on(self._system.trap(cause, self._pc, address, why))

    def _read_register(self, address: int, size: int) -> int:
        if self.state.refused:
            return 0
        try:
            device, inside = self._device_at(address, size)
            return device.read(inside, self.cpu.name, self.time) & 0xFFFF_FFFF
        except BusFault:
            self._bus_failed(address, writes=False)
            return 0

    def _write_register(self, address: int, size: int, value: int) -> None:
        if self.state.refused:
            return
        try:
            device, inside = self._device_at(address, size)
            self._model.at(self.time)
            device.write(inside, value & 0xFFFF_FFFF, self.cpu.name, self.time)
            self._expect_interrupt()
        except BusFault:
            self._bus_failed(address, writes=True)

    def _device_at(self, address: int, size: int) -> tuple[Device, int]:
        for span, device in self._blocks:
            if address in span and size == WORD and not address % WORD:
                return device, address - span.start
        raise BusFault(address, decode=False)

    def _bus_failed(self, address: int, *, writes: bool) -> None:
        if self._second_word == (address, self.time):
            return
        self._chip.note_failure(self.cpu, self._on_bus(address), writes=writes, bus=True)
        if self.cpu.spec.traps:
            self._pc = self._emulator.pc
            self._model.uncount(self.state, self._pc)
            self._second_word = address + WORD, self.time
            self._trap_access(address, writes=writes)
            self._emulator.pc = self._pc


def _whole_pages(span: range) -> range:
    return range(span.start & -PAGE, -(-span.stop // PAGE) * PAGE)
