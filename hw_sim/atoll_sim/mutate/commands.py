"""Faults in what accelerators and DMA engines are told."""

from dataclasses import replace
from random import Random

from atoll.ir.tir import AcceleratorRun, AcceleratorStart, Step
from atoll.pipeline import Compiled, with_plan
from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.program import with_steps

WORD, HALF = 4, 2
ELSEWHERE = 1 << 16
"""A multiple of every alignment."""


def wrong_address(right: Right, random: Random) -> Mutant | None:
    """Add a little to an address of a command, or take it away."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    words = address_words(right.compiled, name, len(data))
    if not words:
        return None
    at = random.choice(sorted(words))
    was = _get(data, at, WORD)
    now = was + random.choice((-64, -16, -4, -1, 1, 4, 16, 64))
    if now < 0:
        return None
    data = _checked(_with(data, at, WORD, now), at)
    return _patched(right, name, data, f"address {was:#010x} becomes {now:#010x}")


def wrong_size(right: Right, random: Random) -> Mutant | None:
    """Make a size, count or step of a command larger or smaller by one, or twice as large."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    addresses = address_words(right.compiled, name, len(data))
    halves = [
        at
        for at in range(0, len(data), HALF)
        if at % DESCRIPTOR_BYTES >= WORD
        and 0 < _get(data, at, HALF) < 4096
        and at - at % WORD not in addresses
    ]
    if not halves:
        return None
    at = random.choice(halves)
    was = _get(data, at, HALF)
    now = random.choice((was - 1, was + 1, 2 * was))
    data = _checked(_with(data, at, HALF, now), at)
    return _patched(right, name, data, f"{was} at byte {at} becomes {now}")


def flipped_bit(right: Right, random: Random) -> Mutant | None:
    """Flip one bit of a command; its check is not made anew."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    bit = random.randrange(8 * len(data))
    now = data[bit // 8] ^ 1 << bit % 8
    return _patched(right, name, _with(data, bit // 8, 1, now), f"bit {bit} is flipped")


def dropped_command(right: Right, random: Random) -> Mutant | None:
    """Run one command less than the list has."""
    steps = right.compiled.module.entry.steps
    runs = [
        index
        for index, step in enumerate(steps)
        if isinstance(step.action, (AcceleratorRun, AcceleratorStart))
    ]
    if not runs:
        return None
    index = random.choice(runs)
    step = steps[index]
    action = step.action
    assert isinstance(action, (AcceleratorRun, AcceleratorStart))
    wrong: Step = replace(step, action=replace(action, count=action.count - 1))
    return Mutant(
        subject=action.commands,
        sentence=f"'{step.operator}' runs {action.count - 1} of {action.count} commands",
        built=with_steps(right.compiled, (*steps[:index], wrong, *steps[index + 1 :])),
        judged=right.compiled,
    )


def address_words(compiled: Compiled, name: str, size: int) -> frozenset[int]:
    """Return where the first `size` bytes of a list hold addresses: what another plan changes.

    The first word of a command, which holds its check, is none.
    """
    plan = compiled.plan
    moved = {
        buffer: replace(place, offset=place.offset + ELSEWHERE)
        for buffer, place in plan.placements.items()
    }
    other = with_plan(compiled, replace(plan, placements=moved)).commands[name]
    data = compiled.commands[name]
    words = range(0, size, WORD)
    changed = (at for at in words if data[at : at + WORD] != other[at : at + WORD])
    return frozenset(at for at in changed if at % DESCRIPTOR_BYTES)


def _choose(compiled: Compiled, random: Random) -> tuple[str, bytes]:
    """Draw a list; only what the device runs of it counts."""
    name = random.choice(sorted(compiled.commands))
    job = next(job for job in compiled.jobs.values() if job.commands == name)
    size = job.commands_size // job.commands_count
    actions = (step.action for step in compiled.module.entry.steps)
    count = next(
        action.count
        for action in actions
        if isinstance(action, (AcceleratorRun, AcceleratorStart)) and action.commands == name
    )
    return name, compiled.commands[name][: size * count]


def _patched(right: Right, name: str, first: bytes, what: str) -> Mutant | None:
    """Put other bytes at the start of a list."""
    compiled = right.compiled
    data = compiled.commands[name]
    wrong = first + data[len(first) :]
    if wrong == data:
        return None
    return Mutant(
        subject=name,
        sentence=f"'{name}': {what}",
        built=replace(compiled, commands={**compiled.commands, name: wrong}),
        judged=compiled,
    )


def _with(data: bytes, at: int, size: int, value: int) -> bytes:
    return data[:at] + value.to_bytes(size, "little") + data[at + size :]


def _checked(data: bytes, at: int) -> bytes:
    """Make the check of the command at `at` anew, as the compiler would: it believes its values."""
    begin = at - at % DESCRIPTOR_BYTES
    end = begin + DESCRIPTOR_BYTES
    return data[:begin] + with_check(data[begin:end]) + data[end:]


def _get(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
