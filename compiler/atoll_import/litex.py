# SPDX-License-Identifier: Apache-2.0
"""The core and the memories of a LiteX SoC out of its csr.json.

Source: LiteX, `litex/soc/integration/export.py`, function `get_csr_json`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from atoll.diagnostics.units import format_size
from atoll_import.description_names import writable_by_name
from atoll_import.facts import Core, Facts, LeftOut, Memory, memory_left_out
from atoll_import.reader import Given, Importer
from atoll_import.vendor_values import core_named, number_of, riscv_isas

_TABLES = ("csr_bases", "csr_registers", "constants", "memories")
_NO_MEMORIES = {
    "io": "its type is 'io': registers, or a memory past the caches; describe such one by hand",
    "linker": "its type is 'linker', a part of another memory",
}
_CPU_TYPE = "config_cpu_type_"
_MOST_CORES = 64
_MOST_CHARACTERS = 8 * 2**20
_MOST_MEMORIES = 256


class Litex(Importer):
    """Reads ``csr.json``."""

    suffixes = (".json",)

    def recognises(self, given: Given) -> bool:
        """Tell by the first of its tables."""
        return given.head.lstrip("\ufeff \t\r\n").startswith("{") and '"csr_bases"' in given.head

    def read(self, given: Given) -> Facts:
        """Return the cores and the memories; registers have no place in a description."""
        tables = _tables(given)
        cores = tuple(_cores(given, tables["constants"]))
        names = tuple(core.name for core in cores)
        found = [_memory(given, name, each, names) for name, each in tables["memories"].items()]
        left_out = [each for each in found if isinstance(each, LeftOut)]
        if tables["csr_bases"]:
            what = f"{len(tables['csr_bases'])} blocks of registers"
            where = given.source(_line(given, "csr_bases"))
            left_out.append(LeftOut(what, "a description has no place for them", where))
        name = tables["constants"].get("config_platform_name")
        return Facts(
            name=name if isinstance(name, str) else "litex",
            cores=cores,
            memories=tuple(each for each in found if isinstance(each, Memory)),
            left_out=tuple(left_out),
        )


IMPORTER = Litex()


def _tables(given: Given) -> Mapping[str, Mapping[str, Any]]:
    if len(given.text) > _MOST_CHARACTERS:
        given.refuse(f"the file is longer than {_MOST_CHARACTERS:,} characters")
    try:
        document = json.loads(given.text)
    except json.JSONDecodeError as fault:
        given.refuse(f"not valid JSON: {fault.msg}", fault.lineno)
    except (ValueError, RecursionError):
        given.refuse("not valid JSON: it has a number of too many digits, or is nested too deep")
    if not isinstance(document, dict) or "memories" not in document:
        given.refuse("no csr.json of LiteX: it has no 'memories'")
    tables = {name: document.get(name) or {} for name in _TABLES}
    for name, table in tables.items():
        if not isinstance(table, dict):
            given.refuse(f"'{name}' is no object", _line(given, name))
    if len(tables["memories"]) > _MOST_MEMORIES:
        given.refuse(f"the file has more than {_MOST_MEMORIES} memories", _line(given, "memories"))
    return tables


def _cores(given: Given, constants: Mapping[str, Any]) -> Iterator[Core]:
    words = [name.removeprefix(_CPU_TYPE) for name in constants if name.startswith(_CPU_TYPE)]
    word = words[0] if words else ""
    if word in ("", "none"):
        return
    core = core_named(word)
    isa = constants.get("config_cpu_isa")
    said = isa if isinstance(isa, str) else ""
    isas = riscv_isas(core, said) if core else ()
    source = given.source(_line(given, f"{_CPU_TYPE}{word}"), f"{_CPU_TYPE}{word}")
    count = number_of(constants.get("config_cpu_count")) or 1
    clock = number_of(constants.get("config_clock_frequency")) or None
    for index in range(min(count, _MOST_CORES)):
        name = f"cpu{index}" if count > 1 else "cpu"
        yield Core(
            name=name, word=word, core=core, isas=isas, said=said, clock=clock, source=source
        )


def _memory(given: Given, name: str, entry: object, cores: tuple[str, ...]) -> Memory | LeftOut:
    line = _line(given, name, after="memories")
    source = given.source(line, f"memories.{name}")
    kind = str(entry.get("type", "")) if isinstance(entry, dict) else ""
    origin = number_of(entry.get("base")) if isinstance(entry, dict) else None
    size = number_of(entry.get("size")) if isinstance(entry, dict) else None
    if why := next((_NO_MEMORIES[each] for each in kind.split("+") if each in _NO_MEMORIES), ""):
        many = f"{format_size(size)}: " if size else ""
        return memory_left_out(name, origin, f"{many}{why}", source)
    if origin is None or size is None:
        given.refuse(f"memory '{name}' has no base and size that are numbers", line)
    return Memory(
        name=name,
        origin=origin,
        size=size,
        writable=writable_by_name(name),
        why="by its name",
        cores=cores,
        source=source,
    )


def _line(given: Given, key: str, after: str = "") -> int:
    """Return the line of a key, of those behind the key `after`; 1 if it is not written so."""
    begin = given.text.find(f'"{after}"') if after else 0
    found = given.text.find(json.dumps(key), max(begin, 0))
    return given.text.count("\n", 0, max(found, 0)) + 1
