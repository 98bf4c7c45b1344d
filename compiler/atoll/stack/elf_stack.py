"""K2: the most stack that a linked image can use, from its machine code alone."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.errors import Fault, PlanError
from atoll.stack import a64, riscv, thumb
from atoll.stack.bound import StackBound
from atoll.stack.elf_calls import MACRO, declared_calls
from atoll.stack.elf_frames import Frame, Indirect, analyse
from atoll.stack.riscv import Instruction

_OTHER_STACK = re.compile(r"atoll_\w+_stack_top")


@dataclass(slots=True)
class Program:
    """Functions of an image by start address; frames and bounds are filled in as asked for."""

    names: dict[int, str]
    code: dict[int, bytes]
    top: int
    tops: frozenset[int]
    decode: Callable[[bytes, int], Iterator[Instruction]]
    declared: Mapping[int, tuple[int, ...]]
    frames: dict[int, Frame] = field(default_factory=dict)
    bounds: dict[int, StackBound] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @classmethod
    def read(cls, elf: Path) -> "Program":
        """Read a linked image."""
        with elf.open("rb") as file:
            return cls._of(ELFFile(file))

    @classmethod
    def _of(cls, image: ELFFile) -> "Program":
        names, code, top, tops = {}, {}, 0, set()
        thumb_code = image["e_machine"] == "EM_ARM"
        table = image.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols():
            if symbol.name == "atoll_stack_top":
                top = symbol["st_value"]
            elif _OTHER_STACK.fullmatch(symbol.name):
                tops.add(symbol["st_value"])
            if symbol["st_info"]["type"] != "STT_FUNC" or not symbol["st_size"]:
                continue
            address = symbol["st_value"] & (~1 if thumb_code else ~0)
            section = image.get_section(symbol["st_shndx"])
            start = address - section["sh_addr"]
            if symbol["st_info"]["bind"] == "STB_GLOBAL" or address not in names:
                names[address] = symbol.name
            code[address] = section.data()[start : start + symbol["st_size"]]
        others = {"EM_ARM": thumb.decode, "EM_AARCH64": a64.decode}
        usual = partial(riscv.decode, bits=image.elfclass)
        decode = others.get(image["e_machine"], usual)
        return cls(names, code, top, frozenset(tops), decode, declared_calls(image))

    def has(self, name: str) -> bool:
        """Tell whether the image defines the function `name`."""
        return name in self.names.values()

    def bound(self, entry: str) -> StackBound:
        """Bound the stack that `entry` and all it calls use.

        Raises:
            PlanError: E076 for each thing that `entry` reaches and that leaves the stack
                unbounded: recursion, a call whose target neither the code nor an annotation
                shows, a stack pointer that moves by an amount that is not constant; and for
                annotations that are wrong.
        """
        address = next(address for address, name in self.names.items() if name == entry)
        self._bound(address, ())
        if self.faults:
            raise PlanError.all(self.faults)
        return self.bounds[address]

    def _bound(self, address: int, callers: tuple[int, ...]) -> StackBound:
        if address in self.bounds:
            return self.bounds[address]
        if address in callers:
            self._refuse_recursion((*callers[callers.index(address) :], address))
            return StackBound(bytes=0, path=())
        name = self._name(address)
        frame = self._frame(address)
        self.faults.extend(self._frame_faults(address, frame))
        best = StackBound(bytes=frame.deepest, path=((name, frame.deepest),))
        for target, depth in (*frame.calls, *self._declared(address, frame)):
            below = self._bound(target, (*callers, address))
            if depth + below.bytes >= best.bytes:
                path = ((name, depth), *below.path)
                best = StackBound(bytes=depth + below.bytes, path=path)
        for target in frame.elsewhere:
            self._bound(target, (*callers, address))
        self.bounds[address] = best
        return best

    def _declared(self, address: int, frame: Frame) -> Iterator[tuple[int, int]]:
        """Yield (address called, bytes taken) of each declared target of an indirect call."""
        for place in frame.unresolved:
            for target in self.declared.get(address, ()):
                yield target, place.depth

    def _frame(self, address: int) -> Frame:
        if address not in self.frames:
            # Until its own code is known, a function is taken to come back.
            self.frames[address] = _UNKNOWN
            start = self._start(address)
            if start is not None:
                self.frames[address] = analyse(
                    self.decode(self.code[start], start),
                    top=self.top,
                    returns=self._returns,
                    others=self.tops,
                    entry=address,
                )
        return self.frames[address]

    def _start(self, address: int) -> int | None:
        """Return where the function begins that has code at `address`.

        Libraries written in assembly jump into each other's middle.
        """
        if address in self.code:
            return address
        return next((s for s, code in self.code.items() if s < address < s + len(code)), None)

    def _returns(self, address: int) -> bool:
        return self._frame(address).returns

    def _name(self, address: int) -> str:
        return self.names.get(address, f"0x{address:08X}")

    def _frame_faults(self, address: int, frame: Frame) -> Iterator[Fault]:
        name = self._name(address)
        if self._start(address) is None:
            yield _opaque(f"code at {name} is called, but no function is there")
        yield from self._indirect_faults(address, frame)
        if frame.unbounded is not None:
            yield Fault(
                code="E076",
                message=f"{name} loses track of its stack pointer at 0x{frame.unbounded:08X}",
                remedy="use arrays of constant size instead of alloca and variable-length arrays",
            )

    def _indirect_faults(self, address: int, frame: Frame) -> Iterator[Fault]:
        """Refuse what no annotation covers; a switch in disguise is never covered."""
        name, known = self._name(address), address in self.declared
        for place in frame.unresolved:
            if not known or (place.leaves and not frame.covered):
                yield _opaque(_unknown_target(name, place))
        if known and not frame.unresolved:
            yield Fault(
                code="E076",
                message=f"{MACRO} says what {name} calls, but it calls nothing through a pointer",
                remedy=f"delete the {MACRO}, or name the function that makes the call",
            )
        for target in self.declared.get(address, ()):
            if target not in self.code:
                yield Fault(
                    code="E076",
                    message=f"{MACRO} says that {name} calls 0x{target:08X}, "
                    "where no function starts",
                    remedy=f"give {MACRO} the names of two functions",
                )

    def _refuse_recursion(self, cycle: tuple[int, ...]) -> None:
        path = " > ".join(map(self._name, cycle))
        self.faults.append(
            Fault(
                code="E076",
                message=f"recursion makes the stack unbounded: {path}",
                remedy="turn the recursion into a loop",
            )
        )


_UNKNOWN = Frame(deepest=0, calls=(), returns=True, unresolved=(), unbounded=None)


def _unknown_target(name: str, place: Indirect) -> str:
    return f"{name} jumps at 0x{place.address:08X} to an address that its code does not show"


def _opaque(message: str) -> Fault:
    remedy = (
        f"call functions by name, or say with {MACRO} of atoll_stack.h which ones a pointer "
        "can hold; let comparisons stand for a switch"
    )
    return Fault(code="E076", message=message, remedy=remedy)
