# SPDX-License-Identifier: Apache-2.0
"""Registers of which a description tells sequences of steps, and what these bring about.

Each is as unkind as it may be: a register that is waited for does not have its value at first, and
what a sequence brings about happens when its last step is done, not before. A step in another place
than its own begins the sequence anew.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from atoll.resolve.memory_views import begin_of, signals_of, steps_by
from atoll.resolve.register_steps import (
    ALL,
    END,
    FIRST,
    LAST,
    LINE,
    SIZE,
    WORD,
    CacheSteps,
    Interrupt,
    RegisterStep,
    Steps,
    register_spans,
)
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_sim.engines.interface import BusFault, Device
from atoll_sim.iss.around import Around
from atoll_sim.iss.cache_control import CacheControl

Written = Mapping[str, int]
"""What was written in place of the names of a sequence."""


class Sequence:
    """One of them, as far as it is done."""

    def __init__(
        self, steps: Steps, values: Mapping[str, int], done: Callable[[Written, int], None]
    ) -> None:
        """Begin at its first step.

        Args:
            steps: it.
            values: what names stand for; those that are not here may be written with any value.
            done: told what was written for these, and when, at the end of the last step.
        """
        self._steps, self._values, self._done = steps, values, done
        self._registers = {each.address for each in steps}
        self._begin()

    def _begin(self) -> None:
        self._at, self._looked = 0, False
        self._written: dict[str, int] = {}

    def write(self, address: int, value: int, now: int) -> None:
        """Take what the core wrote to a register."""
        if address not in self._registers:
            return
        if not self._takes(address, value):
            self._begin()
            self._takes(address, value)
        self._end(now)

    def _takes(self, address: int, value: int) -> bool:
        step = self._steps[self._at]
        if step.waits or step.address != address:
            return False
        if isinstance(step.value, str) and step.value not in self._values:
            self._written[step.value] = value
        elif value & step.mask != self._value_of(step):
            return False
        self._at += 1
        return True

    def read(self, address: int, value: int, now: int) -> tuple[int, bool]:
        """Return what a register reads that holds `value`, and whether it holds that from now on.

        That is so when the step is done that waits for it.
        """
        step = self._steps[self._at]
        if not step.waits or step.address != address:
            return value, False
        wanted = self._value_of(step)
        if not self._looked:
            self._looked = True
            return value & ~step.mask | ~wanted & step.mask, False
        self._looked = False
        self._at += 1
        self._end(now)
        return value & ~step.mask | wanted, True

    def _value_of(self, step: RegisterStep) -> int:
        return self._values[step.value] if isinstance(step.value, str) else step.value

    def _end(self, now: int) -> None:
        if self._at == len(self._steps):
            written = self._written
            self._begin()
            self._done(written, now)


class StepRegisters:
    """The registers of sequences, some of which adjoin."""

    def __init__(self, origin: int, values: dict[int, int], sequences: Iterable[Sequence]) -> None:
        """Connect them: `values` are those of all such registers of the core, by address."""
        self._origin, self._values, self._sequences = origin, values, tuple(sequences)

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        address = self._at(offset)
        value = self._values.get(address, 0)
        for each in self._sequences:
            value, holds = each.read(address, value, now)
            if holds:
                self._values[address] = value
        return value

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        address = self._at(offset)
        self._values[address] = value
        for each in self._sequences:
            each.write(address, value, now)

    def _at(self, offset: int) -> int:
        if offset % WORD:
            raise BusFault(offset, decode=False)
        return self._origin + offset


def step_registers(
    soc: ResolvedSoc, cpu: Cpu, cache: CacheControl, chip: Around
) -> list[tuple[range, Device]]:
    """Return the registers that a core's steps access, where it sees them.

    Args:
        soc: the chip.
        cpu: the core.
        cache: its data cache.
        chip: told that another core begins, and of lines that rise and fall; has the caches of
            accelerators.
    """
    sequences: list[Sequence] = []
    if found := soc.cache_steps(cpu):
        sequences += _maintaining(found, cache)
    if cpu.name == soc.host:
        for npu in soc.cached_npus:
            if npu.cache and npu.cache.maintenance:
                sequences += _maintaining(npu.cache.maintenance, chip.npu_caches[npu.name])
        for other in soc.cpus:
            done = partial(_let_begin, chip, other)
            values = begin_of(soc, other)
            sequences += [Sequence(other.release, values, done)] if other.release else []
    for sent, heard in signals_of(soc, cpu):
        if sent:
            sequences.append(Sequence(sent.send, {}, partial(_set_line, chip, cpu, sent, True)))
        if heard:
            sequences.append(Sequence(heard.clear, {}, partial(_set_line, chip, cpu, heard, False)))
    held: dict[int, int] = {}
    return [
        (span, StepRegisters(span.start, held, sequences))
        for span in register_spans(steps_by(soc, cpu))
    ]


def _maintaining(found: CacheSteps, cache: CacheControl) -> Iterator[Sequence]:
    for steps, cleans in ((found.clean, True), (found.invalidate, False)):
        yield Sequence(steps, {}, partial(_maintain, cache, cleans))


def _let_begin(chip: Around, cpu: Cpu, _: Written, now: int) -> None:
    chip.release(cpu, now)


def _set_line(chip: Around, cpu: Cpu, line: Interrupt, high: bool, _: Written, now: int) -> None:
    chip.set_line(cpu, line, now, high=high)


def _maintain(cache: CacheControl, cleans: bool, written: Written, _: int) -> None:
    """Clean, or invalidate, the lines of which a core told a cache."""
    begin = written[LINE] if LINE in written else written[FIRST]
    if LAST in written:
        end = written[LAST] + cache.line
    elif END in written:
        end = written[END] or ALL + 1
    else:
        end = begin + written.get(SIZE, cache.line)
    for line in range(begin & -cache.line, end, cache.line):
        cache.maintain(line, cleans=cleans)
