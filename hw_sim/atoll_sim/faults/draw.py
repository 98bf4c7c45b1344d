# SPDX-License-Identifier: Apache-2.0
"""Draw faults for a network on a chip, the same ones for the same seed."""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from random import Random

from atoll.contract.contract import Span
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import EngineAction
from atoll.records import dataclass
from atoll.resolve.engine_parts import emitter_of
from atoll_sim.campaign.trials import rotate
from atoll_sim.chip.plan import plan_chip
from atoll_sim.engines.calls import seals
from atoll_sim.faults.kinds import RESPONSES, Fault, FaultKind

LONGEST_STALL = 800
"""Cycles; the bus gives a memory up after 1,024 (`atoll_demux`), contention included."""
SHORTEST_RESET, LONGEST_RESET = 2, 16
BITS = 8


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws faults that a run of `compiled` can meet.

    Attributes:
        compiled: the network; only devices that work for it, and their memories, get faults.
        cycles: length of a run.
        random: decides all.
    """

    compiled: Compiled
    cycles: int
    random: Random

    def makers(self, first: int = 0) -> Iterator[Callable[[], Fault]]:
        """Return without end, in turn, what draws a fault of each kind that the network offers.

        Args:
            first: kinds to skip at first, so that networks which share few faults get others.
        """
        makers = (
            self._error(FaultKind.READ_ERROR, "read"),
            self._error(FaultKind.WRITE_ERROR, "write"),
            self._stall(FaultKind.STALL),
            self._stall(FaultKind.SILENCE),
            *(self._start_faults() if self._helpers else ()),
            self._reset,
            self._flip(FaultKind.BIT_FLIP, self._buffers()),
        )
        return cycle(rotate(makers, first))

    def _start_faults(self) -> Iterator[Callable[[], Fault]]:
        """Yield what can go wrong with devices that the host starts."""
        if self._interrupting:
            yield self._lost_interrupt
        yield self._hang
        if commands := tuple(self._commands()):
            yield self._flip(FaultKind.DESCRIPTOR, commands)

    @property
    def _workers(self) -> tuple[str, ...]:
        """The host, and every other device that runs an operator and moves its data."""
        used = {operator.device for operator in self.compiled.graph.operators}
        soc = self.compiled.soc
        used -= {engine.name for engine in soc.engines if engine.spec.fed}
        return tuple(each.name for each in soc.devices if each.name in {soc.host, *used})

    @property
    def _helpers(self) -> tuple[str, ...]:
        return tuple(name for name in self._workers if name != self.compiled.soc.host)

    @property
    def _interrupting(self) -> tuple[str, ...]:
        return tuple(name for name in self._helpers if name in self.compiled.soc.irqs)

    def _offset(self) -> int:
        return self.random.randrange(self.cycles)

    def _master(self, name: str) -> int:
        masters = plan_chip(self.compiled.soc).masters
        return next(master.index for master in masters if master.name == name)

    def _device_at(self, name: str) -> str:
        return self.compiled.soc.first_setting(f"devices.{name}.")

    def _error(self, kind: FaultKind, action: str) -> Callable[[], Fault]:
        def make() -> Fault:
            name = self.random.choice(self._workers)
            what, where = self.random.choice(tuple(RESPONSES)), self._master(name)
            offset = self._offset()
            at = self._device_at(name)
            return Fault(
                kind=kind, offset=offset, action=action, where=where, what=what, place=name, at=at
            )

        return make

    def _stall(self, kind: FaultKind) -> Callable[[], Fault]:
        names = tuple(memory.name for memory in plan_chip(self.compiled.soc).memories)

        def make() -> Fault:
            name = self.random.choice(names)
            what = self.random.randint(1, LONGEST_STALL) if kind is FaultKind.STALL else 0
            where, offset = names.index(name), self._offset()
            at = self.compiled.soc.first_setting(f"memories.{name}.")
            return Fault(
                kind=kind, offset=offset, action="stall", where=where, what=what, place=name, at=at
            )

        return make

    def _lost_interrupt(self) -> Fault:
        name = self.random.choice(self._interrupting)
        return Fault(
            kind=FaultKind.LOST_INTERRUPT,
            offset=self._offset(),
            action="mute",
            where=self.compiled.soc.irqs[name],
            what=0,
            place=name,
            at=self._device_at(name),
        )

    def _hang(self) -> Fault:
        name = self.random.choice(self._helpers)
        return Fault(
            kind=FaultKind.HANG,
            offset=self._offset(),
            action="hang",
            where=self._master(name),
            what=0,
            place=name,
            at=self._device_at(name),
        )

    def _reset(self) -> Fault:
        return Fault(
            kind=FaultKind.RESET,
            offset=self._offset(),
            action="reset",
            where=0,
            what=self.random.randint(SHORTEST_RESET, LONGEST_RESET),
            place="the chip",
        )

    def _flip(self, kind: FaultKind, spans: Sequence[Span]) -> Callable[[], Fault]:
        def make() -> Fault:
            span = self.random.choice(spans)
            at, bit = self.random.randrange(span.size), self.random.randrange(BITS)
            return Fault(
                kind=kind,
                offset=0 if kind is FaultKind.DESCRIPTOR else self._offset(),
                action="flip",
                where=span.address + at,
                what=bit,
                place=f"{span.buffer}+{at:#x}, bit {bit}",
                at=self.compiled.soc.first_setting(f"pools.{span.pool}."),
            )

        return make

    def _commands(self) -> Iterator[Span]:
        """Yield the descriptors that engines fetch, without what is only planned behind them.

        An engine whose commands carry no check cannot know that a bit of one is wrong.
        """
        plan, jobs = self.compiled.plan, self.compiled.jobs
        emitters = {each.name: emitter_of(each) for each in self.compiled.soc.engines}
        linked = {each.before for each in self.compiled.contract.successions}
        for step in self.compiled.module.entry.steps:
            if isinstance(step.action, EngineAction):
                name, job = step.action.commands, jobs[step.operator]
                link = job.link_size if step.number in linked else 0
                if seals(emitters[job.device]):
                    yield Span(
                        buffer=name,
                        pool=plan.placements[name].pool,
                        address=plan.address(name),
                        size=step.action.count * job.commands_size // job.commands_count + link,
                    )

    def _buffers(self) -> tuple[Span, ...]:
        """Return what a run writes or is given: buffers that are not constant."""
        return tuple(
            lifetime.span for lifetime in self.compiled.contract.lifetimes if not lifetime.constant
        )
