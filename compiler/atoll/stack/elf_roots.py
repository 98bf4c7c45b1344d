# SPDX-License-Identifier: Apache-2.0
"""Where an image begins, and where its exceptions do: what needs a bound of its own.

Sources: Armv7-M and Armv8-M manuals, "The vector table"; RISC-V privileged manual, "mtvec"; A64:
Arm ARM, "Exception vectors".
"""

from collections.abc import Sequence
from dataclasses import dataclass

from atoll.stack.bound import Depth
from atoll.stack.elf_code import Code
from atoll.stack.elf_stack import Program
from atoll.stack.instruction import SP, Kind

_WORD = 4
_HARDWARE = ("entry", "reset")
_RESET, _FIRST_HANDLER, _MOST_VECTORS = 1, 2, 512
_A64_STEP, _A64_VECTORS = 0x80, 16
_CAUSES, _FROM_TABLE = 64, 3
_RESERVED = (7, 8, 9, 10, 13)
"""Vectors that some profile reserves; boot loaders keep checksums and marks there."""
_FRAME, _FLOAT_FRAME = 36, 108
"""Bytes that a Cortex-M pushes for an exception, 4 of them to align the stack."""


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
        top: where the stack begins that hardware sets up, None if it sets up none.
    """

    entries: tuple[Root, ...]
    handlers: tuple[Root, ...]
    unknown: str
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
    table, lost = tuple[int, ...](), ""
    if thumb:
        entry &= ~1
        table, lost = _vectors(code, vectors if vectors is not None else _table(code, entry))
    begins = {entry: "entry"} if not named else dict.fromkeys(named, "named")
    if len(table) > _RESET and not named:
        begins.setdefault(table[_RESET] & ~1, "reset")
    entries = tuple(_root(program, at, why) for at, why in begins.items())
    program.depth(entry)  # it may say where exceptions begin, also where another one is named
    places = dict.fromkeys(handling, "trap") if not thumb else _number_handlers(table)
    handlers: dict[int, Root] = {}
    while True:  # handlers may set up others
        found, unknown = _set_up(program)
        unknown = unknown or lost
        places |= {at: why for at, why in found.items() if at not in places}
        more = [at for at in places if at not in handlers and at not in begins]
        if not more:
            break
        pushed = 0 if not thumb else _FLOAT_FRAME if code.floats else _FRAME
        for at in more:
            handlers[at] = _root(program, at, places[at], handles=True, pushed=pushed)
    if thumb and not table and not unknown:
        unknown = "no vector table is found"
    if not (thumb or handlers or unknown) and code.returns_from_traps:
        unknown = "code returns from traps, and nothing that was followed says where they begin"
    return Roots(
        entries=entries,
        handlers=tuple(sorted(handlers.values(), key=lambda each: each.address)),
        unknown=unknown,
        top=table[0] if table else None,
    )


def _number_handlers(table: Sequence[int]) -> dict[int, str]:
    """Return the handlers of the vectors of a Cortex-M, each with its first number."""
    handlers = reversed([*enumerate(table)][_FIRST_HANDLER:])
    return {at & ~1: f"vector {number}" for number, at in handlers if at}


def _set_up(program: Program) -> tuple[dict[int, str], str]:
    """Return where exceptions begin that code sets up, and why that is not known, "" if it is."""
    code, unknown = program.code, ""
    places: dict[int, str] = {}
    for function, base in program.traps():
        where = f"{function} sets where exceptions begin to"
        if base is None:
            unknown = f"{where} an address that its code does not show"
        elif code.machine == "EM_AARCH64":
            span = range(base, base + _A64_STEP * _A64_VECTORS, _A64_STEP)
            places |= {at: "exception" for at in span if code.runs(at)}
            unknown = unknown or ("" if code.runs(base) else f"{where} {base:#010x}, without code")
        elif code.machine == "EM_RISCV":
            handlers, lost = _riscv_handlers(code, base)
            places |= dict.fromkeys(handlers, "trap")
            unknown = unknown or (f"{function} sets {lost}" if lost else "")
        elif not code.fixed(base, _WORD):
            unknown = f"{where} a table at {base:#010x}, which code may change"
        else:
            table, lost = _vectors(code, base)
            places |= _number_handlers(table)
            unknown = unknown or lost
    return places, unknown


def _root(
    program: Program, address: int, why: str, *, handles: bool = False, pushed: int = 0
) -> Root:
    return Root(
        address=address,
        name=program.name(address),
        why=why,
        handles=handles,
        pushed=pushed,
        depth=program.depth(address, handles=handles, begins=why in _HARDWARE),
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


def _vectors(code: Code, begin: int | None) -> tuple[tuple[int, ...], str]:
    """Return the vectors at an address, and why some are not known, "" if all are.

    Words that the architecture reserves may hold anything. A table goes on behind its symbol for
    as long as words lead to Thumb code: an image may have it in several arrays.
    """
    if begin is None:
        return (), ""
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
            what = f"vector {number} leads to {word:#010x}, where the image has no code"
            return tuple(found), what
        found.append(word)
    return tuple(found), ""


def _leads(code: Code, word: int) -> bool:
    """Tell whether a word is the address of Thumb code."""
    return bool(word & 1) and code.runs(word & ~1)


def _is_table(code: Code, begin: int) -> bool:
    """Tell whether the object at an address holds addresses of Thumb code, and nothing else."""
    words = [code.word(at) for at in range(begin, code.object_ends.get(begin, begin), _WORD)]
    return any(words) and all(
        word is not None and (not word or _leads(code, word)) for word in words
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
