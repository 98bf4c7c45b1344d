# SPDX-License-Identifier: Apache-2.0
"""Where an image begins, and where its exceptions do: what needs a bound of its own.

Sources: Armv7-M and Armv8-M manuals, "The vector table"; RISC-V privileged manual, "mtvec"; A64:
Arm ARM, "Exception vectors".
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from atoll.records import dataclass
from atoll.stack.bound import Depth
from atoll.stack.elf_code import Code
from atoll.stack.elf_stack import Program
from atoll.stack.instruction import SP, Kind
from atoll.stack.register_values import leads_to_vectors

_WORD = 4
_HARDWARE, _NAMED = ("entry", "reset"), "named"
_RESET, _FIRST_HANDLER, _MOST_VECTORS = 1, 2, 512
_A64_STEP, _A64_VECTORS = 0x80, 16
_CAUSES, _FROM_TABLE = 64, 3
_RESERVED = (7, 8, 9, 10, 13)
"""Vectors that some profile reserves; boot loaders keep checksums and marks there."""
_ALIGNED, _SYSTEM, _ALWAYS_THERE, _REACH = 128, 16, (1, 2, 3, 11, 14, 15), 4096
"""Of tables: their alignment, exceptions of the architecture, and those that every Cortex-M has;
how far behind a function its constants are."""
_SYSTEM_ADDRESS = re.compile(rb"(?=..[\x00\x02]\xe0)", re.DOTALL)
_FRAME, _FLOAT_FRAME = 36, 108
"""Bytes that a Cortex-M pushes for an exception, 4 of them to align the stack."""


class Gap(NamedTuple):
    """Why handlers are missing, and what makes them known; it is false if none is."""

    why: str
    remedy: str

    def __bool__(self) -> bool:
        return bool(self.why)


NOTHING = Gap("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A function that hardware begins.

    Attributes:
        address: of its first instruction.
        name: of the function.
        why: what begins it.
        handles: it handles an exception.
        pushed: bytes that hardware pushes before.
        depth: what it uses of the stack, without those.
    """

    address: int
    name: str
    why: str
    handles: bool
    pushed: int
    depth: Depth

    @property
    def bytes(self) -> int | None:
        """Most bytes that it uses, None if nothing bounds them."""
        return None if self.depth.causes else self.pushed + self.depth.bound.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Roots:
    """All that hardware begins.

    Attributes:
        entries: of the program.
        handlers: of exceptions.
        unknown: why handlers are missing, "" if they are not.
        remedy: what makes them known.
        assumes: on what the handlers rest that the image does not show.
        named: entries are those that somebody named.
        top: where the stack begins that hardware sets up, None if it sets up none.
    """

    entries: tuple[Root, ...]
    handlers: tuple[Root, ...]
    unknown: str
    remedy: str = ""
    assumes: tuple[str, ...] = ()
    named: bool = False
    top: int | None = None


def find_roots(
    program: Program,
    entry: int,
    vectors: int | None,
    named: Sequence[int] = (),
    handling: Sequence[int] = (),
) -> Roots:
    """Return what hardware begins, with its bound.

    Args:
        program: the image.
        entry: address of the first instruction.
        vectors: address of the vectors of a Cortex-M; None: they are looked for.
        named: addresses of functions that shall be taken for entries, in the place of others.
        handling: likewise, of functions that are known to handle interrupts.
    """
    code = program.code
    thumb = code.machine == "EM_ARM"
    table, lost = tuple[int, ...](), NOTHING
    if thumb:
        entry &= ~1
        vectors = vectors if vectors is not None else _table(code, entry)
        table, lost = _vectors(code, vectors)
        lost = lost or kept_address(code)
    program.depth(entry)  # it may say where exceptions begin, also where another one is named
    places = dict.fromkeys(handling, "trap")
    if thumb:
        places = _number_handlers(table)
        for place in other_tables(code, vectors):
            found = _number_handlers(_vectors(code, place)[0])
            places = {at: f"{why} of {place:#010x}" for at, why in found.items()} | places
    begins = {entry: "entry"} if not named else dict.fromkeys(named, _NAMED)
    if len(table) > _RESET and not named:
        begins.setdefault(table[_RESET] & ~1, "reset")
    pushed = 0 if not thumb else _FLOAT_FRAME if code.floats else _FRAME
    handlers: dict[int, Root] = {}
    while True:  # handlers may set up others
        found, unknown = _set_up(program)
        unknown = unknown or lost
        places |= {at: why for at, why in found.items() if at not in places}
        more = [at for at in places if at not in handlers and at not in begins]
        if not more:
            break
        for at in more:
            handlers[at] = _root(program, at, places[at], handles=True, pushed=pushed)
    if thumb and not table and not unknown:
        remedy = "give the vectors a symbol whose name has 'vector', or hold the image against"
        unknown = Gap("no vector table is found", f"{remedy} its chip")
    if not (thumb or handlers or unknown) and code.returns_from_traps:
        why = "code returns from traps, and nothing that was followed says where they begin"
        unknown = Gap(why, "let the code that begins set mtvec")
    handle = places.keys() if named else ()
    entries = (
        _root(program, at, why, handles=at in handle, pushed=pushed if at in handle else 0)
        for at, why in begins.items()
    )
    return Roots(
        entries=tuple(entries),
        handlers=tuple(sorted(handlers.values(), key=lambda each: each.address)),
        unknown=unknown.why,
        remedy=unknown.remedy,
        assumes=tuple(_assumptions(program, vectors, handlers, pushed)) if not unknown else (),
        named=bool(named),
        top=table[0] if table else None,
    )


def _assumptions(
    program: Program, vectors: int | None, handlers: Collection[int], pushed: int
) -> Iterator[str]:
    """Yield on what it rests where exceptions begin, and what hardware pushes for them."""
    machine = program.code.machine
    if machine == "EM_ARM":
        if vectors is not None and not any(program.traps()):
            yield f"VTOR leads to the vectors at {vectors:#010x}, where nothing moves it from"
        kept = "floats too, and" if pushed == _FLOAT_FRAME else "no floats, and"
        yield f"an exception pushes {pushed} B: {kept} nothing of another security state"
    elif not handlers:
        register = "VBAR" if machine == "EM_AARCH64" else "mtvec"
        yield f"no exception begins: nothing that was followed sets {register}"


def _number_handlers(table: Sequence[int]) -> dict[int, str]:
    """Return the handlers of the vectors of a Cortex-M, each with its first number."""
    handlers = reversed([*enumerate(table)][_FIRST_HANDLER:])
    return {at & ~1: f"vector {number}" for number, at in handlers if at}


def _set_up(program: Program) -> tuple[dict[int, str], Gap]:
    """Return where exceptions begin that code sets up, and why that is not known."""
    code, gaps = program.code, list[Gap]()
    places: dict[int, str] = {}
    for function, place in program.moves():
        why = f"what {function} does at {place:#010x} with the address of VTOR is not followed"
        gaps.append(Gap(why, f"let {function} write to VTOR by name"))
    for function, base in program.traps():
        where = f"{function} sets where exceptions begin to"
        if base is None:
            remedy = f"let {function} set it to the name of a table or handler"
            gaps.append(Gap(f"{where} an address that its code does not show", remedy))
        elif code.machine == "EM_AARCH64":
            span = range(base, base + _A64_STEP * _A64_VECTORS, _A64_STEP)
            places |= {at: "exception" for at in span if code.runs(at)}
            if not code.runs(base):
                gaps.append(Gap(f"{where} {base:#010x}, without code", "link the vectors there"))
        elif code.machine == "EM_RISCV":
            handlers, lost = _riscv_handlers(code, base)
            places |= dict.fromkeys(handlers, "trap")
            if lost:
                gaps.append(Gap(f"{function} sets {lost}", "use a handler of all traps (mode 0)"))
        elif not code.read_constant(base, _WORD):
            why = f"{where} a table at {base:#010x}, which code may change"
            gaps.append(Gap(why, "let the table be constant"))
        else:
            table, gap = _vectors(code, base)
            places |= _number_handlers(table)
            gaps.append(gap)
    return places, next(filter(None, gaps), NOTHING)


def _root(
    program: Program, address: int, why: str, *, handles: bool = False, pushed: int = 0
) -> Root:
    return Root(
        address=address,
        name=program.name(address),
        why=why,
        handles=handles,
        pushed=pushed,
        depth=program.depth(address, handles=handles, begins=why in _HARDWARE, named=why == _NAMED),
    )


def _table(code: Code, entry: int) -> int | None:
    """Return where the vectors of a Cortex-M are: a stack, then Thumb code.

    They begin a section or have a symbol of their own, and lead to the entry of the image or have
    a name that says what they are.
    """
    symbols = {
        at: name for name, at in code.symbols.items() if "vector" in name.lower() and not at % _WORD
    }
    begins = {begin for begin, _ in code.sections}
    for place in sorted({*symbols, *begins}):
        top, reset = code.word(place), code.word(place + _WORD)
        if not top or reset is None or top % _WORD or code.runs(top):
            continue
        if reset & 1 and code.runs(reset & ~1) and (reset & ~1 == entry or place in symbols):
            return place
    return None


def _vectors(code: Code, begin: int | None) -> tuple[tuple[int, ...], Gap]:
    """Return the vectors at an address, and why some are not known.

    Words that the architecture reserves may hold anything. A table goes on behind its symbol for
    as long as words lead to Thumb code: an image may have it in several arrays.
    """
    if begin is None:
        return (), NOTHING
    found: list[int] = []
    end = code.object_ends.get(begin)
    for number in range(_MOST_VECTORS):
        place = begin + number * _WORD
        if place == end and _is_table(code, place):
            end = code.object_ends[place]
        word = code.word(place)
        if number in _RESERVED and word and not _leads(code, word):
            word = 0
        known = not number or not word or _leads(code, word)
        behind = end is not None and place >= end and not word
        if word is None or behind or not (known or (end is not None and place < end)):
            break
        if not known:
            why = f"vector {number} leads to {word:#010x}, where the image has no code"
            return tuple(found), Gap(why, f"let vector {number} lead to a function of the image")
        found.append(word)
    return tuple(found), NOTHING


def _leads(code: Code, word: int) -> bool:
    """Tell whether a word is the address of Thumb code."""
    return bool(word & 1) and code.runs(word & ~1)


def _is_table(code: Code, begin: int) -> bool:
    """Tell whether the object at an address holds addresses of Thumb code, and nothing else."""
    words = [code.word(at) for at in range(begin, code.object_ends.get(begin, begin), _WORD)]
    return any(words) and all(
        word is not None and (not word or _leads(code, word)) for word in words
    )


def other_tables(code: Code, first: int | None) -> Iterator[int]:
    """Yield where a Cortex-M might find vectors besides those that it begins with.

    That is where VTOR can lead to, and 16 words have the form of its exceptions: a stack, code
    where the architecture has exceptions, and nothing else where it has none.
    """
    for begin, content in code.sections:
        for place in range(-(-begin // _ALIGNED) * _ALIGNED, begin + len(content), _ALIGNED):
            words = [code.word(place + _WORD * number) for number in range(_SYSTEM)]
            top = words[0]
            if place == first or None in words or not top or top % _WORD or code.runs(top):
                continue
            handlers = [word or 0 for word in words[1:]]
            if all(not word or _leads(code, word) for word in handlers) and all(
                handlers[number - 1] for number in _ALWAYS_THERE
            ):
                yield place


def kept_address(code: Code) -> Gap:
    """Return that data has an address from which VTOR is reached: nobody knows who uses it."""
    for begin, content in code.sections:
        for found in _SYSTEM_ADDRESS.finditer(content):
            place = begin + found.start()
            word = int.from_bytes(content[found.start() : found.start() + _WORD], "little")
            if place % _WORD or not leads_to_vectors(word) or _is_beside_code(code, place):
                continue
            owner = code.object_at(place) or "data"
            why = f"{owner} has the address {word:#010x} at {place:#010x}, which leads to VTOR"
            return Gap(why, "let code write to VTOR by name, and delete the address")
    return NOTHING


def _is_beside_code(code: Code, place: int) -> bool:
    """Tell whether a word is an instruction, or a constant that one loads."""
    if not any(begin <= place < end for begin, end in code.executable):
        return False
    near = [each for each in code.names if each <= place < code.ends[each] + _REACH]
    return any(place < code.ends[each] for each in near) or any(
        item.source == place for each in near for item in code.decode(each, each)
    )


def _riscv_handlers(code: Code, base: int) -> tuple[list[int], str]:
    """Return the handler of all traps, with vectors the jump of each cause; and what is not known.

    Entries that are no code are gaps between causes. Behind a gap, or the symbol of the table, an
    entry is a jump.
    """
    begin = base & ~3
    found = [begin]
    if base & 3 == _FROM_TABLE:
        return found, "a mode in which they begin where a table in memory says, which is not read"
    if not base & 1:
        return found, ""
    end, gap = code.ends.get(begin), False
    for number in range(1, _CAUSES):
        place = begin + _WORD * number
        start = code.start(place) if code.word(place) else None
        items = () if start is None else code.decode(start, place)
        item = next((each for each in items if each.address == place), None)
        beyond = gap or (end is not None and place >= end)
        if item is None:
            gap = True
            continue
        if beyond and item.kind is not Kind.JUMP:
            if end is not None and place >= end:
                break
            continue
        found.append(place)
        if SP in (item.rd, *item.clobbers):  # the last entry is a handler itself
            break
    return found, ""
