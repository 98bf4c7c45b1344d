# SPDX-License-Identifier: Apache-2.0
"""A memory plan as a table: what each pool comes to, and how good that is."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.diagnostics.columns import table_lines
from atoll.memory.problem import MemoryPlan, PoolUse
from atoll.resolve.soc import ResolvedSoc

_HEADINGS = ("pool", "size", "used", "bound", "gap", "proof")


def plan_table(plan: MemoryPlan, columns: int | None = None) -> str:
    """Return a line for each pool that holds a buffer, sizes in bytes, and one on all of them."""
    return _lines_of([_HEADINGS, *_rows(plan)], columns) + f"{_summary(plan)}\n"


def together_table(
    soc: ResolvedSoc, plans: Mapping[str, MemoryPlan], columns: int | None = None
) -> str:
    """Return a line for each pool that any network of one firmware uses, by network and in all."""
    rows = [("pool", "size", *plans, "together", "because")]
    for pool in soc.pools:
        if used := total_use(soc, plans).get(pool.name):
            each = (f"{plan.use[pool.name].used:,}" for plan in plans.values())
            alone = [plan.use[pool.name].used for plan in plans.values()]
            how = "the largest" if used == max(alone) else "side by side"
            rows.append((pool.name, f"{pool.region.size:,}", *each, f"{used:,}", how))
    return _lines_of(rows, columns)


def total_use(soc: ResolvedSoc, plans: Mapping[str, MemoryPlan]) -> dict[str, int]:
    """Return how many bytes of each pool the networks of one firmware need in all."""
    used = {pool.name: 0 for pool in soc.pools}
    for plan in plans.values():
        for space in plan.problem.pools:
            if bytes_ := plan.use[space.name].used:
                end = space.origin + bytes_ - soc.pool(space.name).region.origin
                used[space.name] = max(used[space.name], end)
    return {name: bytes_ for name, bytes_ in used.items() if bytes_}


def _lines_of(rows: Sequence[tuple[str, ...]], columns: int | None) -> str:
    """Return rows as lines: the first and the last column to the left, figures to the right."""
    right = range(1, len(rows[0]) - 1)
    return "".join(f"{line}\n" for line in table_lines(rows, right=right, columns=columns))


def proof(use: PoolUse) -> str:
    """Say what is proven of a pool."""
    return "optimal" if use.gap == 0 else "none"


def _rows(plan: MemoryPlan) -> Iterator[tuple[str, ...]]:
    for pool in plan.problem.pools:
        use = plan.use[pool.name]
        if use.used:
            size = "-" if use.limit is None else f"{use.limit:,}"
            figures = (f"{use.used:,}", f"{use.bound:,}", f"{use.gap:,}")
            yield (pool.name, size, *figures, proof(use))


def _summary(plan: MemoryPlan) -> str:
    buffers = len(plan.problem.buffers)
    words = [f"{buffers} buffer{'s' if buffers != 1 else ''}"]
    if plan.problem.overlaps:
        words.append(f"{len(plan.problem.overlaps)} may lie over an operand")
    if plan.algorithm:
        words.append(f"planned by {plan.algorithm}")
    return ", ".join(words)
