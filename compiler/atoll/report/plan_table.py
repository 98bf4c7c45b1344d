"""A memory plan as a table: what each pool comes to, and how good that is."""

from collections.abc import Iterator

from atoll.columns import laid_out
from atoll.memory.problem import MemoryPlan, PoolUse

_HEADINGS = ("pool", "size", "used", "bound", "gap", "proof")


def plan_table(plan: MemoryPlan, columns: int | None = None) -> str:
    """Return a line for each pool that holds a buffer, sizes in bytes, and one on all of them."""
    rows = laid_out([_HEADINGS, *_rows(plan)], right=range(1, 5), columns=columns)
    lines = [line for row in rows for line in row]
    return "".join(f"{line}\n" for line in (*lines, _summary(plan)))


def proof(use: PoolUse) -> str:
    """Say what is proven of a pool."""
    return "optimal" if use.gap == 0 else "none"


def _rows(plan: MemoryPlan) -> Iterator[tuple[str, ...]]:
    for pool in plan.problem.pools:
        use = plan.use[pool.name]
        if use.used:
            size = f"{use.size:,}" if use.size < 1 << 48 else "-"
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
