"""Say why no pool can hold a tensor, and which edit of the description would help."""

from atoll.errors import Fault
from atoll.ir.graph import Graph, Tensor
from atoll.place.candidates import Needs, by_preference, lacking, roles_of
from atoll.place.missing_moves import missing_moves
from atoll.resolve.soc import Access, Pool, ResolvedSoc
from atoll.units import format_size

_VERBS = {Access.WRITE: "writes", Access.READ: "reads"}


def unreachable(tensor: Tensor, graph: Graph, needs: Needs, soc: ResolvedSoc) -> Fault:
    """Describe a tensor that has no pool: too large (E061) or out of reach (E060)."""
    roles = roles_of(tensor)
    pools = tuple(
        pool for pool in by_preference(soc) if pool.role in roles and tensor.pool in ("", pool.name)
    )
    pinned = f" pinned to pool '{tensor.pool}'" if tensor.pool else ""
    size = format_size(tensor.size)
    subject = f"tensor '{tensor.name}' ({size}){_users(tensor, graph)}{pinned}"
    reached = tuple(pool.name for pool in pools if not lacking(pool, needs))
    if reached:
        return _too_large(subject, tensor, max(map(soc.pool, reached), key=_size))
    wanted = ", ".join(f"'{name}' {_VERBS[need]} it" for name, need in needs.items())
    if not pools:
        return Fault(
            code="E060",
            message=f"{subject} has no pool: {wanted}, and the chip has no pool for it",
            remedy=f"add a pool with role '{min(roles - {'both'})}' that these devices reach",
        )
    denials = "; ".join(f"pool '{pool.name}' {_denial(pool, needs)}" for pool in pools)
    closest = min(pools, key=lambda pool: (_small(pool, tensor), len(lacking(pool, needs))))
    return Fault(
        code="E060",
        message=f"{subject} has no pool and no copy helps: {wanted}; {denials}",
        at=closest.at,
        remedy=missing_moves(needs, tensor.size, soc) or _opening(closest, tensor, needs),
    )


def _opening(pool: Pool, tensor: Tensor, needs: Needs) -> str:
    """Say which edits make `pool` a candidate."""
    lacks = lacking(pool, needs).items()
    edits = ", ".join(f"'pools.{pool.name}.reach.{name}' to {need}" for name, need in lacks)
    return f"set {edits}" + (f", and {_enlarge(pool, tensor)}" if _small(pool, tensor) else "")


def _too_large(subject: str, tensor: Tensor, largest: Pool) -> Fault:
    return Fault(
        code="E061",
        message=f"{subject} fits no pool that its devices reach: "
        f"the largest, '{largest.name}', has {format_size(largest.room)}",
        at=largest.at,
        remedy=_enlarge(largest, tensor),
    )


def _enlarge(pool: Pool, tensor: Tensor) -> str:
    return f"enlarge pool '{pool.name}' to at least {format_size(tensor.size)}"


def _small(pool: Pool, tensor: Tensor) -> bool:
    return pool.room < tensor.size


def _users(tensor: Tensor, graph: Graph) -> str:
    maker = next((op.name for op in graph.operators if tensor.name in op.outputs), None)
    readers = [op.name for op in graph.operators if tensor.name in op.inputs]
    made = f" from operator '{maker}'" if maker else ""
    read = f" to operator {', '.join(map(repr, readers))}" if readers else ""
    return made + read


def _denial(pool: Pool, needs: Needs) -> str:
    lacks = lacking(pool, needs).items()
    return "gives " + ", ".join(f"'{name}' {pool.reach[name]}, not {need}" for name, need in lacks)


def _size(pool: Pool) -> int:
    return pool.room
