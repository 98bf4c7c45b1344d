"""Candidate pools of the constants that lowering makes: tables, packed weights, commands."""

from atoll.errors import PlacementError
from atoll.resolve.soc import Access, ResolvedSoc
from atoll.units import format_size


def constant_pools(soc: ResolvedSoc, device: str, name: str, size: int) -> tuple[str, ...]:
    """Return the pools for constants that `device` reads and that hold `size` bytes, best first.

    Raises:
        PlacementError: E060, it reaches none; E061, they are too small.
    """
    reached = [
        pool
        for pool in sorted(soc.pools, key=lambda pool: pool.preference)
        if pool.role in ("constants", "both") and pool.reach[device] is not Access.NONE
    ]
    found = tuple(pool.name for pool in reached if pool.room >= size)
    if not found:
        names = ", ".join(f"'{pool.name}' ({format_size(pool.room)})" for pool in reached)
        raise PlacementError(
            "E061" if reached else "E060",
            f"constant '{name}' ({format_size(size)}) has no pool: '{device}' reads it, and the "
            f"pools for constants that '{device}' reaches are {names or 'none'}",
            remedy=f"let '{device}' reach a pool with role 'constants' of at least "
            f"{format_size(size)}",
        )
    return found
