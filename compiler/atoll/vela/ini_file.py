# SPDX-License-Identifier: Apache-2.0
"""Configuration files of Vela (``vela.ini``): how fast an Ethos-U reaches what is at its ports.

Source: ``OPTIONS.md`` and ``architecture_features.py`` of ethos-u-vela. A file has several system
configurations and memory modes, of which Vela is told one each.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from configparser import (
    ConfigParser,
    DuplicateOptionError,
    DuplicateSectionError,
    Error,
    MissingSectionHeaderError,
    ParsingError,
)
from dataclasses import field
from fractions import Fraction
from pathlib import Path
from typing import NoReturn

from atoll.diagnostics.errors import SourceLoc, UsageError
from atoll.diagnostics.shown import cut, printable
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.vendor_text import MOST_CHARACTERS, vendor_text

SYSTEM, MODE = "System_Config.", "Memory_Mode."
"""How names of the two kinds of sections begin."""

AREAS = {"Sram": "ram", "Dram": "ram", "OnChipFlash": "rom", "OffChipFlash": "rom"}
"""Vela's names of memories, with the kind of each."""

PORTS = ("Axi0", "Axi1")
USES = ("const_mem_area", "arena_mem_area", "cache_mem_area")
_READ = re.compile(
    r"core_clock|axi[01]_port|arena_cache_size|(?:const|arena|cache)_mem_area"
    rf"|(?:{'|'.join(AREAS)})_(?:clock_scale|ports_used|burst_length|(?:read|write)_latency)",
    re.IGNORECASE,
)
_MOST_NAMED = 12
_MOST_HERTZ = 10**11
_MOST_SIZE = 2**40
_NUMBER = re.compile(r"\d{1,20}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,2})?|\.\d{1,20}")
_WHOLE = re.compile(r"\d{1,18}")
_HEADER = re.compile(r"\[(.+)\]")
_KEY = re.compile(r"[^\s=:#;\[][^=:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaSpeed:
    """How fast an NPU reaches a memory; what is None a file does not say.

    Attributes:
        clock_scale: bytes in a cycle of the NPU, as a part of a port's; more than 0, at most 1.
        ports: of the NPU, that reach it at once.
        burst: bytes of a burst.
        read_latency, write_latency: cycles of the NPU.
    """

    clock_scale: Fraction | None = None
    ports: int = 1
    burst: int | None = None
    read_latency: int | None = None
    write_latency: int | None = None


@dataclass(frozen=True, slots=True)
class VelaChoice:
    """What Vela is told beside a file; empty is not said.

    Attributes:
        system, mode: names of a system configuration and of a memory mode.
    """

    system: str = ""
    mode: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VelaConfig:
    """A system configuration and a memory mode of a file; what is None it does not say.

    Attributes:
        path: of the file.
        system, mode: their names.
        system_values, mode_values: all keys of both as they are written, with inherited ones.
        clock: of the NPU, in hertz.
        ports: name of the memory at each port.
        speeds: of each memory that has values.
        constants, arena, cache: the port of each.
        arena_cache_size: bytes of the memory at the port of the cache.
        lines: where each key is, in small letters, and each of both sections; from 1.
    """

    path: Path
    system: str
    mode: str
    system_values: Mapping[str, str]
    mode_values: Mapping[str, str]
    clock: int | None = None
    ports: Mapping[str, str] = field(default_factory=dict)
    speeds: Mapping[str, AreaSpeed] = field(default_factory=dict)
    constants: str | None = None
    arena: str | None = None
    cache: str | None = None
    arena_cache_size: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)

    def area(self, port: str | None) -> str | None:
        """Return the memory at a port; None if one of them is not said."""
        return self.ports.get(port) if port else None

    @property
    def is_together(self) -> bool | None:
        """Return whether constants are in the memory of the arena; None if it is not said."""
        known = self.area(self.constants), self.area(self.arena)
        return None if None in known else known[0] == known[1]

    @property
    def unread(self) -> Mapping[str, str]:
        """Return the values that no field has."""
        said = {**self.system_values, **self.mode_values}
        return {key: text for key, text in said.items() if not _READ.fullmatch(key)}


def vela_config_of(soc: ResolvedSoc) -> VelaConfig | None:
    """Return the configuration of Vela that goes with a chip, None if there is none.

    Raises:
        UsageError: E138, E120; as `parse_vela_config`, or it cannot be read.
    """
    if soc.vela is None:
        return None
    path = soc.vela.path
    text = vendor_text(path, soc.vela.at, "name a configuration file of Vela")
    choice = VelaChoice(soc.vela.system_config, soc.vela.memory_mode)
    try:
        return parse_vela_config(text, path, choice)
    except UsageError as error:
        (found,) = error.faults
        if found.code != "E120":
            raise
        remedy = "correct 'vela.system_config' or 'vela.memory_mode' of the chip"
        raise UsageError("E120", found.message, at=soc.vela.at, remedy=remedy) from error


def parse_vela_config(text: str, path: Path, choice: VelaChoice) -> VelaConfig:
    """Return a system configuration and a memory mode of a file with this text.

    Args:
        text: of the file.
        path: of the file, for messages.
        choice: names of both; one that is empty is that of the only one.

    Raises:
        UsageError: E138, the file is damaged; E120, it has several, or none of that name.
    """
    return _Reader(text, path).config(choice)


class _Reader:
    """Reads a file."""

    def __init__(self, text: str, path: Path) -> None:
        self._path = path
        self._lines: dict[tuple[str, str], int] = {}
        self._spelled: dict[str, str] = {}
        self._parser = ConfigParser(interpolation=None)
        if len(text) > MOST_CHARACTERS:
            self._refuse(0, f"the file is longer than {MOST_CHARACTERS:,} characters")
        try:
            self._parser.read_string(text)
        except MissingSectionHeaderError as fault:
            self._refuse(fault.lineno, "not a configuration file: a line before any '[section]'")
        except DuplicateSectionError as fault:
            self._refuse(
                fault.lineno or 0, f"section '{_short(str(fault.section))}' is there twice"
            )
        except DuplicateOptionError as fault:
            self._refuse(fault.lineno or 0, f"key '{_short(fault.option)}' is there twice")
        except ParsingError as fault:
            self._refuse(fault.errors[0][0], "not a configuration file: a line is no 'key=value'")
        except (Error, AttributeError):
            self._refuse(0, "not a configuration file")
        self._index(text)

    def config(self, choice: VelaChoice) -> VelaConfig:
        """Return what the file says under these names."""
        system = self._name(SYSTEM, choice.system, "--system-config", "system configuration")
        mode = self._name(MODE, choice.mode, "--memory-mode", "memory mode")
        said = {name: self._values(name) for name in (SYSTEM + system, MODE + mode)}
        system_said, mode_said = said.values()
        ports = {
            port: self._one_of(system_said, f"{port.lower()}_port", (*AREAS,)) for port in PORTS
        }
        constants, arena, cache = (self._one_of(mode_said, key, PORTS) for key in USES)
        speeds = {area: self._speed(system_said, area) for area in AREAS}
        config = VelaConfig(
            path=self._path,
            system=system,
            mode=mode,
            system_values={
                self._spelled.get(key, key): text for key, (text, _) in system_said.items()
            },
            mode_values={self._spelled.get(key, key): text for key, (text, _) in mode_said.items()},
            clock=self._clock(system_said),
            ports={port: area for port, area in ports.items() if area},
            speeds={area: speed for area, speed in speeds.items() if speed != AreaSpeed()},
            constants=constants,
            arena=arena,
            cache=cache,
            arena_cache_size=self._whole(mode_said, "arena_cache_size", 0, _MOST_SIZE),
            lines={key: line for values in said.values() for key, (_, line) in values.items()}
            | {section: self._lines.get((section, ""), 0) for section in said},
        )
        self._check(config)
        return config

    def _check(self, config: VelaConfig) -> None:
        """Refuse a mode that Vela refuses, such as constants in Sram beside an arena elsewhere."""
        uses = dict(zip(USES, (config.constants, config.arena, config.cache), strict=True))
        one_port = len({*uses.values()}) == 1
        allowed = {
            "const_mem_area": {*AREAS} if one_port else {*AREAS} - {"Sram"},
            "arena_mem_area": {"Sram", "Dram"},
            "cache_mem_area": {"Sram"},
        }
        for key, port in uses.items():
            area = config.area(port)
            if area is not None and area not in allowed[key]:
                choices = " or ".join(each for each in AREAS if each in allowed[key])
                what = f"'{key}' of memory mode '{_short(config.mode)}' is {port}, where system"
                what += f" configuration '{_short(config.system)}' has {area}; Vela takes {choices}"
                self._refuse(config.lines[key], what, "choose another mode or configuration")

    def _index(self, text: str) -> None:
        """Note where sections and keys are, and how keys are spelled."""
        section = ""
        for number, line in enumerate(text.split("\n"), 1):
            if header := _HEADER.match(line.strip()):
                section = header[1]
                self._lines[section, ""] = number
            elif key := _KEY.match(line):
                plain = key[0].strip().lower()
                self._lines[section, plain] = number
                self._spelled.setdefault(plain, key[0].strip())

    def _name(self, prefix: str, name: str, option: str, what: str) -> str:
        """Return the name of the section that is wanted, without what it begins with."""
        known = [each.removeprefix(prefix) for each in self._parser if each.startswith(prefix)]
        if not known:
            self._refuse(0, f"no configuration of Vela: it has no section '[{prefix}...]'")
        if name in known or (not name and len(known) == 1):
            return name or known[0]
        more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
        names = ", ".join(_short(each) for each in known[:_MOST_NAMED]) + more
        described = f"no {what} '{_short(name)}', but" if name else f"several {what}s:"
        raise UsageError(
            "E120",
            f"'{self._path}' has {described} {names}",
            remedy=f"name one with {option}",
        )

    def _values(self, section: str) -> dict[str, tuple[str, int]]:
        """Return the values of a section by key in small letters, with lines; first inherited."""
        chain = [section]
        while parent := self._parser[chain[-1]].get("inherit"):
            line = self._lines.get((chain[-1], "inherit"), 0)
            if parent not in self._parser:
                what = f"'inherit' names section '{_short(parent)}', which the file has not"
                self._refuse(line, what, "name a section, such as Memory_Mode.Shared_Sram")
            if parent in chain:
                self._refuse(line, f"section '{_short(parent)}' inherits itself", "remove a line")
            chain.append(parent)
        return {
            key: (text, self._lines.get((each, key), self._lines.get((each, ""), 0)))
            for each in reversed(chain)
            for key, text in self._parser[each].items()
            if key != "inherit"
        }

    def _speed(self, said: Mapping[str, tuple[str, int]], area: str) -> AreaSpeed:
        name = area.lower()
        scale = self._number(said, f"{name}_clock_scale", "a number above 0, and at most 1")
        if scale is not None and not 0 < scale <= 1:
            self._wrong(said, f"{name}_clock_scale", "a number above 0, and at most 1")
        return AreaSpeed(
            clock_scale=scale,
            ports=self._whole(said, f"{name}_ports_used", 1, 16) or 1,
            burst=self._whole(said, f"{name}_burst_length", 1, 2**16),
            read_latency=self._whole(said, f"{name}_read_latency", 0, 2**16),
            write_latency=self._whole(said, f"{name}_write_latency", 0, 2**16),
        )

    def _clock(self, said: Mapping[str, tuple[str, int]]) -> int | None:
        form = "a frequency in hertz, such as 500e6"
        clock = self._number(said, "core_clock", form)
        if clock is None:
            return None
        if not 1 <= clock <= _MOST_HERTZ:
            self._wrong(said, "core_clock", form)
        return round(clock)

    def _number(self, said: Mapping[str, tuple[str, int]], key: str, form: str) -> Fraction | None:
        if key not in said:
            return None
        if not _NUMBER.fullmatch(said[key][0]):
            self._wrong(said, key, form)
        return Fraction(said[key][0])

    def _whole(
        self, said: Mapping[str, tuple[str, int]], key: str, least: int, most: int
    ) -> int | None:
        if key not in said:
            return None
        text = said[key][0]
        if not _WHOLE.fullmatch(text) or not least <= int(text) <= most:
            self._wrong(said, key, f"a whole number from {least} to {most:,}")
        return int(text)

    def _one_of(
        self, said: Mapping[str, tuple[str, int]], key: str, words: Sequence[str]
    ) -> str | None:
        if key in said and said[key][0] not in words:
            self._wrong(said, key, " or ".join(words))
        return said[key][0] if key in said else None

    def _wrong(self, said: Mapping[str, tuple[str, int]], key: str, form: str) -> NoReturn:
        text, line = said[key]
        what = f"'{self._spelled.get(key, key)}' is '{_short(text)}', not {form}"
        self._refuse(line, what, f"write {form}")

    def _refuse(self, line: int, what: str, remedy: str = "") -> NoReturn:
        at = SourceLoc(self._path, line, 1) if line else None
        message = what if at else f"'{self._path}': {what}"
        remedy = remedy or "get the file again from where it comes from"
        raise UsageError("E138", message, at=at, remedy=remedy)


def _short(text: str) -> str:
    return cut(printable(text), 60)


def section_lines(config: VelaConfig) -> Iterator[str]:
    """Yield the text of both sections, without the values that are only inherited elsewhere."""
    yield f"[{SYSTEM}{config.system}]"
    yield from (f"{key}={text}" for key, text in config.system_values.items())
    yield ""
    yield f"[{MODE}{config.mode}]"
    yield from (f"{key}={text}" for key, text in config.mode_values.items())
