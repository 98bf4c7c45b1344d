# SPDX-License-Identifier: Apache-2.0
"""Faults in the plan: buffers that are not where they should be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from atoll.driver.pipeline import Compiled
from atoll.memory.build_problem import build_problem
from atoll.memory.checker import violations
from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace, Problem
from atoll.memory.solve import solve
from atoll_sim.mutate.mutant import Mutant, Right, move_buffers, replace_placements

ROOM = 4096
"""Bytes past the used part of a pool that a buffer may be moved to."""


def move_buffer(right: Right, random: Random) -> Mutant | None:
    """Put a buffer somewhere else in its pool; the contract stays."""
    compiled = right.compiled
    place, buffer, pool = _choose(compiled, random)
    room = min(pool.size, compiled.plan.use[pool.name].used + ROOM) - buffer.size
    step = max(buffer.alignment, pool.alignment)
    offset = random.randrange(0, max(1, room // step)) * step
    return _elsewhere(compiled, place, replace(place, offset=offset), follow=False)


def shift_buffer(right: Right, random: Random) -> Mutant | None:
    """Put a buffer a little lower or higher, aligned; the contract stays."""
    place, buffer, pool = _choose(right.compiled, random)
    step = max(buffer.alignment, pool.alignment)
    offset = place.offset + random.choice((-2, -1, 1, 2)) * step
    if not 0 <= offset <= pool.size - buffer.size:
        return None
    return _elsewhere(right.compiled, place, replace(place, offset=offset), follow=False)


def misalign_buffer(right: Right, random: Random) -> Mutant | None:
    """Put a buffer where its alignment forbids; the contract follows the plan."""
    place, buffer, pool = _choose(right.compiled, random)
    step = max(buffer.alignment, pool.alignment)
    by = random.randrange(1, step) if step > 1 else 0
    if not by or place.offset + by + buffer.size > pool.size:
        return None
    wrong = replace(place, offset=place.offset + by)
    return _elsewhere(right.compiled, place, wrong, follow=True)


def overlap_buffers(right: Right, random: Random) -> Mutant | None:
    """Put a buffer over another one that is live at the same time; the contract follows."""
    compiled = right.compiled
    place, buffer, pool = _choose(compiled, random)
    other = random.choice([*compiled.plan.placements.values()])
    size = compiled.module.entry.sizes[other.buffer]
    if other.buffer == place.buffer or other.pool != pool.name:
        return None
    step = max(buffer.alignment, pool.alignment)
    lowest = (other.offset - buffer.size) // step + 1
    offset = random.randrange(lowest, (other.offset + size - 1) // step + 1) * step
    if not 0 <= offset <= pool.size - buffer.size:
        return None
    return _elsewhere(compiled, place, replace(place, offset=offset), follow=True)


def wrong_pool(right: Right, random: Random) -> Mutant | None:
    """Put a buffer into a pool that it must not be in; the contract follows."""
    place, buffer, _ = _choose(right.compiled, random)
    pools = [
        pool
        for pool in right.compiled.plan.problem.pools
        if pool.name not in buffer.pools and pool.size >= buffer.size
    ]
    if not pools:
        return None
    pool = random.choice(pools)
    step = max(buffer.alignment, pool.alignment)
    first = right.compiled.plan.use[pool.name].used // step + random.randrange(4)
    wrong = Placement(buffer=buffer.name, pool=pool.name, offset=(first + 1) * step)
    return _elsewhere(right.compiled, place, wrong, follow=True)


def early_free(right: Right, random: Random) -> Mutant | None:
    """Plan as if a buffer died earlier than it does; the contract follows the plan."""
    compiled = right.compiled
    buffer = random.choice(_live(compiled))
    begin, end = buffer.live[0][0], buffer.live[-1][1]
    if end - begin < 2:
        return None
    until = random.randrange(begin + 1, end)
    live = tuple((low, min(high, until)) for low, high in buffer.live if low < until)
    problem = compiled.plan.problem
    buffers = tuple(replace(b, live=live) if b is buffer else b for b in problem.buffers)
    sentence = f"'{buffer.name}' is planned to die before step {until}, not {end}"
    return _replan(compiled, replace(problem, buffers=buffers), buffer.name, sentence)


def output_freed_early(right: Right, random: Random) -> Mutant | None:
    """Plan as if the caller did not read an output; the contract follows the plan."""
    compiled = right.compiled
    entry = compiled.module.entry
    output = random.choice(entry.outputs)
    others = tuple(name for name in entry.outputs if name != output)
    forgotten = replace(compiled.module, entry=replace(entry, outputs=others))
    sentence = f"'{output}' is planned to die when the operators are done with it"
    told = build_problem(forgotten, compiled.soc)
    problem = replace(compiled.plan.problem, buffers=told.buffers, overlaps=told.overlaps)
    return _replan(compiled, problem, output, sentence)


def shrink_buffer(right: Right, random: Random) -> Mutant | None:
    """Plan a buffer smaller than it is, another right behind it; the contract follows."""
    compiled = right.compiled
    small, other = random.sample(_live(compiled), 2)
    was, place = (compiled.plan.placements[each.name] for each in (small, other))
    pool = next(each for each in compiled.plan.problem.pools if each.name == was.pool)
    if place.pool != was.pool or small.size < 2:
        return None
    size = random.randrange(1, small.size)
    step = max(other.alignment, pool.alignment)
    behind = -(-(was.offset + size) // step) * step
    if behind + other.size > pool.size:
        return None
    made = _elsewhere(compiled, place, replace(place, offset=behind), follow=True)
    what = f"'{small.name}' is planned with {size} of its {small.size} B, '{other.name}' behind it"
    return made and replace(made, subject=small.name, sentence=what)


def _replan(compiled: Compiled, problem: Problem, subject: str, sentence: str) -> Mutant | None:
    """Return the program on a plan of a wrong problem; None if the plan is right all the same."""
    options = compiled.options
    answer = solve(problem, name=options.algorithm, effort=options.effort)
    if not isinstance(answer, MemoryPlan):
        return None
    places = tuple(answer.placements.values())
    if _valid(replace_placements(compiled.plan, places)):
        return None
    built = move_buffers(compiled, places)
    return Mutant(subject=subject, sentence=sentence, built=built, judged=built)


def _live(compiled: Compiled) -> Sequence[Buffer]:
    """Return the buffers that are not constants."""
    constants = {constant.name for constant in compiled.module.entry.constants}
    return [each for each in compiled.plan.problem.buffers if each.name not in constants]


def _choose(compiled: Compiled, random: Random) -> tuple[Placement, Buffer, PoolSpace]:
    """Draw a buffer, three times in four one that is no constant."""
    problem = compiled.plan.problem
    buffers = _live(compiled) if random.randrange(4) else problem.buffers
    buffer = random.choice(buffers)
    place = compiled.plan.placements[buffer.name]
    return place, buffer, next(pool for pool in problem.pools if pool.name == place.pool)


def _elsewhere(
    compiled: Compiled, was: Placement, now: Placement, *, follow: bool
) -> Mutant | None:
    """Return the mutant; None if nothing moves, or the contract follows and the plan is right."""
    if now == was or (follow and _valid(replace_placements(compiled.plan, (now,)))):
        return None
    built = move_buffers(compiled, (now,))
    return Mutant(
        subject=was.buffer,
        sentence=f"'{was.buffer}' is at {_text(now)} instead of {_text(was)}",
        built=built,
        judged=built if follow else compiled,
    )


def placement_faults(plan: MemoryPlan) -> Iterator[str]:
    """Yield what the checker has against places by themselves, clashes and costs aside."""
    for fault in violations(_whole(plan)):
        if fault.code != "E063" and fault.message.startswith("buffer "):
            yield fault.message


def _valid(plan: MemoryPlan) -> bool:
    """Tell whether every buffer is where it may be and apart from those that conflict."""
    clash = any(fault.code == "E063" for fault in violations(_whole(plan)))
    return not clash and not any(placement_faults(plan))


def _whole(plan: MemoryPlan) -> MemoryPlan:
    """Return a plan without the places of parts of buffers."""
    places = {buffer.name: plan.placements[buffer.name] for buffer in plan.problem.buffers}
    return replace(plan, placements=places)


def _text(place: Placement) -> str:
    return f"{place.pool}+{place.offset:#x}"
