"""Faults in what accelerators and DMA engines are told."""

from dataclasses import replace
from random import Random

from atoll.ir.tir import AcceleratorRun, AcceleratorStart, Step
from atoll.pipeline import Compiled
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.program import with_steps

WORD, HALF = 4, 2


def wrong_address(right: Right, random: Random) -> Mutant | None:
    """Add a little to an address of a command, or take it away."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    soc = right.compiled.soc
    words = [
        at
        for at in range(0, len(data), WORD)
        if any(r.origin <= _get(data, at, WORD) < r.end for r in (p.region for p in soc.pools))
        and _get(data, at, WORD)
    ]
    if not words:
        return None
    at = random.choice(words)
    was = _get(data, at, WORD)
    now = was + random.choice((-64, -16, -4, -1, 1, 4, 16, 64))
    if now < 0:
        return None
    return _patched(right, name, at, WORD, now, f"address {was:#010x} becomes {now:#010x}")


def wrong_size(right: Right, random: Random) -> Mutant | None:
    """Make a size, count or step of a command larger or smaller by one, or twice as large."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    halves = [
        at
        for at in range(WORD, len(data), HALF)
        if 0 < _get(data, at, HALF) < 4096 and not _in_address(right, data, at)
    ]
    if not halves:
        return None
    at = random.choice(halves)
    was = _get(data, at, HALF)
    now = random.choice((was - 1, was + 1, 2 * was))
    return _patched(right, name, at, HALF, now, f"{was} at byte {at} becomes {now}")


def flipped_bit(right: Right, random: Random) -> Mutant | None:
    """Flip one bit of a command."""
    if not right.compiled.commands:
        return None
    name, data = _choose(right.compiled, random)
    bit = random.randrange(8 * len(data))
    now = data[bit // 8] ^ 1 << bit % 8
    return _patched(right, name, bit // 8, 1, now, f"bit {bit} is flipped")


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


def _patched(right: Right, name: str, at: int, size: int, value: int, what: str) -> Mutant | None:
    compiled = right.compiled
    data = compiled.commands[name]
    wrong = data[:at] + value.to_bytes(size, "little") + data[at + size :]
    if wrong == data:
        return None
    return Mutant(
        subject=name,
        sentence=f"'{name}': {what}",
        built=replace(compiled, commands={**compiled.commands, name: wrong}),
        judged=compiled,
    )


def _in_address(right: Right, data: bytes, at: int) -> bool:
    """Tell whether a half word is part of an address."""
    word = _get(data, at - at % WORD, WORD)
    return any(each.region.origin <= word < each.region.end for each in right.compiled.soc.pools)


def _get(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")
