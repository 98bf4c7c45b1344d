"""Of the buffers that have no plan, name no more than it takes: leave out what is not to blame."""

from collections.abc import Callable, Set
from dataclasses import replace

from atoll.memory.blocks import make_blocks
from atoll.memory.effort import Effort, Meter
from atoll.memory.problem import Answer, Infeasible, Problem

MOST = 48
"""Most blocks that are left out one after the other."""

_EFFORT = Effort(nodes=20_000)
"""For all trials together; each may spend its share of what is left."""


def fewest(found: Infeasible, algorithm: Callable[[Problem, Meter], Answer]) -> Infeasible:
    """Leave out buffers of a proven answer as long as the others are proven to have no plan.

    What stays is minimal, unless a trial does not end within its effort or more than `MOST` blocks
    are named: then it may hold buffers that it could do without.

    Args:
        found: with whole blocks; aliases stay together.
        algorithm: answers what is left; an answer that is not proven changes nothing.
    """
    named = set(found.buffers)
    blocks = [b for b in make_blocks(found.problem).blocks if not named.isdisjoint(b.names)]
    if not found.proven or len(blocks) > MOST:
        return found
    meter = Meter(_EFFORT)
    for number, block in enumerate(sorted(blocks, key=lambda each: each.size)):
        rest = named - set(block.names)
        if not rest or rest == named:
            continue
        with meter.share(1 / (len(blocks) - number)):
            answer = algorithm(_part(found.problem, rest), meter)
        if isinstance(answer, Infeasible) and answer.proven:
            named = set(answer.buffers)
    return replace(found, buffers=tuple(name for name in found.buffers if name in named))


def _part(problem: Problem, names: Set[str]) -> Problem:
    """Return the problem of some of the buffers."""

    def inside(groups: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        parts = (tuple(name for name in group if name in names) for group in groups)
        return tuple(part for part in parts if len(part) > 1)

    conflicts = problem.conflicts
    return replace(
        problem,
        buffers=tuple(buffer for buffer in problem.buffers if buffer.name in names),
        conflicts=None
        if conflicts is None
        else frozenset(pair for pair in conflicts if names >= set(pair)),
        overlaps=tuple(
            each for each in problem.overlaps if each.later in names and each.earlier in names
        ),
        aliases=inside(problem.aliases),
        exclusive=inside(problem.exclusive),
        apart=inside(problem.apart),
    )
