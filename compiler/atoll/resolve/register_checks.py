# SPDX-License-Identifier: Apache-2.0
"""Which sequences of accesses to registers a core can make."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.description.devices import CacheSteps, Cpu, Npu
from atoll.description.devices import RegisterStep as StepModel
from atoll.description.faults import note
from atoll.description.remedies import put, remove, write_pair
from atoll.description.tree import Key
from atoll.diagnostics.edit import Remedy
from atoll.resolve.address_map import is_placed, register_blocks
from atoll.resolve.core_instances import local_of
from atoll.resolve.draft import Draft
from atoll.resolve.register_steps import (
    ENTRY,
    FIRST,
    LINE,
    OF_LINES,
    VECTORS,
    WORD,
    address_of,
    mask_of,
)
from atoll.resolve.signal_checks import signal_sequences
from atoll.resolve.soc import Registers

PAGE = 4096

FIRST_TIMER = 0x4000
"""Offset in a RISC-V core's local registers up to which the software interrupts of all are."""

Taken = Sequence[tuple[str, range]]
"""What a core has at addresses, where it sees it."""

_Words = tuple[tuple[str, ...], ...]
_Sequence = tuple[Key, str | None, tuple[StepModel, ...], _Words]
"""Its key, the core that makes it, its steps, and sets of words that they may write."""


def check_steps(draft: Draft, blocks: Mapping[str, Registers], console: Registers) -> None:
    """Note steps that cannot be made; `blocks` are the registers of devices."""
    for key, who, steps, words in _all_sequences(draft):
        if draft.knows(*key):
            taken = tuple(_places_in_use(draft, who, blocks, console)) if who else ()
            _check_sequence(draft, key, steps, words, taken)
    for name, cpu in draft.cpus():
        if cpu.cache and cpu.cache.maintenance and cpu.loader == "copy" and cpu.cache.write_back:
            draft.faults.add(
                "E254",
                f"'{name}' copies its code to where it runs, and nothing writes it back from its"
                " data cache then: registers maintain that",
                at=draft.where.at("devices", name, "loader"),
                other=note(draft.where.at("devices", name, "cache", "maintenance"), "they do here"),
                remedy=put(("devices", name, "loader"), "external") + ", or 'write_back' to false",
            )
        if cpu.release and draft.knows("devices", name, "release"):
            _check_release(draft, name, cpu)


def _places_in_use(
    draft: Draft, core: str, blocks: Mapping[str, Registers], console: Registers
) -> Iterator[tuple[str, range]]:
    for name, memory in draft.soc.memories.items():
        if is_placed(draft, name):
            origin = memory.views.get(core, memory.origin)
            yield f"memory '{name}'", range(origin, origin + memory.size)
    for block in register_blocks(draft, blocks, console):
        found = blocks.get(block.key[1]) if len(block.key) > 1 else None
        origin = found.views.get(core, block.origin) if found else block.origin
        yield block.what, range(origin, origin + block.size)
    if described := draft.description.cores.get(core):
        local, arm = local_of(described.model), described.model.interrupts.controller == "nvic"
        yield f"the own registers of '{core}'", local if arm else local[FIRST_TIMER:]


def _all_sequences(draft: Draft) -> Iterator[_Sequence]:
    for name, cpu in draft.cpus():
        yield from _sequences(name, cpu, draft.host)
    for name, npu in draft.devices():
        if isinstance(npu, Npu) and npu.cache:
            yield from _maintaining(("devices", name), draft.host, npu.cache.maintenance)


def _maintaining(key: Key, who: str | None, steps: CacheSteps) -> Iterator[_Sequence]:
    yield (*key, "cache", "maintenance", "clean"), who, steps.clean, OF_LINES
    yield (*key, "cache", "maintenance", "invalidate"), who, steps.invalidate, OF_LINES


def _sequences(name: str, cpu: Cpu, host: str | None) -> Iterator[_Sequence]:
    key: Key = ("devices", name)
    if cpu.release:
        yield (*key, "release"), host, cpu.release, ((ENTRY,), (VECTORS,))
    if cpu.cache and cpu.cache.maintenance:
        yield from _maintaining(key, name, cpu.cache.maintenance)
    for where, who, made, _ in signal_sequences(name, cpu, host or ""):
        yield where, who, made, ()


def _check_sequence(
    draft: Draft,
    key: Key,
    steps: tuple[StepModel, ...],
    words: _Words,
    taken: Taken,
) -> None:
    """Note what is wrong with one sequence; `words` are sets of those that it may write."""
    known = list(dict.fromkeys(each for one in words for each in one))
    found = [
        each
        for number, step in enumerate(steps)
        for each in _step_faults((*key, str(number)), step, known, taken)
    ]
    for where, what, remedy in found:
        draft.faults.add("E254", what, at=draft.where.at(*where), remedy=remedy)
    if words is OF_LINES and not found:
        _check_lines(draft, key, steps, words)


def _check_lines(draft: Draft, key: Key, steps: tuple[StepModel, ...], allowed: _Words) -> None:
    """Note steps that tell of no lines; `allowed` are the sets of words that do."""
    places = {
        str(each.value): (*key, str(at)) for at, each in enumerate(steps) if each.write is not None
    }
    found = {word: at for word, at in places.items() if any(word in each for each in allowed)}
    if set(found) in map(set, allowed):
        return
    said = f"write {' and '.join(map(repr, found))}, which tells of no" if found else "tell of no"
    extra = [at for word, at in found.items() if word not in (FIRST, LINE)]
    if not found:
        at = next(iter(places.values()), key)
        remedy = write_pair((*at, "value"), LINE) if places else remove(*key)
    elif LINE in found or (FIRST in found and extra):
        at = extra[-1] if extra else found[FIRST]
        remedy = remove(*at)
    else:
        at = next(iter(found.values()))
        remedy = write_pair((*at, "value"), FIRST if extra else LINE)
    draft.faults.add(
        "E254",
        f"the steps of '{key[-1]}' {said} lines of the cache",
        at=draft.where.at(*at, "value") if found or places else draft.where.at(*at),
        remedy=remedy + "; 'line' does alone, or 'first' with one of 'last', 'end' and 'size'",
    )


def _step_faults(
    place: Key, step: StepModel, known: Sequence[str], taken: Taken
) -> Iterator[tuple[Key, str, Remedy]]:
    if step.write is not None and step.wait is not None:
        yield place, "a step has both 'write' and 'wait'", remove(*place, "wait")
        return
    if step.write is None and step.wait is None:
        remedy = remove(*place) + ", or add 'write' or 'wait': the address of a register"
        yield place, "a step has no 'write' and no 'wait'", remedy
        return
    address, what = address_of(step), (*place, "write" if step.wait is None else "wait")
    if address % WORD:
        yield (
            what,
            f"the register of a step is at {address:#x}, which is not a multiple of {WORD}",
            write_pair(what, f"{address // WORD * WORD:#x}") + ", for example",
        )
    for other, span in taken:
        if address & -PAGE in range(span.start & -PAGE, span.stop):
            where = "lies in" if address in span else "shares a page of 4 KiB with"
            yield (
                what,
                f"the register of a step at {address:#x} {where} {other}",
                remove(*place) + ", or correct its address",
            )
    yield from _value_faults((*place, "value"), step, known)


def _value_faults(
    place: Key, step: StepModel, known: Sequence[str]
) -> Iterator[tuple[Key, str, Remedy]]:
    value, bits = step.value, mask_of(step)
    if not isinstance(value, str):
        if value & ~bits:
            yield (
                place,
                f"the value {value:#x} of a step has bits outside its mask {bits:#x}",
                write_pair(place, f"{value & bits:#x}") + ", or correct the mask",
            )
    elif value not in known:
        remedy = write_pair(place, "0x1")
        if known:
            others = ", ".join(f"'{each}'" for each in known[1:])
            remedy = write_pair(place, known[0]) + f", or {others}, or a number"
        yield place, f"no step here writes '{value}'", remedy
    elif step.wait is not None:
        remedy = write_pair(place, "0x1") + ", or what its register has then"
        yield place, f"a step waits for '{value}', which is only written", remedy
    elif step.mask is not None:
        gone = remove(*place[:-1], "mask")
        yield place, f"a step writes '{value}' into some bits, and it takes all 32", gone


def _check_release(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note a release of a core that nobody lets begin so."""
    why = ""
    if name == draft.host:
        why = "is the host, which begins by itself"
    elif cpu.mailbox is None:
        why = "has no 'mailbox', and the host does not start it"
    elif cpu.loader == "host" and isinstance(cpu.mailbox, int):
        why = "is let begin by RELEASE of its mailbox, since 'loader' is host"
    if why and draft.knows("devices", name, "mailbox") and draft.knows("host"):
        draft.faults.add(
            "E254",
            f"'{name}' {why}, and has a 'release'",
            at=draft.where.at("devices", name, "release"),
            remedy=remove("devices", name, "release"),
        )
