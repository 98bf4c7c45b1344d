# SPDX-License-Identifier: Apache-2.0
"""A chip that differs from one that was resolved before in clocks and latencies alone.

No rule depends on these: they take the place of those of the other chip.
"""

from dataclasses import replace
from pathlib import Path

from atoll.description.faults import Faults
from atoll.description.loader import describe, load_parts
from atoll.description.speeds import Parted, part_speeds, with_speeds
from atoll.description.tree import Node, Scalar
from atoll.resolve.draft import Draft
from atoll.resolve.engine_widths import with_widths
from atoll.resolve.pools import speed_of
from atoll.resolve.resolver import resolve
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import share_timeless
from atoll.utils.lazy import LazyTable
from atoll.utils.remember import Alike, remember

CHIPS_AT_HAND = 64
"""Chips that a process keeps by what they are beside speeds, and chips that were made of them."""


def resolve_at_speeds(root: Node, folder: Path) -> ResolvedSoc | None:
    """Return what `root` implies, None where speeds do not tell it from another chip.

    Raises:
        DescriptionError: the description cannot mean a buildable chip.
    """
    parted = part_speeds(root)
    if parted is None:
        return None
    first = _resolve_first(parted, folder)
    told, faults = first.source, Faults()
    assert told is not None
    if told.where is parted.where:
        return first
    parts = load_parts(told.soc, told.where, told.gaps, folder, faults)
    if faults.found or parts != (told.accelerators, told.cores, told.function_units):
        return None  # a file of a core or an accelerator has changed
    return _at_speeds(first, parted)


def _first_key(parted: Parted, folder: Path) -> Alike:
    scalars = (
        entry.value.value
        for key, entry in parted.where.entries.items()
        if isinstance(entry.value, Scalar) and key[2:] not in (("clock",), ("read_latency",))
    )
    return Alike((folder, *scalars), parted.bare)


@remember(_first_key, most=CHIPS_AT_HAND)
def _resolve_first(parted: Parted, folder: Path) -> ResolvedSoc:
    return resolve(describe(parted.where, folder, Faults()))


def _speeds_key(first: ResolvedSoc, parted: Parted) -> Alike:
    sign = first.shape_sign, *parted.clocks.values(), *parted.latencies.values()
    return Alike(sign, first.source, parted.where)


@remember(_speeds_key, most=CHIPS_AT_HAND)
def _at_speeds(first: ResolvedSoc, parted: Parted) -> ResolvedSoc:
    told = first.source
    assert told is not None
    if parted.where == told.where:
        return first  # asked again
    description = replace(told, where=parted.where, soc=with_speeds(told.soc, parted))
    draft = Draft(description=description, faults=Faults())
    memories = tuple(
        replace(each, read_latency=parted.latencies.get(each.name, each.read_latency))
        for each in first.memories
    )
    pools = tuple(
        replace(each, speed=speed_of(draft, draft.soc.pools[each.name])) for each in first.pools
    )
    devices = tuple(
        replace(each, clock=parted.clocks.get(each.name, each.clock)) for each in first.devices
    )
    made = replace(
        first,
        devices=with_widths(devices, pools, memories, first.host),
        memories=memories,
        pools=pools,
        layers=LazyTable(lambda: resolve(description).layers),
        source=description,
    )
    return share_timeless(made, first)
