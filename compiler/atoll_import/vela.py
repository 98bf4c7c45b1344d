# SPDX-License-Identifier: Apache-2.0
"""The Ethos-U of a configuration file of Vela, and the memories at its ports."""

import re
from collections.abc import Iterator
from dataclasses import replace

from atoll.resolve.soc import PoolSpeed
from atoll.vela.ini_file import (
    AREAS,
    SYSTEM,
    AreaSpeed,
    VelaConfig,
    parse_vela_config,
)
from atoll.vela.speeds import PORT_BYTES, Port, pool_speed
from atoll_import.engines import ethos_u_named
from atoll_import.facts import Area, Engine, Facts, LeftOut, Source
from atoll_import.reader import Given, Importer

_NPU = "ethos_u"
_SECTION = re.compile(r"^\[(?:System_Config|Memory_Mode)\.", re.MULTILINE)
_FROM_FILE = "'atoll bsp' writes it as it is in the file"
_WIDEST = 16
"""Bytes that a memory of a description moves in a cycle at most."""


class VelaIni(Importer):
    """Reads ``vela.ini``."""

    suffixes = (".ini",)

    def recognises(self, given: Given) -> bool:
        """Tell by a section of Vela's."""
        return bool(_SECTION.search(given.head))

    def read(self, given: Given) -> Facts:
        """Return the NPU and the memories of a system configuration and a memory mode.

        Raises:
            UsageError: E138, E120.
        """
        config = parse_vela_config(given.text, given.path, given.choice)
        accelerator, macs = ethos_u_named(given.device)
        npu = Engine(
            name=_NPU,
            accelerator=accelerator,
            moves=False,
            registers=None,
            irq=None,
            clock=config.clock,
            macs=macs,
            runs_vela=True,
            source=source_of(config, f"{SYSTEM}{config.system}", config.system),
        )
        port = Port(PORT_BYTES[accelerator], config.clock) if accelerator and config.clock else None
        return Facts(
            engines=(npu,),
            areas=tuple(_areas(config, port)),
            vela=config,
            left_out=() if port else tuple(_without_speed(config)),
        )


IMPORTER = VelaIni()


def source_of(config: VelaConfig, key: str, what: str = "") -> Source:
    """Return where a file has a key, or a section."""
    return Source(config.path, config.lines.get(key, config.lines.get(key.lower(), 0)), what)


def port_source(config: VelaConfig, area: str) -> Source:
    """Return where a file says at which port a memory is."""
    port = next(port for port, name in config.ports.items() if name == area)
    return source_of(config, f"{port}_port", area)


def areas_in_use(config: VelaConfig) -> dict[str, list[str]]:
    """Return what a mode uses each memory for, by Vela's name: `const`, `arena` and `cache`."""
    ports = {"const": config.constants, "arena": config.arena, "cache": config.cache}
    found: dict[str, list[str]] = {area: [] for area in config.ports.values()}
    for use, port in ports.items():
        if area := config.area(port):
            found[area].append(use)
    return {area: uses for area, uses in found.items() if uses}


def omissions(config: VelaConfig) -> Iterator[LeftOut]:
    """Yield what a file has and no description has a place for."""
    for area in config.speeds:
        if area not in areas_in_use(config):
            key = next(key for key in config.lines if key.startswith(f"{area.lower()}_"))
            why = f"memory mode '{config.mode}' uses no port that has it; {_FROM_FILE}"
            yield LeftOut(f"speed of {area}", why, source_of(config, key))
    if config.unread:
        why = f"a description has no place for it; {_FROM_FILE}"
        yield LeftOut(", ".join(config.unread), why, source_of(config, next(iter(config.unread))))
    for area, speed in config.speeds.items():
        key = f"{area}_write_latency"
        said = (speed.read_latency, speed.write_latency)
        if area in areas_in_use(config) and None not in said and said[0] != said[1]:
            why = f"a pool has one latency, that of reads; {_FROM_FILE}"
            yield LeftOut(key, why, source_of(config, key))


def with_areas(facts: Facts) -> Facts:
    """Return what files say without the memories of Vela's configuration, if they have others."""
    if not facts.memories:
        left_out = tuple(omissions(facts.vela)) if facts.vela else ()
        return replace(facts, left_out=(*facts.left_out, *left_out))
    why = "no file says which memory it is: answer the questions, then use --onto with the chip"
    left_out = tuple(LeftOut(f"memory {area.name}", why, area.source) for area in facts.areas)
    return replace(facts, areas=(), vela=None, left_out=(*facts.left_out, *left_out))


def _without_speed(config: VelaConfig) -> Iterator[LeftOut]:
    why = "what it means depends on the NPU: name it, for example with --device ethos-u55-128"
    if config.clock is None:
        why = "the file has no core_clock, of which it is a part"
    for area in areas_in_use(config):
        if config.speeds.get(area):
            yield LeftOut(f"speed of {area}", why, source_of(config, f"{area}_clock_scale"))


def _areas(config: VelaConfig, port: Port | None) -> Iterator[Area]:
    for area, uses in areas_in_use(config).items():
        roles = {"const" in uses: "constants", bool({*uses} & {"arena", "cache"}): "workspace"}
        yield Area(
            name=area,
            is_ram=AREAS[area] == "ram",
            role=roles[True] if len(uses) == 1 or "const" not in uses else "both",
            speed=_speed(config.speeds.get(area, AreaSpeed()), port),
            size=config.arena_cache_size if "cache" in uses else None,
            source=port_source(config, area),
        )


def _speed(said: AreaSpeed, port: Port | None) -> PoolSpeed | None:
    """Return the speed of a pool; None if a file does not say all of it."""
    if port is None or None in (said.clock_scale, said.read_latency):
        return None
    slowest = PoolSpeed(read_bandwidth=1, write_bandwidth=1, latency=0, burst=0, clock=1)
    return pool_speed(said, slowest, port, _WIDEST)
