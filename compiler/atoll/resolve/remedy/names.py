# SPDX-License-Identifier: Apache-2.0
"""Candidates for names that mean nothing, and for parts that cannot do what is asked of them."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from atoll.description.accelerator_files import known_accelerators
from atoll.description.core_files import known_cores
from atoll.description.core_names import core_remedy, is_other_core
from atoll.description.edits import Candidate, Edit, hexadecimal, set_key
from atoll.diagnostics.units import format_size
from atoll.isa.find import USUAL
from atoll.resolve.remedy.case import ACCESS, Case, by_likeness, nearest_word
from atoll.resolve.remedy.keys import likely_kind

_CORE = {"kind": "cpu", "isa": "rv32imc"}


def memory(case: Case) -> Iterator[Candidate]:
    """Yield the memories that a name may stand for."""
    word = str(case.at(*case.key))
    names = by_likeness(word, [*case.memories("ram"), *case.memories("rom")])
    if names:
        yield (set_key(case.key, names[0]),)
    yield from _misspelt_definition(case, "memories", word)
    yield from ((set_key(case.key, name),) for name in names)
    yield from _describe_memory(case, word)


def _misspelt_definition(case: Case, section: str, word: str) -> Iterator[Candidate]:
    """Yield the rename of what is described under a name like `word`, which others may use."""
    unused = [name for name in case.table(section) if not _is_used(case.data, name)]
    if close := nearest_word(word, unused):
        yield (Edit((section, close), name=word),)


def _is_used(data: Any, name: str) -> bool:
    """Tell whether a name is a value somewhere, or a key where devices are keys."""
    if isinstance(data, dict):
        named = (data.get("reach"), data.get("views"), data.get("masters"))
        return any(isinstance(each, dict) and name in each for each in named) or any(
            _is_used(each, name) for each in data.values()
        )
    if isinstance(data, list):
        return any(_is_used(each, name) for each in data)
    return bool(data == name)


def _describe_memory(case: Case, word: str) -> Iterator[Candidate]:
    """Yield a memory of the name, at a free address."""
    pools = [name for name in case.table("pools") if case.at("pools", name, "memory") == word]
    roles = [case.at("pools", name, "role") for name in pools]
    only_read = all(role == "constants" for role in roles) if roles else None
    kind = likely_kind(word) or ("rom" if only_read else "ram")
    size = 1 << 20
    for address in case.free_spans(size, 0x2000_0000, "")[:1]:
        memory = {"origin": hexadecimal(address), "size": format_size(size), "kind": kind}
        yield (set_key(("memories", word), memory),)


def device(case: Case) -> Iterator[Candidate]:
    """Yield the devices, or threads of a core, that a name may stand for."""
    *parent, word = case.key
    if parent[-1:] in (["reach"], ["views"], ["masters"]):
        absent = [name for name in case.table("devices") if name not in case.table(*parent)]
        close = nearest_word(word, absent)
        if close:
            yield (Edit(case.key, name=close),)
        yield from _misspelt_definition(case, "devices", word)
    elif "threads" in parent:
        threads = by_likeness(word, list(case.table("devices", parent[1], "stack", "threads")))
        yield from ((Edit(case.key, name=name),) for name in threads)
    elif word == "runs":
        threads = list(case.table(*parent, "threads"))
        for name in by_likeness(str(case.at(*case.key)), threads):
            yield (set_key(case.key, name),)
    else:
        named = str(case.at(*case.key))
        names = by_likeness(named, list(case.table("devices")))
        if names:
            yield (set_key(case.key, names[0]),)
        yield from _misspelt_definition(case, "devices", named)
        yield from ((set_key(case.key, name),) for name in names)
    yield (Edit(case.key),)


def accelerator(case: Case) -> Iterator[Candidate]:
    """Yield the shipped accelerators and engines."""
    for name in by_likeness(str(case.at(*case.key)), list(known_accelerators())):
        yield (set_key(case.key, name),)


def operator(case: Case) -> Iterator[Candidate]:
    """Yield the operators that the accelerator runs, or the list without the wrong one."""
    if case.key[-1] == "engine":
        yield from accelerator(case)
        return
    *parent, number = case.key
    known = re.findall(r"[A-Z][A-Z0-9_]+", case.fault.remedy or "")
    others = [str(each) for each in case.at(*parent) or ()]
    if int(number) < len(others):  # else a section above has another name by now
        word = others.pop(int(number))
        free = [kind for kind in known if kind not in others]
        likely = {kind.lower(): kind for kind in free}
        if close := nearest_word(word, list(likely)):
            yield (set_key(case.key, likely[close]),)
    yield (Edit(case.key),)


def parameter(case: Case) -> Iterator[Candidate]:
    """Yield the parameters that a name may stand for; else it goes."""
    parent = case.key[:-1]
    meant = re.match(r"did you mean '(\w+)'", case.fault.remedy or "")
    if meant and meant[1] not in case.table(*parent):
        yield (Edit(case.key, name=meant[1]),)
    yield (Edit(case.key),)


def parameter_value(case: Case) -> Iterator[Candidate]:
    """Yield the value that the message names."""
    value = re.match(r"write '(\w+): (-?\d+)'", case.fault.remedy or "")
    if value:
        place = case.key if case.key[-1] == value[1] else (*case.key, value[1])
        yield (Edit(place, value[2]),)
    most = re.match(r"use at most (\d+)", case.fault.remedy or "")
    if most:
        yield (Edit(case.key, most[1]),)


def isa(case: Case) -> Iterator[Candidate]:
    """Yield the instruction sets, the most similar first."""
    if case.key[-1:] == ("abi",):
        yield from remove_key(case)
        return
    isas = sorted(USUAL, key=len, reverse=True)
    yield from ((set_key(case.key, each),) for each in by_likeness(str(case.at(*case.key)), isas))


def core(case: Case) -> Iterator[Candidate]:
    """Yield the core that the name is like, then the one that a chip has that names none.

    A core that Atoll has no model of is neither.
    """
    word = str(case.at(*case.key))
    meant = re.match(r"did you mean '(\w+)'", core_remedy(word, known_cores()))
    if meant:
        yield (set_key(case.key, meant[1]),)
    if not is_other_core(word, known_cores()):
        yield (Edit(case.key),)


def host(case: Case) -> Iterator[Candidate]:
    """Yield the cores of the chip, or a new one."""
    yield from ((set_key(("host",), name),) for name in case.devices("cpu", "dsp"))
    stacks = ({"memory": name, "size": "4 KiB"} for name in case.memories("ram"))
    name = next(n for n in ("cpu", "core", "host_cpu") if n not in case.table("devices"))
    for stack in stacks:
        reach = (
            set_key(("pools", pool, "reach", name), ACCESS.get(str(case.at("pools", pool, "role"))))
            for pool in case.table("pools")
        )
        yield (set_key(("devices", name), {**_CORE, "stack": stack}), *reach)


def default_device(case: Case) -> Iterator[Candidate]:
    """Yield the host, or none at all."""
    if isinstance(case.at("host"), str):
        yield (set_key(case.key, case.at("host")),)
    yield (Edit(case.key),)


def mailbox(case: Case) -> Iterator[Candidate]:
    """Yield the half of a mailbox that is missing, or the device without one."""
    *parent, given = case.key
    if "is the host" in case.fault.message:
        both = [key for key in ("mailbox", "irq") if key in case.table(*parent)]
        yield tuple(Edit((*parent, key)) for key in both)
        return
    if given == "line":
        yield (Edit(tuple(parent)),)
    elif given == "host":
        yield from ((set_key((*parent[:-1], "irq"), line),) for line in case.free_lines())
    elif given == "mailbox":
        yield from ((set_key((*parent, "irq"), line),) for line in case.free_lines())
    elif given == "irq" and "mailbox" not in case.table(*parent):
        yield from ((Edit((*parent, "mailbox"), hexadecimal(p)),) for p in case.free_pages()[:3])
    yield (Edit(case.key),)


def mailbox_memory(case: Case) -> Iterator[Candidate]:
    """Yield a RAM for a mailbox, then registers for it."""
    yield from ((set_key(case.key, name),) for name in case.memories("ram"))
    for page in case.free_pages()[:1]:
        for line in case.free_lines():
            address = Edit(case.key, hexadecimal(page))
            yield (address, set_key((*case.key[:-1], "irq"), line))
    yield (Edit(case.key),)


def remove_key(case: Case) -> Iterator[Candidate]:
    """Yield the description without the key."""
    yield (Edit(case.key),)


NAMES: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E020": memory,
    "E021": device,
    "E022": accelerator,
    "E023": operator,
    "E024": parameter,
    "E039": mailbox,
    "E040": isa,
    "E042": core,
    "E043": host,
    "E045": parameter_value,
    "E046": default_device,
    "E247": mailbox_memory,
    "E248": mailbox_memory,
}
