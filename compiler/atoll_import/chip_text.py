# SPDX-License-Identifier: Apache-2.0
"""The YAML of a chip to start from: what files say, each value with its place, and questions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from atoll.description.fields import ADDRESS_SPACE, WIDE_SPACE
from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.shown import cut, printable
from atoll.diagnostics.units import format_size
from atoll.isa.find import NAMES, instruction_set
from atoll.records import dataclass
from atoll.resolve.address_map import LARGEST_MEMORY
from atoll.vela.speeds import PORT_BYTES
from atoll_import.area_text import area_memory, area_pool, vela_text
from atoll_import.core_text import limits_text, span_text, stack_text, target_lines
from atoll_import.description_names import PLAIN_PATH, identifier, path_from
from atoll_import.facts import Core, Facts, Master, Memory, PoolWindow, Source
from atoll_import.vendor_values import any_core_of, extra_in, isas_of, kin_of, not_covered, own_set
from atoll_import.windows import holds

_HEAD = """\
# yaml-language-server: $schema=./soc.schema.json
# Begun by 'atoll import' from {files}.
# A value '{undecided}' is a question: 'atoll check' names each of them until it is answered. What
# the files do not say and the format has a default for is left out, such as clock and width;
# docs/description.md explains every key.
"""
_PAIRS = "pairs of memories"
_LONGEST_COMMENT = 100
_OWN_CORE = "see docs/extending.md"
_ALIGNMENT = 16
_WIDTH = 4
_MOST_LINE = 1023
_MOST_HERTZ = 10**11
_EXAMPLE_CLOCK = 10**9
_UNITS = (("MHz", 10**6), ("kHz", 10**3))
_ETHOS_US = f"one of {', '.join(PORT_BYTES)}"
_MACS = "multiply-accumulates in a cycle, for example 128"
_ENGINE_KEYS = {True: ("dma", "engine"), False: ("npu", "accelerator")}


@dataclass(frozen=True, slots=True)
class _Names:
    """The names in the description, by position in the facts."""

    cores: Sequence[str]
    engines: Sequence[str]
    masters: Sequence[str]
    memories: Sequence[str]
    windows: Sequence[str]
    memory: Mapping[str, str]
    """The first memory of each name of the facts."""
    areas: Sequence[str]

    @classmethod
    def of(cls, facts: Facts) -> "_Names":
        wanted = [each.name for each in facts.cores] + [each.name for each in facts.engines]
        memories = _unique([memory.name for memory in facts.memories], "memory")
        named = zip((each.name for each in facts.memories), memories, strict=True)
        devices = iter(_unique(wanted + [each.name for each in facts.masters], "device"))
        return cls(
            tuple(islice(devices, len(facts.cores))),
            tuple(islice(devices, len(facts.engines))),
            tuple(devices),
            memories,
            _unique([each.name for each in facts.windows], "pool"),
            dict(reversed([*named])),
            _unique([each.name for each in facts.areas], "memory"),
        )


def chip_text(facts: Facts, files: Sequence[tuple[Path, str]], folder: Path) -> str:
    """Return a description of the chip that `facts` speak of.

    Args:
        facts: what the files say together.
        files: each file with the name of its format.
        folder: where the text is going to be.
    """
    names = _Names.of(facts)
    told = ", ".join(_plain(f"{path.name} ({form})") for path, form in files)
    lines = [
        _HEAD.format(files=cut(told, 4 * _LONGEST_COMMENT), undecided=UNDECIDED),
        f"soc: {identifier(facts.name, (), 'chip')}",
        "version: 1",
        *([_line("console", _address(facts.console))] if facts.console is not None else []),
        *_host(facts, names),
        *_mpool(facts, names, folder),
        *_vela(facts, folder),
        "",
        "devices:",
        *_cores(facts, names),
        *_engines(facts, names),
        *_masters(facts.masters, names.masters),
        "",
        *_memories(facts, names),
        "",
        *_pools(facts, names),
    ]
    return "\n".join(lines) + "\n"


def _unique(texts: Sequence[str], otherwise: str) -> tuple[str, ...]:
    """Return a name for each text, no two of them the same."""
    names: dict[str, None] = {}
    for text in texts:
        names[identifier(text, names, otherwise)] = None
    return tuple(names)


def _cores(facts: Facts, names: _Names) -> Iterator[str]:
    for core, name in zip(facts.cores, names.cores, strict=True):
        yield from _place(core.source, "  ", "" if core.said == core.word else core.said)
        yield f"  {name}:"
        unsaid = "or dsp: no file says" if core.has_mailbox and not core.kind else ""
        yield _line("    kind", core.kind or "cpu", unsaid)
        known, said = any_core_of(core.word), ""
        kin = core.core or kin_of(core.word) or known
        isas = core.isas or own_set(core.word) or (isas_of(kin) if kin else ())
        if core.word and not core.core:
            own = f"./{identifier(core.word, (), 'core')}.yaml"
            what = f"for example {known}" if known else f"which Atoll has not: for example {own},"
            said = f"the file says {core.word}, {what}" + ("" if known else f" {_OWN_CORE}")
        yield _line("    core", core.core, said)
        decided = core.isas[0] if len(core.isas) == 1 else None
        yield _line("    isa", decided, _choices(core, isas))
        if core.clock:
            yield _line("    clock", _hertz(core.clock))
        if core.mailbox is not None:
            yield _line("    mailbox", _address(core.mailbox))
            yield _line("    irq", _interrupt(core.irq))
        if core.shared_mailbox:
            yield _line("    mailbox", names.memory.get(core.shared_mailbox))
        if core.loader:
            yield _line("    loader", core.loader)
        for key, span in (("code", core.code), ("data", core.data)):
            if span:
                yield f"    {key}: {span_text(span, names.memory)}"
        yield f"    stack: {stack_text(core.stack, names.memory)}"
        if core.limits:
            yield f"    limits: {limits_text(core.limits)}"
        if core.targets:
            yield "    targets:"
            yield from (f"      {line}" for line in target_lines(core.targets))


def _choices(core: Core, isas: Sequence[str]) -> str:
    """Say which instruction sets a core can have, and what the file says beyond the first."""
    choices = f"one of {', '.join(isas)}" if isas and len(core.isas) != 1 else ""
    if core.core and not core.isas and (more := extra_in(isas[0], core.said)):
        choices = f"for example {isas[0]}, if it has {', '.join(more)}, which the file does not say"
    lacks = not_covered(core.said, isas[0]) if isas else ()
    unknown = bool(isas) and not NAMES.fullmatch(isas[0])
    less = f"Atoll's core lacks {', '.join(lacks)}" if lacks else ""
    notes = (choices, less, "Atoll generates no code for it" if unknown else "")
    return "; ".join(filter(None, notes))


def _host(facts: Facts, names: _Names) -> Iterator[str]:
    for core, name in zip(facts.cores, names.cores, strict=True):
        if facts.host and core.name == facts.host:
            yield _line("host", name)
            return


def _master_named(device: str, facts: Facts, names: _Names) -> str:
    """Return what the description calls a master, nothing if it has none of this name."""
    found = zip(facts.masters, names.masters, strict=True)
    return next((name for master, name in found if master.name == device), "")


def _mpool(facts: Facts, names: _Names, folder: Path) -> Iterator[str]:
    if facts.mpool is None:
        return
    path, device = facts.mpool
    name = _master_named(device, facts, names) or UNDECIDED
    shown = path_from(folder, path)
    file = shown if PLAIN_PATH.fullmatch(shown) else UNDECIDED
    comment = "" if file == shown else "the path of the file of ST Edge AI, without odd characters"
    yield _line("mpool", f"{{device: {name}, file: {file}}}", comment)


def _vela(facts: Facts, folder: Path) -> Iterator[str]:
    if facts.vela is not None:
        yield f"vela: {vela_text(facts.vela, folder)}"


def _engines(facts: Facts, names: _Names) -> Iterator[str]:
    for engine, name in zip(facts.engines, names.engines, strict=True):
        kind, key = _ENGINE_KEYS[engine.moves]
        yield from _place(engine.source, "  ")
        yield f"  {name}:"
        yield f"    kind: {kind}"
        yield _line("    " + key, engine.accelerator, "" if engine.accelerator else _ETHOS_US)
        if engine.runs_vela:
            macs = engine.macs or UNDECIDED
            yield _line("    params", f"{{macs: {macs}}}", "" if engine.macs else _MACS)
        if engine.clock:
            yield _line("    clock", _hertz(engine.clock))
        at = engine.registers
        yield _line("    registers", None if at is None else _address(at))
        yield _line("    irq", _interrupt(engine.irq))
        if engine.moves:
            pairs = [(names.memory.get(one), names.memory.get(two)) for one, two in engine.between]
            known = pairs and all(one and two for one, two in pairs)
            moves = ", ".join(f"[{one}, {two}]" for one, two in pairs)
            yield _line("    moves", f"[{moves}]" if known else None, "" if known else _PAIRS)


def _masters(masters: Sequence[Master], names: Sequence[str]) -> Iterator[str]:
    if masters:
        yield "  # A master is no engine of networks: say what it reaches, or delete it."
    for master, name in zip(masters, names, strict=True):
        yield from _place(master.source, "  ", master.what)
        if master.clocks:
            example = f"for example {_hertz(_EXAMPLE_CLOCK)}"
            yield _line(f"  {name}", f"{{kind: master, clock: {UNDECIDED}}}", example)
        else:
            yield f"  {name}: {{kind: master}}"


def _memories(facts: Facts, names: _Names) -> Iterator[str]:
    if facts.areas:
        yield "memories:"
        for area, name in zip(facts.areas, names.areas, strict=True):
            yield from _place(area.source, "  ")
            yield area_memory(area, name)
        return
    if not facts.memories:
        yield _line("memories", None, "no file names one")
        return
    yield "memories:"
    devices = dict(zip((core.name for core in facts.cores), names.cores, strict=True))
    bus = [range(each.origin, each.origin + each.size) for each in facts.memories if not each.space]
    most = WIDE_SPACE if _sees_far(facts) else LARGEST_MEMORY
    for memory, name in zip(facts.memories, names.memories, strict=True):
        yield from _place(memory.source, "  ")
        real = next((each for each in facts.memories if each.name == memory.alias), None)
        size, why = _size(memory.size, real, most)
        kind = {True: "ram", False: "rom", None: UNDECIDED}[memory.writable]
        places = ""
        if memory.space:
            example = _free(memory, bus)
            bus.append(range(example, example + memory.size))
            places = (
                f"at {hex(memory.origin)} of {memory.space}, for example {hex(example)} on the bus"
            )
        if memory.others:
            places = f"one of {', '.join(map(hex, (memory.origin, *memory.others)))}"
        how = memory.why if memory.writable is not None and not memory.perhaps else ""
        notes = [*filter(None, (places, why, how))]
        origin = UNDECIDED if places else _address(memory.origin)
        width = f", width: {memory.width}" if memory.width not in (None, _WIDTH) else ""
        entries = f"origin: {origin}, size: {size}, kind: {kind}{width}"
        seen = [
            f"{devices[core]}: {_address(at) or UNDECIDED}"
            for core, at in memory.views
            if core in devices
        ]
        views = f", views: {{{', '.join(seen)}}}" if seen else ""
        if memory.alias:
            entries += f", alias_of: {names.memory.get(memory.alias, UNDECIDED)}"
        if perhaps := names.memory.get(memory.perhaps):
            notes.append(f"for example {perhaps} if both are one, else none")
        if real and real.size > memory.size:
            entries += f", offset: {UNDECIDED}"
            notes.append(f"a part of '{real.name}', for example 0; no file says where it begins")
        yield _line(f"  {name}", f"{{{entries}{views}}}", ", ".join(notes))


def _free(memory: Memory, bus: Sequence[range]) -> int:
    """Return where a memory of another space could be on the bus: where it is, or behind all."""
    own = range(memory.origin, memory.origin + memory.size)
    if not any(own.start < each.stop and each.start < own.stop for each in bus):
        return memory.origin
    step = 1 << max(memory.size - 1, 0).bit_length()
    return -(-max(each.stop for each in bus) // step) * step


def _pools(facts: Facts, names: _Names) -> Iterator[str]:
    if facts.areas:
        yield from _area_pools(facts, names)
        return
    if not facts.memories:
        yield _line("pools", None, "see 'A chip' in docs/description.md")
        return
    if all(memory.alias for memory in facts.memories):
        yield _line("pools", None, "one in each memory for which you write 'alias_of: none'")
        return
    yield "pools:"
    pairs = [*zip(facts.windows, names.windows, strict=True)]
    taken = {*names.windows}
    for memory, name in zip(facts.memories, names.memories, strict=True):
        inside = [pair for pair in pairs if holds(memory, pair[0])]
        for window, pool in inside:
            yield from _window(facts, names, (memory, name), window, pool)
        if memory.alias or inside:
            continue  # its bytes are in another pool, or may be
        role = "constants" if memory.writable is False else UNDECIDED
        reach = [
            f"{device}: {_access(memory, core.name)}"
            for core, device in zip(facts.cores, names.cores, strict=True)
        ]
        reach += [f"{device}: {UNDECIDED}" for device in (*names.engines, *names.masters)]
        pool = identifier(name, taken, "pool")
        taken.add(pool)
        yield f"  {pool}:"
        yield f"    memory: {name}"
        if memory.origin + min(memory.size, WIDE_SPACE) > ADDRESS_SPACE and _sees_far(facts):
            half = format_size((ADDRESS_SPACE - memory.origin) // 2 // _ALIGNMENT * _ALIGNMENT)
            yield _line("    size", half, "half of what lies below 4 GiB; no pool lies past it")
        yield f"    role: {role}"
        yield f"    reach: {{{', '.join(reach)}}}"


def _area_pools(facts: Facts, names: _Names) -> Iterator[str]:
    """Yield the pools of memories at the ports of an Ethos-U."""
    yield "pools:"
    for area, name in zip(facts.areas, names.areas, strict=True):
        access = "ro" if area.role == "constants" else "rw"
        reach = dict.fromkeys((*names.cores, *names.engines, *names.masters), UNDECIDED)
        for engine, device in zip(facts.engines, names.engines, strict=True):
            reach |= {device: access} if engine.runs_vela else {}
        yield from area_pool(area, name, reach)


def _window(
    facts: Facts, names: _Names, described: tuple[Memory, str], window: PoolWindow, pool: str
) -> Iterator[str]:
    """Yield the pool of a window in a memory, which has this name in the description."""
    memory, name = described
    yield from _place(window.source, "  ")
    yield f"  {pool}:"
    yield f"    memory: {name}"
    if (memory.origin, memory.size) != (window.origin, window.size):
        yield f"    offset: {window.origin - memory.origin:#x}"
        yield f"    size: {format_size(window.size)}"
    roles = {True: "constants", False: "workspace", None: UNDECIDED}
    open_role = "both, or workspace: the file prefers it for constants"
    yield _line("    role", roles[window.constants], open_role if window.constants is None else "")
    own = {_master_named(window.device, facts, names): "rw" if window.writable else "ro"}
    cores = {
        device: _access(memory, core.name)
        for core, device in zip(facts.cores, names.cores, strict=True)
    }
    others = dict.fromkeys((*names.engines, *names.masters), UNDECIDED)
    reach = ", ".join(f"{each}: {may}" for each, may in (cores | others | own).items() if each)
    yield f"    reach: {{{reach}}}"
    if window.preference:
        yield _line("    preference", str(window.preference), window.why)
    if window.width != (memory.width or _WIDTH):
        yield f"    read_bandwidth: {window.width}"
        yield f"    write_bandwidth: {window.width}"
    clock = f"that of {window.device} divided by {float(window.ratio):g}"
    example = f"for example {_hertz(round(_EXAMPLE_CLOCK / window.ratio))}"
    yield _line("    clock", None, f"{clock}, {example} if that is {_hertz(_EXAMPLE_CLOCK)}")


def _access(memory: Memory, core: str) -> str:
    """Return what a core may do with a memory, where the file decides it."""
    if core not in memory.cores or memory.writable is None:
        return UNDECIDED
    return "rw" if memory.writable else "ro"


def _sees_far(facts: Facts) -> bool:
    """Tell whether the files name a core of 64 bits, whatever else they leave open of it."""
    named = (core.isas for core in facts.cores if core.isas)
    return any(all(instruction_set(isa).bits == 64 for isa in isas) for isas in named)


def _size(size: int, real: Memory | None, most: int) -> tuple[str, str]:
    """Return the size of a memory, or why the file does not decide it.

    Args:
        size: in bytes.
        real: the memory whose bytes it shows.
        most: bytes that a memory of the chip can have.
    """
    if real and real.size < size:
        said, room = format_size(size), format_size(real.size)
        return UNDECIDED, f"the file says {said}, more than '{real.name}' has: for example {room}"
    if size == 0:
        return UNDECIDED, "the file says 0"
    if size > most:
        return (
            UNDECIDED,
            f"the file says {format_size(size)}, for example {format_size(most)}, which is the"
            " most",
        )
    if size % _ALIGNMENT:
        whole = max(size // _ALIGNMENT, 1) * _ALIGNMENT
        return (
            UNDECIDED,
            f"the file says {size:,} B: a multiple of {_ALIGNMENT}, for example {whole}",
        )
    return format_size(size), ""


def _line(key: str, value: str | None, comment: str = "") -> str:
    """Return an entry; without a value it is a question."""
    note = f"  # {_plain(comment)}" if comment else ""
    return f"{key}: {value or UNDECIDED}{note}"


def _place(source: Source | None, indent: str, what: str = "") -> Iterator[str]:
    if source:
        yield f"{indent}# {_plain(f'{source} {what}'.rstrip())}"


def _plain(text: str) -> str:
    """Return text that stays inside of a comment."""
    return cut(printable(text), _LONGEST_COMMENT)


def _address(address: int) -> str | None:
    digits = f"{address:08X}"
    return f"0x{digits[:4]}_{digits[4:]}" if address < ADDRESS_SPACE else None


def _interrupt(line: int | None) -> str | None:
    return None if line is None or line > _MOST_LINE else str(line)


def _hertz(clock: int) -> str:
    unit = next(((u, f) for u, f in _UNITS if clock % f == 0), ("Hz", 1))
    return f"{clock // unit[1]} {unit[0]}" if clock <= _MOST_HERTZ else UNDECIDED
