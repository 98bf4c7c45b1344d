# SPDX-License-Identifier: Apache-2.0
"""Candidate pools of the constants that lowering makes: tables, packed weights, commands."""

from collections.abc import Sequence

from atoll.diagnostics.errors import Fault, PlacementError
from atoll.diagnostics.units import format_size
from atoll.reach.rooms import has_room
from atoll.resolve.soc import Access, Pool, ResolvedSoc


def constant_pools(
    soc: ResolvedSoc, name: str, size: int, device: str, *others: str
) -> tuple[str, ...]:
    """Return the pools for constants that `device` reads and that hold `size` bytes, best first.

    `others` read them as well; placement has made sure that they can.

    Raises:
        PlacementError: E060, it reaches none; E061, they are too small.
    """
    reached = [
        pool
        for pool in sorted(soc.pools, key=lambda pool: pool.preference)
        if pool.role in ("constants", "both")
        and all(pool.reach[each] is not Access.NONE for each in (device, *others))
    ]
    found = tuple(pool.name for pool in reached if has_room(pool, size, soc))
    if not found:
        raise PlacementError.all([_homeless(reached, device, name, size)])
    return found


def _homeless(reached: Sequence[Pool], device: str, name: str, size: int) -> Fault:
    names = ", ".join(f"'{pool.name}' ({format_size(pool.room)})" for pool in reached)
    message = (
        f"constant '{name}' ({format_size(size)}) has no pool: '{device}' reads it, and the "
        f"pools for constants that '{device}' reaches are {names or 'none'}"
    )
    if not reached:
        remedy = f"let '{device}' reach a pool with role 'constants' of at least"
        return Fault(code="E060", message=message, remedy=f"{remedy} {format_size(size)}")
    largest = max(reached, key=lambda pool: pool.room)
    needed = size + largest.region.size - largest.room
    return Fault(
        code="E061",
        message=message,
        remedy=f"set 'pools.{largest.name}.size' to {format_size(needed)} or more",
        wants=((f"pools.{largest.name}.size", needed),),
    )
