# SPDX-License-Identifier: Apache-2.0
"""The configuration of Vela that goes with a chip, with the values of the chip in it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from atoll.resolve.soc import Pool, ResolvedSoc
from atoll.vela.ini_file import (
    AreaSpeed,
    VelaChoice,
    VelaConfig,
    parse_vela_config,
    vela_config_of,
)
from atoll.vela.memories import NAME, VelaTarget, port_of
from atoll.vela.speeds import area_speed, is_same_scale, pool_speed, speed_of_pool

_OWN = Path("atoll.ini")


def configuration_of(soc: ResolvedSoc, target: VelaTarget) -> VelaConfig:
    """Return what `atoll bsp` writes: the file with the chip's values, else what a build has.

    A key keeps its text where the chip says the same, and where it has no place in a description.
    A file that has constants in the arena's memory, which the chip has not, or the other way round,
    does not count.

    Raises:
        UsageError: E138, E120; the file cannot be read, or has no such sections.
    """
    config = vela_config_of(soc)
    if config is None or config.is_together not in (None, target.is_together):
        return parse_vela_config(target.config, _OWN, VelaChoice(NAME, NAME))
    clock = target.npu.clock
    changes = {} if config.clock in (None, clock) else {"core_clock": str(clock)}
    for area, pool in pools_of_areas(config, target):
        changes |= _changes_of_area(area, soc, target, pool, config.speeds.get(area, AreaSpeed()))
    sized = pool_of_cache(config, target)
    if sized and config.arena_cache_size not in (None, sized.room):
        changes["arena_cache_size"] = str(sized.room)
    return replace(
        config,
        system_values=_with(config.system_values, changes),
        mode_values=_with(config.mode_values, changes),
    )


def pools_of_areas(config: VelaConfig, target: VelaTarget) -> Iterator[tuple[str, Pool]]:
    """Yield each memory of the mode, by Vela's name, with the pool of the chip that it is."""
    arena, constants = config.area(config.arena), config.area(config.constants)
    if arena:
        yield arena, target.arena
    if constants and constants != arena and not target.is_together:
        yield constants, target.constants
    cache = config.area(config.cache)
    if cache and target.cache and cache not in (arena, constants):
        yield cache, target.cache


def pool_of_cache(config: VelaConfig, target: VelaTarget) -> Pool | None:
    """Return the pool whose bytes `arena_cache_size` counts; None if it is not known."""
    cache, arena = config.area(config.cache), config.area(config.arena)
    if cache is None or arena is None:
        return None
    return target.arena if cache == arena else target.cache


def says_the_same(one: VelaConfig, other: VelaConfig) -> bool:
    """Tell whether two configurations have the same names and values, however these are written."""
    return (
        (one.system, one.mode) == (other.system, other.mode)
        and one.clock == other.clock
        and (one.ports, one.constants, one.arena, one.cache, one.arena_cache_size)
        == (other.ports, other.constants, other.arena, other.cache, other.arena_cache_size)
        and {*one.speeds} == {*other.speeds}
        and all(_is_same(speed, other.speeds[area]) for area, speed in one.speeds.items())
        and one.unread == other.unread
    )


def _is_same(one: AreaSpeed, other: AreaSpeed) -> bool:
    scales = one.clock_scale, other.clock_scale
    if None in scales:
        return one == other
    first, second = scales
    assert first is not None
    assert second is not None
    return is_same_scale(first, second) and replace(one, clock_scale=second) == other


def _changes_of_area(
    area: str, soc: ResolvedSoc, target: VelaTarget, pool: Pool, said: AreaSpeed
) -> dict[str, str]:
    """Return the keys of a memory that the chip says otherwise than a file."""
    port, old = port_of(target.npu), speed_of_pool(soc, pool)
    if pool_speed(said, old, port, most_bytes(soc, pool)) == old:
        return {}
    now, key = area_speed(old, port, said.ports), area.lower()
    assert now.clock_scale is not None
    changes = {f"{key}_burst_length": str(now.burst)} if now.burst != said.burst else {}
    if said.clock_scale is None or not is_same_scale(said.clock_scale, now.clock_scale):
        changes[f"{key}_clock_scale"] = f"{float(now.clock_scale):g}"
    if now.read_latency != said.read_latency:
        ways = ("read", "write")
        changes |= {f"{key}_{way}_latency": str(now.read_latency) for way in ways}
    return changes


def most_bytes(soc: ResolvedSoc, pool: Pool) -> int:
    """Return the bytes that the memory of a pool moves in a cycle."""
    memory = soc.memory(pool.region.memory)
    return memory.width * memory.banks


def _with(values: Mapping[str, str], changes: Mapping[str, str]) -> Mapping[str, str]:
    """Return values with others where they are; a key that is not there stays away."""
    return {key: changes.get(key.lower(), text) for key, text in values.items()}
