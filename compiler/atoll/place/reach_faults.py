# SPDX-License-Identifier: Apache-2.0
"""Say why no pool can hold a tensor, and which edit of the description would help."""

from collections.abc import Sequence

from atoll.diagnostics.errors import Fault
from atoll.diagnostics.units import format_size
from atoll.ir.graph import Graph, Tensor
from atoll.place.missing_moves import missing_moves
from atoll.reach.candidates import Needs, by_preference, roles_of, unmet_needs
from atoll.resolve.soc import Access, Pool, ResolvedSoc

_VERBS = {Access.WRITE: "writes", Access.READ: "reads"}


def unreachable(
    tensor: Tensor, graph: Graph, needs: Needs, soc: ResolvedSoc, cramped: Sequence[str] = ()
) -> Fault:
    """Describe a tensor that has no pool: too large (E061) or out of reach (E060).

    Args:
        tensor: it.
        graph: what it is in.
        needs: access by device.
        soc: the chip.
        cramped: pools that copies of it would be in if they were large enough.
    """
    roles = roles_of(tensor)
    pools = tuple(
        pool
        for pool in by_preference(soc)
        if pool.role in roles and (not tensor.pools or pool.name in tensor.pools)
    )
    names = ", ".join(f"'{name}'" for name in tensor.pools)
    pinned = f" pinned to pool{'s' * (len(tensor.pools) > 1)} {names}" if names else ""
    size = format_size(tensor.size)
    subject = f"tensor '{tensor.name}' ({size}){_users(tensor, graph)}{pinned}"
    reached = tuple(pool.name for pool in pools if not unmet_needs(pool, needs))
    if reached:
        return _too_large(subject, tensor, [max(map(soc.pool, reached), key=_size)])
    if cramped:
        return _too_large(subject, tensor, [soc.pool(name) for name in cramped])
    wanted = ", ".join(f"'{name}' {_VERBS[need]} it" for name, need in needs.items())
    if not pools:
        return Fault(
            code="E060",
            message=f"{subject} has no pool: {wanted}, and the chip has no pool for it",
            remedy=f"add a pool with role '{min(roles - {'both'})}' that these devices reach",
        )
    denials = "; ".join(f"pool '{pool.name}' {_denial(pool, needs)}" for pool in pools)
    closest = min(pools, key=lambda pool: (_small(pool, tensor), len(unmet_needs(pool, needs))))
    return Fault(
        code="E060",
        message=f"{subject} has no pool and no copy helps: {wanted}; {denials}",
        at=closest.at,
        remedy=missing_moves(needs, tensor.size, soc) or _opening_text(closest, tensor, needs),
    )


def _opening_text(pool: Pool, tensor: Tensor, needs: Needs) -> str:
    """Say which edits make `pool` a candidate."""
    lacks = unmet_needs(pool, needs).items()
    edits = [f"'pools.{pool.name}.reach.{name}' to {need}" for name, need in lacks]
    edits += [_enlarge_text(pool, tensor)] * _small(pool, tensor)
    return f"set {', '.join(edits)}"


def _too_large(subject: str, tensor: Tensor, pools: Sequence[Pool]) -> Fault:
    """Describe a tensor for which the largest pool of each place that it has to be in is small."""
    rooms = " and ".join(f"'{pool.name}', has {format_size(pool.room)}" for pool in pools)
    return Fault(
        code="E061",
        message=f"{subject} fits no pool that its devices reach: the largest, {rooms}",
        at=pools[0].at,
        remedy=f"set {' and '.join(_enlarge_text(pool, tensor) for pool in pools)} or more",
        wants=tuple((f"pools.{pool.name}.size", _needed_size(pool, tensor)) for pool in pools),
    )


def _enlarge_text(pool: Pool, tensor: Tensor) -> str:
    return f"'pools.{pool.name}.size' to {format_size(_needed_size(pool, tensor))}"


def _needed_size(pool: Pool, tensor: Tensor) -> int:
    """Return the size of a pool that has room for a tensor beside its heap."""
    return tensor.size + pool.region.size - pool.room


def _small(pool: Pool, tensor: Tensor) -> bool:
    return pool.room < tensor.size


def _users(tensor: Tensor, graph: Graph) -> str:
    maker = next((op.name for op in graph.operators if tensor.name in op.outputs), None)
    readers = [op.name for op in graph.operators if tensor.name in op.reads]
    made = f" from operator '{maker}'" if maker else ""
    read = f" to operator {', '.join(map(repr, readers))}" if readers else ""
    return made + read


def _denial(pool: Pool, needs: Needs) -> str:
    lacks = unmet_needs(pool, needs).items()
    return "gives " + ", ".join(f"'{name}' {pool.reach[name]}, not {need}" for name, need in lacks)


def _size(pool: Pool) -> int:
    return pool.room
