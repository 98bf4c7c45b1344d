# SPDX-License-Identifier: Apache-2.0
"""Faults in what accelerators and DMA engines are told.

A list is cut into its commands and these into words; which of them hold addresses shows in what
another plan changes. Only the engine knows how a command is checked (`Sealing`).
"""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from atoll.cost.program import command_counts
from atoll.driver.pipeline import Compiled, with_plan
from atoll.ir.tir import EngineAction
from atoll.plugins.loading import Part
from atoll.records import dataclass
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.memory_views import device_address, on_bus
from atoll_sim.engines.calls import seal
from atoll_sim.mutate.mutant import Mutant, Right

WORD, HALF = 4, 2
ELSEWHERE = 1 << 16
"""A multiple of every alignment."""


@dataclass(frozen=True, slots=True)
class CommandList:
    """What an engine is told of one operator.

    Attributes:
        name: of the buffer.
        data: the commands that the engine runs.
        each: bytes of a command.
    """

    emitter: Part
    name: str
    data: bytes
    each: int

    def get(self, at: int, size: int) -> int:
        """Return the number in `size` bytes."""
        return int.from_bytes(self.data[at : at + size], "little")

    def put(self, at: int, size: int, value: int) -> bytes:
        """Return the list with another number in `size` bytes, and no other check."""
        return self.data[:at] + value.to_bytes(size, "little") + self.data[at + size :]

    def put_checked(self, at: int, size: int, value: int) -> bytes:
        """Return the list with another number, checked as the compiler would: it believes it."""
        wrong, begin = self.put(at, size, value), at - at % self.each
        end = begin + self.each
        return wrong[:begin] + seal(self.emitter, wrong[begin:end]) + wrong[end:]

    def value_words(self) -> list[int]:
        """Return where words hold no byte of a check, which comes back when it is made anew."""
        checked = {
            at - at % WORD
            for at in range(self.each)
            if self.put_checked(at, 1, self.data[at] ^ 0xFF) == self.data
        }
        return [
            at for at in range(0, len(self.data) - WORD + 1, WORD) if at % self.each not in checked
        ]


def wrong_address(right: Right, random: Random) -> Mutant | None:
    """Add a little to an address of a command, or take it away."""
    if not right.compiled.commands:
        return None
    commands = _choose(right.compiled, random)
    words = address_words(commands, commands_elsewhere(right.compiled))
    if not words:
        return None
    at = random.choice(sorted(words))
    was = commands.get(at, WORD)
    now = was + random.choice((-64, -16, -4, -1, 1, 4, 16, 64))
    if now < 0:
        return None
    what = f"address {was:#010x} becomes {now:#010x}"
    return _patch(right, commands.name, commands.put_checked(at, WORD, now), what)


def other_view(right: Right, random: Random) -> Mutant | None:
    """Give an engine the address at which another device sees the byte that it needs."""
    soc, devices = right.compiled.soc, _devices(right.compiled)
    moved = commands_elsewhere(right.compiled)
    found = [
        (commands, at, was, now, devices[commands.name])
        for commands in command_lists(right.compiled)
        for at in sorted(address_words(commands, moved))
        for was in (commands.get(at, WORD),)
        for byte in (on_bus(soc, devices[commands.name], was),)
        for now in sorted(
            {device_address(soc, device.name, byte) for device in soc.devices} - {was}
        )
    ]
    if not found:
        return None
    commands, at, was, now, engine = random.choice(found)
    what = f"address {was:#010x}, as '{engine}' sees it, becomes {now:#010x}, as another does"
    return _patch(right, commands.name, commands.put_checked(at, WORD, now), what)


def wrong_size(right: Right, random: Random) -> Mutant | None:
    """Make a size, count or step of a command larger or smaller by one, or twice as large."""
    if not right.compiled.commands:
        return None
    commands = _choose(right.compiled, random)
    addresses = address_words(commands, commands_elsewhere(right.compiled))
    halves = [
        at
        for word in commands.value_words()
        for at in (word, word + HALF)
        if 0 < commands.get(at, HALF) < 4096 and word not in addresses
    ]
    if not halves:
        return None
    at = random.choice(halves)
    was = commands.get(at, HALF)
    now = random.choice((was - 1, was + 1, 2 * was))
    what = f"{was} at byte {at} becomes {now}"
    return _patch(right, commands.name, commands.put_checked(at, HALF, now), what)


def flip_bit(right: Right, random: Random) -> Mutant | None:
    """Flip one bit of a command; its check is not made anew."""
    if not right.compiled.commands:
        return None
    commands = _choose(right.compiled, random)
    bit = random.randrange(8 * len(commands.data))
    now = commands.data[bit // 8] ^ 1 << bit % 8
    wrong = commands.put(bit // 8, 1, now)
    return _patch(right, commands.name, wrong, f"bit {bit} is flipped")


def drop_command(right: Right, random: Random) -> Mutant | None:
    """Run one command less than the list has."""
    runs = [
        (index, step, step.action)
        for index, step in enumerate(right.compiled.module.entry.steps)
        if isinstance(step.action, EngineAction)
    ]
    if not runs:
        return None
    index, step, action = random.choice(runs)
    wrong = replace(step, action=replace(action, count=action.count - 1))
    sentence = f"'{step.operator}' runs {action.count - 1} of {action.count} commands"
    return right.with_step(index, wrong, action.commands, sentence)


def commands_elsewhere(compiled: Compiled) -> Mapping[str, bytes]:
    """Return the commands of another plan, in which every buffer has another address."""
    plan = compiled.plan
    moved = {
        buffer: replace(place, offset=place.offset + ELSEWHERE)
        for buffer, place in plan.placements.items()
    }
    return with_plan(compiled, replace(plan, placements=moved)).commands


def address_words(commands: CommandList, moved: Mapping[str, bytes]) -> frozenset[int]:
    """Return where a list holds addresses: what `commands_elsewhere` changes, checks aside."""
    other = moved[commands.name]
    return frozenset(
        at
        for at in commands.value_words()
        if commands.data[at : at + WORD] != other[at : at + WORD]
    )


def command_lists(compiled: Compiled) -> tuple[CommandList, ...]:
    """Return all lists by name; only what the device runs of one counts."""
    counts = command_counts(compiled.module.entry.steps)
    emitters = {engine.name: emitter_of(engine) for engine in compiled.soc.engines}
    jobs = sorted(compiled.jobs.values(), key=lambda job: job.commands)
    return tuple(
        CommandList(
            emitter=emitters[job.device],
            name=job.commands,
            data=compiled.commands[job.commands][: counts[job.operator] * each],
            each=each,
        )
        for job in jobs
        for each in (job.commands_size // job.commands_count,)
    )


def _devices(compiled: Compiled) -> Mapping[str, str]:
    return {job.commands: job.device for job in compiled.jobs.values()}


def _choose(compiled: Compiled, random: Random) -> CommandList:
    return random.choice(command_lists(compiled))


def _patch(right: Right, name: str, first: bytes, what: str) -> Mutant | None:
    """Put other bytes at the start of a list."""
    compiled = right.compiled
    data = compiled.commands[name]
    wrong = first + data[len(first) :]
    if wrong == data:
        return None
    built = replace(compiled, commands={**compiled.commands, name: wrong})
    return replace(right.mutant(name, f"'{name}': {what}"), built=built)
