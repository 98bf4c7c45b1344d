"""Accept or refuse a memory plan. Shares no code with any planner.

Sweeps over the steps with the live buffers ordered by address, so that only neighbours have
to be compared: n log n comparisons for n buffers.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from atoll.errors import Fault, PlanError
from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace


@dataclass(frozen=True, slots=True, order=True)
class _Span:
    """Addresses of a placed buffer."""

    begin: int
    end: int
    buffer: str = field(compare=False)
    pool: str = field(compare=False)

    def __str__(self) -> str:
        return f"'{self.buffer}' in pool '{self.pool}' at {self.begin:#010x}..{self.end - 1:#010x}"


def check(plan: MemoryPlan) -> None:
    """Accept `plan` if it solves its problem.

    Raises:
        PlanError: E063, two buffers share bytes while both are live; E064, a buffer is missing,
            unknown, in a pool that it may not be in, misaligned or outside of its pool.
    """
    faults = tuple(violations(plan))
    if faults:
        raise PlanError.all(faults)


def violations(plan: MemoryPlan) -> Iterator[Fault]:
    """Yield every rule that `plan` breaks."""
    problem = plan.problem
    pools = {pool.name: pool for pool in problem.pools}
    names = [buffer.name for buffer in problem.buffers]
    if len(pools) < len(problem.pools) or len(set(names)) < len(names):
        yield _broken("two pools or two buffers of the problem have one name")
    for stray in sorted(plan.placements.keys() - set(names)):
        yield _broken(f"'{stray}' is placed, but is no buffer of the problem")
    spans: dict[str, _Span] = {}
    for buffer in problem.buffers:
        placement = plan.placements.get(buffer.name)
        faults = tuple(_misplaced(buffer, placement, pools))
        yield from faults
        if placement is not None and placement.pool in pools:
            begin = pools[placement.pool].origin + placement.offset
            spans[buffer.name] = _Span(begin, begin + buffer.size, buffer.name, placement.pool)
    yield from _overlaps([b for b in problem.buffers if b.name in spans], spans)
    yield from _wrong_use(plan, spans)


def _misplaced(
    buffer: Buffer, placement: Placement | None, pools: Mapping[str, PoolSpace]
) -> Iterator[Fault]:
    """Yield what is wrong with where one buffer is, other buffers aside."""
    subject = f"buffer '{buffer.name}'"
    times = [step for interval in buffer.live for step in interval]
    if not times or buffer.size < 1:
        yield _broken(f"{subject} has no bytes, or lives in no step")
    if any(later <= earlier for earlier, later in pairwise(times)):
        yield _broken(f"{subject} has intervals that are empty, unsorted or adjoining")
    if placement is None:
        yield _broken(f"{subject} is not placed")
        return
    if placement.buffer != buffer.name:
        yield _broken(f"{subject} has the placement of '{placement.buffer}'")
    if placement.pool not in buffer.pools or placement.pool not in pools:
        allowed = ", ".join(f"'{name}'" for name in buffer.pools) or "none"
        yield _broken(f"{subject} is in pool '{placement.pool}', but may only be in {allowed}")
    if placement.pool not in pools:
        return
    pool = pools[placement.pool]
    address = pool.origin + placement.offset
    place = f"{subject} in pool '{pool.name}' at {address:#010x}"
    for alignment, owner in ((buffer.alignment, "the buffer"), (pool.alignment, "the pool")):
        if address % alignment:
            yield _broken(f"{place} breaks the alignment of {alignment} bytes of {owner}")
    if placement.offset < 0 or placement.offset + buffer.size > pool.size:
        last = pool.origin + pool.size - 1
        yield _broken(
            f"{place} with {buffer.size} bytes leaves its pool, "
            f"which spans {pool.origin:#010x}..{last:#010x}"
        )


def _overlaps(buffers: list[Buffer], spans: Mapping[str, _Span]) -> Iterator[Fault]:
    """Yield the pairs found to share bytes while both are live, each once."""
    events = sorted(
        (step, starts, buffer.name)
        for buffer in buffers
        for begin, end in buffer.live
        for step, starts in ((begin, True), (end, False))
    )
    live: list[_Span] = []  # disjoint, by address
    reported: set[frozenset[str]] = set()
    for step, starts, name in events:
        span = spans[name]
        position = bisect_left(live, span)
        if not starts:
            if live[position : position + 1] == [span] and live[position].buffer == name:
                live.pop(position)
            continue
        clash = next(
            (
                each
                for each in live[max(position - 1, 0) : position + 1]
                if each.begin < span.end and span.begin < each.end
            ),
            None,
        )
        if clash is None:
            live.insert(position, span)
        elif (pair := frozenset((name, clash.buffer))) not in reported:
            reported.add(pair)
            yield Fault(
                code="E063",
                message=f"two buffers share bytes at step {step}, where both are live: "
                f"{clash} and {span}",
            )


def _wrong_use(plan: MemoryPlan, spans: Mapping[str, _Span]) -> Iterator[Fault]:
    """Yield what the plan says wrongly about its pools."""
    for pool in plan.problem.pools:
        ends = [span.end - pool.origin for span in spans.values() if span.pool == pool.name]
        used, use = max(ends, default=0), plan.use.get(pool.name)
        if use is None:
            yield _broken(f"the plan does not say what it uses of pool '{pool.name}'")
        elif (use.size, use.used) != (pool.size, used):
            yield _broken(
                f"pool '{pool.name}' has {pool.size} bytes and {used} used, "
                f"not {use.size} and {use.used}"
            )
        elif not use.peak <= use.bound <= use.used:
            yield _broken(
                f"pool '{pool.name}' cannot have a peak of {use.peak}, "
                f"a bound of {use.bound} and {use.used} bytes used"
            )


def _broken(message: str) -> Fault:
    return Fault(code="E064", message=message)
