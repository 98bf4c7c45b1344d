# SPDX-License-Identifier: Apache-2.0
"""Candidates for keys: missing ones, unknown ones, and names that cannot be."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from atoll.description.accelerator_files import known_accelerators
from atoll.description.chip import Soc
from atoll.description.core_files import find_core, known_cores, load_core
from atoll.description.core_names import core_spelled
from atoll.description.edits import Candidate, Edit, hexadecimal, set_key, to_yaml_line
from atoll.description.messages import schema_of
from atoll.description.shape import child_of, may_be, shape_at
from atoll.description.share import is_path
from atoll.description.tree import Key
from atoll.diagnostics.errors import AtollError, attempt_edit
from atoll.resolve.remedy.case import ACCESS, Case, by_likeness, nearest_word
from atoll.resolve.remedy.sections import SECTIONS

_NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
_SIZES = ("256 KiB", "64 KiB", "1 MiB", "16 KiB", "4 KiB")
_STACKS = ("8 KiB", "4 KiB", "2 KiB", "1 KiB")
_ROM_WORDS = ("rom", "flash", "nvm", "mram", "xip")


def add_key(case: Case) -> Iterator[Candidate]:
    """Yield values for a key that is missing, made of what the chip has."""
    *parent, key = case.key
    known = [str(each) for each in case.table(*parent)]
    if near := nearest_word(key, known, cutoff=0.7):
        yield (Edit((*parent, near), name=key),)
    for value in _values(case, tuple(parent), key):
        yield (Edit(case.key, value if isinstance(value, str) else to_yaml_line(value)),)


def unknown(case: Case) -> Iterator[Candidate]:
    """Yield the keys that an unknown one may stand for, missing ones first; else it goes."""
    *parent, word = case.key
    absent = [
        fault.keys[0][-1]
        for fault in case.faults
        if fault.code == "E010" and fault.keys and list(fault.keys[0][:-1]) == parent
    ]
    remedy = re.match(r"did you mean '(\w+)'", case.fault.remedy or "")
    names = [*([remedy[1]] if remedy else []), *by_likeness(word, absent)]
    schema = schema_of(Soc)
    shape, written = shape_at(schema, tuple(parent), case.data), case.table(*parent)
    for name in names:
        if name not in written and may_be(child_of(shape, name), schema, written.get(word)):
            yield (Edit(case.key, name=name),)
    yield (Edit(case.key),)


def bad_name(case: Case) -> Iterator[Candidate]:
    """Yield names that are allowed and free."""
    plain = clean_name(case.key[-1])
    taken = {*case.table("devices"), *case.table("memories"), *case.table("pools")}
    names = (plain, f"my_{plain}"[:32], f"{plain}_1"[:32], f"{plain[:30]}_2")
    for name in names:
        if name not in taken and _NAME.fullmatch(name):
            yield (Edit(case.key, name=name, everywhere=True),)


def clean_name(word: str) -> str:
    """Return a name that is like `word` and allowed, but perhaps a keyword."""
    plain = re.sub(r"[^a-z0-9_]+", "_", word.lower()).strip("_")
    return (plain if plain[:1].isalpha() else f"x_{plain}")[:32].rstrip("_") or "x"


def likely_kind(memory: str) -> str | None:
    """Return the kind of memory that a name sounds like."""
    if any(word in memory.lower() for word in _ROM_WORDS):
        return "rom"
    return "ram" if any(word in memory.lower() for word in ("ram", "tcm", "ddr")) else None


def _values(case: Case, parent: Key, key: str) -> Iterator[Any]:
    section = parent[0] if parent else ""
    make = _BY_KEY.get(f"{section}.{key}") or _BY_KEY.get(key)
    if make:
        yield from make(case, parent)
    example = re.match(r"add '\w+: (.*)'$", case.fault.remedy or "")
    if example:
        yield example[1]


def _memory(case: Case, parent: Key) -> Iterator[Any]:
    if parent[0] == "pools":
        wanted = ("rom", "ram") if case.at(*parent, "role") == "constants" else ("ram",)
        yield from (name for kind in wanted for name in case.memories(kind))
    else:
        yield from case.memories("ram")


def _role(case: Case, parent: Key) -> Iterator[Any]:
    kind = case.at("memories", str(case.at(*parent, "memory")), "kind")
    yield from ("constants", "workspace") if kind == "rom" else ("workspace", "constants", "both")


def _reach(case: Case, parent: Key) -> Iterator[Any]:
    access = ACCESS.get(str(case.at(*parent, "role")), "rw")
    yield dict.fromkeys(case.table("devices"), access)
    yield dict.fromkeys(case.table("devices"), "ro")


def _device_kind(case: Case, parent: Key) -> Iterator[Any]:
    keys = case.table(*parent)
    if "accelerator" in keys:
        yield "npu"
    if "engine" in keys or "moves" in keys:
        yield "dma"
    if "mailbox" in keys:
        yield "dsp"
    yield from ("cpu", "dsp", "npu", "dma", "master")


def _memory_kind(case: Case, parent: Key) -> Iterator[Any]:
    yield from ("rom", "ram") if likely_kind(parent[-1]) == "rom" else ("ram", "rom")


def _origin(case: Case, parent: Key) -> Iterator[Any]:
    size = case.size(*parent, "size") or 4096
    for address in case.free_spans(size, 0x2000_0000, parent[-1])[:3]:
        yield hexadecimal(address)


def _size(case: Case, parent: Key) -> Iterator[Any]:
    yield from _SIZES if parent[0] == "memories" else _STACKS


def _page(case: Case, parent: Key) -> Iterator[Any]:
    yield from map(hexadecimal, case.free_pages()[:3])


def _line(case: Case, parent: Key) -> Iterator[Any]:
    yield from case.free_lines()


def _stack(case: Case, parent: Key) -> Iterator[Any]:
    for memory in case.memories("ram"):
        yield from ({"memory": memory, "size": size} for size in _STACKS)


def _isa(case: Case, parent: Key) -> Iterator[Any]:
    """Yield what the core of the device runs, however its name is spelled."""
    word = str(case.at(*parent, "core"))
    name = word if is_path(word) else core_spelled(word, known_cores())
    if name:
        found = attempt_edit(lambda: load_core(find_core(name, "", case.trial.folder, None), None))
        yield from () if isinstance(found, AtollError) else found.model.isas


def _engine(case: Case, parent: Key) -> Iterator[Any]:
    yield from known_accelerators()


def _moves(case: Case, parent: Key) -> Iterator[Any]:
    """Yield all pairs of memories with a pool that the engine reaches."""
    reached = {
        pool["memory"]: None
        for pool in case.table("pools").values()
        if case.table("pools")
        and isinstance(pool, dict)
        and "memory" in pool
        and isinstance(pool.get("reach"), dict)
        and pool["reach"].get(parent[-1]) == "rw"
    }
    pairs = [[one, other] for one in reached for other in reached if one != other]
    if pairs:
        yield pairs


def _soc_name(case: Case, parent: Key) -> Iterator[Any]:
    yield clean_name(case.fault.at.path.stem if case.fault.at else "my_chip")


_BY_KEY: Mapping[str, Callable[[Case, Key], Iterator[Any]]] = {
    "memory": _memory,
    "role": _role,
    "reach": _reach,
    "devices.kind": _device_kind,
    "memories.kind": _memory_kind,
    "devices.isa": _isa,
    "origin": _origin,
    "size": _size,
    "registers": _page,
    "mailbox": _page,
    "irq": _line,
    "stack": _stack,
    "accelerator": _engine,
    "engine": _engine,
    "moves": _moves,
    ".soc": _soc_name,
    **SECTIONS,
}

KEYS: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E010": add_key,
    "E011": unknown,
    "E014": bad_name,
    "E015": lambda case: iter([(set_key(case.key, 1),)]),
}
