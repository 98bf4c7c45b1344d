# SPDX-License-Identifier: Apache-2.0
"""A chip that differs from one that was resolved before in clocks and latencies alone.

No rule depends on these: they take the place of those of the other chip.
"""

from dataclasses import replace
from pathlib import Path

from atoll.description.faults import Faults
from atoll.description.loader import describe, load_parts, override
from atoll.description.speeds import CLOCK, LATENCY, OtherSpeeds, Speeds, part_speeds, speeds_of
from atoll.description.tree import Node
from atoll.diagnostics.errors import DescriptionError
from atoll.resolve.engine_widths import with_widths
from atoll.resolve.pools import speed_of
from atoll.resolve.resolver import resolve
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import share_timeless
from atoll.utils.lazy import LazyTable
from atoll.utils.remember import Alike, remember

CHIPS_AT_HAND = 64
"""Chips that a process keeps by what they are beside speeds, and chips that were made of them."""


def resolve_at_speeds(root: Node, folder: Path, overrides: tuple[str, ...]) -> ResolvedSoc | None:
    """Return what `root` with overrides implies, by a chip that differs in speeds; None without it.

    Raises:
        DescriptionError: the description cannot mean a buildable chip.
        UsageError: an override is malformed or names an unknown key.
    """
    others, speeds = part_speeds(overrides)
    try:
        first = _resolve_first(root, folder, others)
    except DescriptionError:
        if speeds:
            return None  # with these it may have other faults
        raise
    told, faults = first.source, Faults()
    assert told is not None
    parts = load_parts(told.soc, told.where, told.gaps, folder, faults)
    if faults.found or parts != (told.accelerators, told.cores, told.function_units):
        return None  # a file of a core or an accelerator has changed
    return at_speeds(first, speeds) if speeds else first


def at_speeds(first: ResolvedSoc, overrides: tuple[str, ...]) -> ResolvedSoc | None:
    """Return a chip with overrides that all set speeds; None if they do not, or not its own."""
    (others, _), told = part_speeds(overrides), first.told
    if others or told is None:
        return None
    if isinstance(told, OtherSpeeds):
        other = OtherSpeeds(told.first, (*told.texts, *overrides))
    else:
        other = OtherSpeeds(told, overrides)
    speeds, soc = speeds_of(overrides), other.first.soc
    parts = {CLOCK: {*soc.devices}, LATENCY: {*soc.memories}}
    alike = any(each.alias_of for each in soc.memories.values())
    if alike or not all(name in parts[key] for key, name in speeds):
        return None
    return _at_speeds(first, other, speeds)


def _first_key(root: Node, folder: Path, overrides: tuple[str, ...]) -> Alike:
    return Alike((str(folder), Path.cwd(), *overrides), root)


@remember(_first_key, most=CHIPS_AT_HAND)
def _resolve_first(root: Node, folder: Path, overrides: tuple[str, ...]) -> ResolvedSoc:
    return resolve(describe(override(root, overrides), folder, Faults()))


def _speeds_key(first: ResolvedSoc, told: OtherSpeeds, _speeds: Speeds) -> Alike:
    return Alike((*told.texts, first.shape_sign), told, first.host)


@remember(_speeds_key, most=CHIPS_AT_HAND)
def _at_speeds(first: ResolvedSoc, told: OtherSpeeds, speeds: Speeds) -> ResolvedSoc:
    """Return a chip with other speeds; what these do not change, both have."""
    memories = tuple(
        replace(each, read_latency=speeds[LATENCY, each.name])
        if (LATENCY, each.name) in speeds
        else each
        for each in first.memories
    )
    clocks = {name: value for (key, name), value in speeds.items() if key == CLOCK}
    clock = clocks.get(first.host, first.host_cpu.clock)
    by_name, models = {each.name: each for each in memories}, told.first.soc.pools
    measured = (
        (each, speed_of(models[each.name], by_name[each.region.memory], clock))
        for each in first.pools
    )
    pools = tuple(
        each if each.speed == speed else replace(each, speed=speed) for each, speed in measured
    )
    made = replace(
        first,
        devices=with_widths(first.devices, pools, memories, first.host, clocks),
        memories=memories,
        pools=pools,
        layers=LazyTable(lambda: resolve(told.description()).layers),
        told=told,
    )
    return share_timeless(made, first)
