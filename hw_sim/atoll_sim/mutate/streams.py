# SPDX-License-Identifier: Apache-2.0
"""Faults of constants that are copied ahead: a buffer that is taken, or given away, too early."""

from collections.abc import Iterator, Mapping
from random import Random

from atoll.ir.tir import AcceleratorWait, Step
from atoll.memory.problem import MemoryPlan
from atoll_sim.mutate.mutant import Mutant, Right


def swap_early(right: Right, random: Random) -> Mutant | None:
    """Copy over what is still read, or read what is still copied; the contract stays."""
    faults = tuple(faults_of(right))
    return random.choice(faults) if faults else None


def faults_of(right: Right) -> Iterator[Mutant]:
    """Yield all such faults of a build."""
    yield from _copy_too_early(right)
    yield from _read_too_early(right)


def _copy_too_early(right: Right) -> Iterator[Mutant]:
    """Yield programs in which a copy begins before the reader of its buffer has ended."""
    steps, plan = right.compiled.module.entry.steps, right.compiled.plan
    sizes = right.compiled.module.entry.sizes
    copies = _copies(right)
    for start, copied in copies.items():
        for other in (name for at, name in copies.items() if at < start):
            if not _share(plan, sizes, copied, other):
                continue
            readers = [
                at for at in range(start) if other in _stored_buffers(right, steps[at].reads)
            ]
            if not readers:
                continue
            until = readers[-1]
            between = steps[until + 1 : start]
            device = steps[start].device
            if any(step.device == device and not _waits(step) for step in between):
                continue
            waits = [step for step in between if step.device == device]
            kept = [step for step in between if step.device != device]
            order = (*steps[:until], *waits, steps[start], steps[until], *kept)
            what = f"'{steps[start].operator}' copies over '{other}' before"
            yield right.with_steps(
                steps[start].operator,
                f"{what} '{steps[until].operator}' has read it",
                (*order, *steps[start + 1 :]),
            )


def _read_too_early(right: Right) -> Iterator[Mutant]:
    """Yield programs in which a reader begins before the copy of its constants has ended."""
    steps = right.compiled.module.entry.steps
    for start, copied in _copies(right).items():
        first = next(
            (
                at
                for at in range(start + 1, len(steps))
                if copied in _stored_buffers(right, steps[at].reads)
            ),
            None,
        )
        if first is None:
            continue
        ends = [at for at in range(start, first) if steps[at].operator == steps[start].operator]
        end = ends[-1]
        order = (*steps[:end], *steps[end + 1 : first + 1], steps[end], *steps[first + 1 :])
        reader, copy = steps[first].operator, steps[start].operator
        sentence = f"'{reader}' begins before '{copy}' has copied '{copied}'"
        yield right.with_steps(reader, sentence, order)


def _copies(right: Right) -> Mapping[int, str]:
    """Return the buffer that each copy of constants fills, by the position where it begins."""
    entry = right.compiled.module.entry
    constants = {constant.name for constant in entry.constants}
    return {
        at: step.writes[0]
        for at, step in enumerate(entry.steps)
        if constants.issuperset(step.reads) and not _waits(step)
    }


def _stored_buffers(right: Right, names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(right.compiled.module.entry.storage, names))


def _waits(step: Step) -> bool:
    return isinstance(step.action, AcceleratorWait)


def _share(plan: MemoryPlan, sizes: Mapping[str, int], one: str, other: str) -> bool:
    first, second = plan.address(one), plan.address(other)
    return first < second + sizes[other] and second < first + sizes[one]
