# SPDX-License-Identifier: Apache-2.0
"""A configuration of Vela put onto a chip: a description that extends the chip's."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from atoll.description.edits import to_yaml_line
from atoll.description.layers import read_layers
from atoll.description.share import find_soc
from atoll.description.tree import Key
from atoll.description.undecided import questions_of
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import cut, printable
from atoll.diagnostics.units import format_frequency, format_size
from atoll.resolve import load_soc, resolve_tree
from atoll.resolve.soc import Access, Npu, Pool, ResolvedSoc
from atoll.vela.configuration import (
    configuration_of,
    most_bytes,
    pool_of_cache,
    pools_of_areas,
    says_the_same,
)
from atoll.vela.ini_file import AreaSpeed, VelaConfig, parse_vela_config
from atoll.vela.memories import VelaTarget, npu_of, port_of, target_of
from atoll.vela.speeds import Port, area_speed, pool_speed, speed_of_pool
from atoll_import.area_text import speed_keys, vela_text
from atoll_import.description_names import path_from
from atoll_import.facts import LeftOut, Source
from atoll_import.imported import Imported
from atoll_import.reader import Given
from atoll_import.vela import areas_in_use, omissions, port_source, source_of

_LONGEST = 100
_HEAD = """\
# yaml-language-server: $schema=./soc.schema.json
# Made by 'atoll import' from {file} on top of {chip}.
soc: {name}
version: 1
extends: {base}
"""

Change = tuple[Key, tuple[str, Source]]
"""A key of the description, its value, and where the file says so."""


def put_onto(given: Given, form: str, chip: str, target: Path) -> Imported:
    """Return a description that extends a chip with what a configuration of Vela says of it.

    Args:
        given: the file.
        form: name of its format.
        chip: a description's path, or the name of a shipped chip.
        target: the file that the text is for.

    Raises:
        UsageError: E090, the file is of another format, or the chip has no such NPU; E138, the
            file is damaged; E120, it has several configurations, or the chip has another NPU.
        DescriptionError: the description of the chip has faults.
        PlacementError: E144; Vela cannot be told of the chip.
    """
    if form != "vela":
        message = f"--onto: '{given.path}' is of format {form}"
        raise UsageError("E090", message, remedy="name a configuration file of Vela")
    config = parse_vela_config(given.text, given.path, given.choice)
    if find_soc(chip).resolve() == target.resolve():
        message = f"--onto: '{chip}' would extend itself"
        raise UsageError("E090", message, remedy="write to another file with -o")
    soc = load_soc(chip)
    npu = npu_of(soc)
    if npu is None:
        message = f"--onto: chip '{soc.name}' has no Ethos-U"
        raise UsageError("E090", message, remedy="describe one as a device, or leave --onto out")
    vela = target_of(soc, npu)
    if given.device.lower() not in ("", vela.accelerator):
        message = f"chip '{soc.name}' has {vela.accelerator}, not '{cut(given.device, _LONGEST)}'"
        raise UsageError("E120", printable(message), remedy="leave --device out, or put it right")
    return _Onto(soc, npu, vela, config).description(chip, target)


class _Onto:
    """Puts a configuration onto a chip."""

    def __init__(self, soc: ResolvedSoc, npu: Npu, target: VelaTarget, config: VelaConfig) -> None:
        self._soc, self._npu, self._target, self._config = soc, npu, target, config
        self._left_out: list[LeftOut] = []

    def description(self, chip: str, target: Path) -> Imported:
        """Return the description for the file `target`."""
        changes = dict((*self._clock(), *self._mode(), *self._speeds(), *self._size()))
        base = chip if find_soc(chip) != Path(chip) else path_from(target.parent, Path(chip))
        head = _HEAD.format(
            file=cut(printable(self._config.path.name), _LONGEST),
            chip=cut(printable(base), _LONGEST),
            name=to_yaml_line(self._soc.name),
            base=to_yaml_line(base),
        )
        text = head + "".join(f"{line}\n" for line in self._lines(changes))
        soc = resolve_tree(read_layers(target, text=text), target.parent)
        npu = npu_of(soc)
        assert npu is not None, "it is that of the chip below"
        if not says_the_same(configuration_of(soc, target_of(soc, npu)), self._config):
            text += f"\nvela: {vela_text(self._config, target.parent)}\n"
        return Imported(
            text, questions_of(text, target), (*omissions(self._config), *self._left_out)
        )

    @property
    def _port(self) -> Port:
        """The NPU's port, at the clock that the file says."""
        return Port(port_of(self._npu).width, self._config.clock or self._npu.clock)

    def _clock(self) -> Iterator[Change]:
        clock = self._config.clock
        if clock not in (None, self._npu.clock):
            key = ("devices", self._npu.name, "clock")
            yield key, (format_frequency(self._port.clock), self._source("core_clock"))

    def _mode(self) -> Iterator[Change]:
        """Yield roles and reach by where the mode has constants."""
        key, together, npu = "const_mem_area", self._config.is_together, self._npu.name
        if together is None or together == self._target.is_together:
            return
        arena = self._target.arena
        if not together:
            area = self._config.area(self._config.constants)
            why = f"'{npu}' reads no constants outside memory '{arena.region.memory}': give a pool"
            why += f" there a 'reach' of '{npu}: ro', and a 'preference' before others"
            self._leave_out(f"memory {area}", why, key)
            return
        if arena.provided == "application":
            why = f"the application provides pool '{arena.name}', where the image has no constants"
            self._leave_out(f"{key} {self._config.constants}", why, key)
            return
        if arena.role != "both":
            yield ("pools", arena.name, "role"), ("both", self._source(key))
        for pool in self._soc.pools:
            outside = pool.region.memory != arena.region.memory
            if outside and pool.holds_constants and pool.reach[npu] is not Access.NONE:
                yield ("pools", pool.name, "reach", npu), ("none", self._source(key))

    def _speeds(self) -> Iterator[Change]:
        known = dict(pools_of_areas(self._config, self._target))
        for area, uses in areas_in_use(self._config).items():
            if area in known:
                yield from self._speed(area, known[area])
            elif uses == ["cache"]:
                why = f"it is apart from the arena, and '{self._npu.name}' writes pools of"
                why += f" no other memory than '{self._target.arena.region.memory}', or of several"
                self._leave_out(f"memory {area}", why, "cache_mem_area")

    def _speed(self, area: str, pool: Pool) -> Iterator[Change]:
        said = self._config.speeds.get(area, AreaSpeed())
        old = speed_of_pool(self._soc, pool)
        new = pool_speed(said, old, self._port, most_bytes(self._soc, pool))
        was = speed_keys(old)
        for key, text in speed_keys(new).items():
            if was.get(key) != text:
                yield ("pools", pool.name, key), (text, port_source(self._config, area))
        cycles = area_speed(new, self._port).read_latency
        if said.read_latency not in (None, cycles):
            why = f"pool '{pool.name}' counts cycles of {format_frequency(new.clock)}, of which"
            why += f" {new.latency} are {cycles} of the NPU"
            self._leave_out(f"{area}_read_latency {said.read_latency}", why, f"{area}_read_latency")

    def _size(self) -> Iterator[Change]:
        """Yield the size of the pool of the cache; what would be a larger arena is none."""
        key, size = "arena_cache_size", self._config.arena_cache_size
        pool, arena = pool_of_cache(self._config, self._target), self._target.arena
        if size is None or pool is None or size == pool.room:
            return
        most = self._most(pool) if pool == arena else min(self._most(pool), arena.room - 1)
        whole = size + pool.region.size - pool.room
        if not 0 < whole <= most:
            why = f"pool '{pool.name}' has 1 to {most:,} bytes"
            self._leave_out(f"{key} {size}", why, key)
            return
        yield ("pools", pool.name, "size"), (format_size(whole), self._source(key))
        for other in self._target.workspaces if pool == arena else ():
            if other != arena and other.room >= size:
                reach = ("pools", other.name, "reach", self._npu.name)
                yield reach, ("none", self._source("arena_mem_area"))

    def _most(self, pool: Pool) -> int:
        """Return the bytes from the begin of a pool to what comes behind it in its memory."""
        memory = self._soc.memory(pool.region.memory)
        behind = (each.origin for each in self._soc.regions() if each.origin >= pool.region.end)
        return min((memory.origin + memory.size, *behind)) - pool.region.origin

    def _source(self, key: str) -> Source:
        return source_of(self._config, key, key)

    def _leave_out(self, what: str, why: str, key: str) -> None:
        self._left_out.append(LeftOut(what, why, source_of(self._config, key)))

    def _lines(self, changes: Mapping[Key, tuple[str, Source]]) -> Iterator[str]:
        """Yield the changes as entries of a description, with what each comes from."""
        for section in dict.fromkeys(key[0] for key in changes):
            yield f"\n{section}:"
            names = dict.fromkeys(key[1] for key in changes if key[0] == section)
            for name in names:
                mine = {key[2:]: v for key, v in changes.items() if key[:2] == (section, name)}
                sources = dict.fromkeys(source for _, source in mine.values())
                for source in sources:
                    yield f"  # {cut(printable(str(source)), _LONGEST)}"
                yield f"  {name}:"
                yield from (f"    {line}" for line in _entries(mine))


def _entries(values: Mapping[Key, tuple[str, Source]]) -> Iterator[str]:
    for key, (text, _) in values.items():
        *outer, last = key
        yield f"{outer[0]}: {{{last}: {text}}}" if outer else f"{last}: {text}"
