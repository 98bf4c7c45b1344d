# SPDX-License-Identifier: Apache-2.0
"""K2: the most stack that a linked image can use, from its machine code alone."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.diagnostics.errors import Fault, PlanError
from atoll.records import dataclass
from atoll.stack.bound import Cause, Depth, StackBound
from atoll.stack.elf_calls import MACRO, declared_calls
from atoll.stack.elf_code import Code, read_code
from atoll.stack.elf_frames import UNKNOWN, Frame, Surroundings, analyse
from atoll.stack.frame_sizes import FrameSizes, sizes_in
from atoll.stack.function_sources import sources_in
from atoll.stack.instruction import RA, Instruction, Kind
from atoll.stack.register_values import NOTHING, Given

_STACK = "atoll_stack_top"
_OTHER_STACK = re.compile(r"atoll_(\w+)_stack_top")
_SHARED = ("__riscv_save_", "__riscv_restore_")
"""Functions of GCC's and LLVM's libraries that move the stack pointer of their callers."""
_UNREACHED = "bound functions that do not reach it with --entry NAME"
_NO_TABLES = "compile it with -fno-jump-tables, if that is a switch"
_KEPT = {
    "arrays": ("use arrays of constant size instead of alloca and variable-length arrays", ""),
    "value": (
        "set it to a constant; use arrays of constant size instead of alloca and "
        "variable-length arrays",
        "",
    ),
    "one": ("let one function run on one stack", _UNREACHED),
    "known": ("compile it for a core without that instruction", _UNREACHED),
    "same": ("let it end with the stack pointer that it began with", _UNREACHED),
}
"""What is done about a stack pointer that is not known, in sources and by options."""
_DEEPEST_CHAIN = 100_000
_MOST_CAUSES = 100


@dataclass(slots=True)
class Program:
    """Functions of an image by start address; frames and bounds are filled in as asked for.

    Attributes:
        told: frames of functions that get an address from which they reach VTOR, by what they get.
        asked: callers whose calls through pointers a command says, and not the image.
        sized: bytes of functions that the compiler says, where code does not show them.
    """

    code: Code
    top: int | None
    tops: frozenset[int]
    declared: Mapping[int, tuple[int, ...]]
    sizes: FrameSizes
    labels: frozenset[int]
    frames: dict[int, Frame] = field(default_factory=dict)
    depths: dict[int, Depth] = field(default_factory=dict)
    told: dict[tuple[int, Given], Frame] = field(default_factory=dict)
    asked: frozenset[int] = frozenset()
    sized: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, elf: Path, sizes: FrameSizes | None = None) -> "Program":
        """Read a linked image.

        Args:
            elf: the image.
            sizes: of functions, as the compiler wrote them; those in the image count as well.
        """
        with elf.open("rb") as file:
            image = ELFFile(file)
            code = read_code(image)
            if sizes and sizes.by_name:
                code = replace(code, sources={**code.sources, **sources_in(image)})
            found = sizes_in(image)
            declared = declared_calls(image)
        if not code.names:
            code = code.with_names({code.entry: f"0x{code.entry:08X}", **_called_functions(code)})
        tops = (at for name, at in code.symbols.items() if _OTHER_STACK.fullmatch(name))
        known = found if sizes is None else sizes.merge(found)
        top, labels = code.symbols.get(_STACK), frozenset(code.symbols.values())
        return cls(code, top, frozenset(tops), declared, known, labels)

    def has(self, name: str) -> bool:
        """Tell whether the image defines the function `name`."""
        return name in self.code.names.values()

    @property
    def stack_ends(self) -> Mapping[int, str]:
        """Return what Atoll's linker scripts call the end of each stack, by address."""
        return {
            at: name
            for name, at in self.code.symbols.items()
            if name == _STACK or _OTHER_STACK.fullmatch(name)
        }

    def address_of(self, name: str) -> int | None:
        """Return where a function begins, None if the image does not define it."""
        return next((address for address, each in self.code.names.items() if each == name), None)

    def bound(self, entry: str, *, handles: bool = False) -> StackBound:
        """Bound the stack that `entry` and all it calls use; `handles` as in `depth`.

        Raises:
            PlanError: E076 for each thing that `entry` reaches and that leaves the stack
                unbounded: recursion, a call whose target neither the code nor an annotation
                shows, a stack pointer that moves by an amount that is not constant; for
                annotations that are wrong; and where the image has no `entry`.
        """
        address = self.address_of(entry)
        if address is None:
            raise PlanError(
                "E076",
                f"the image has no '{entry}', so nothing bounds the stack of what its start-up"
                " code does",
                remedy=f"let start-up code of your own go on with '{entry}'",
            )
        depth = self.depth(address, handles=handles)
        if depth.causes:
            raise PlanError.all(
                Fault(code="E076", message=each.message, remedy=each.remedy)
                for each in depth.causes
            )
        return depth.bound

    def depth(
        self, address: int, *, handles: bool = False, begins: bool = False, named: bool = False
    ) -> Depth:
        """Return what the function at an address, with all it calls, uses of the stack.

        Args:
            address: of its first instruction.
            handles: it handles an exception, so it may end with a return from one.
            begins: hardware begins it, so nobody is there to return to.
            named: somebody asks for it alone, so it may be a handler itself.
        """
        with _deep_recursion():
            found = self._depth(address, ())
        if named:
            own = self.name(address)
            causes = (each for each in found.causes if not (each.resumes and each.function == own))
            found = replace(found, causes=tuple(causes))
        if handles:
            found = replace(found, causes=tuple(each for each in found.causes if not each.resumes))
        if begins:
            own = self.name(address)
            causes = (each for each in found.causes if not (each.ends and each.function == own))
            found = replace(found, causes=tuple(causes))
        return found

    def traps(self) -> Iterator[tuple[str, int | None]]:
        """Yield (function, where it has exceptions begin); None is somewhere unknown."""
        for address, frame in self._every_frame():
            for place in frame.traps:
                yield self.name(address), place

    def moves(self) -> Iterator[tuple[str, int]]:
        """Yield (function, address) of what may set VTOR in a way that its code does not show."""
        for address, frame in self._every_frame():
            if frame.moves is not None:
                yield self.name(address), frame.moves

    def _every_frame(self) -> Iterator[tuple[int, Frame]]:
        yield from tuple(self.frames.items())
        yield from ((address, frame) for (address, _), frame in tuple(self.told.items()))

    def stack_tops(self) -> Iterator[tuple[str, int]]:
        """Yield (function, constant) of what code that was followed sets the stack pointer to."""
        for address, frame in self.frames.items():
            for top in frame.tops:
                yield self.name(address), top

    def second_stacks(self) -> Iterator[tuple[str, int]]:
        """Yield (function, address) of what code that was followed gives a second pointer."""
        for address, frame in self.frames.items():
            if frame.second is not None:
                yield self.name(address), frame.second

    def thread(self, top: int) -> str:
        """Return the thread whose stack ends at an address, "" if that of none does."""
        tops = ((_OTHER_STACK.fullmatch(name), at) for name, at in self.code.symbols.items())
        return next((found[1] for found, at in tops if found and at == top), "")

    def name(self, address: int) -> str:
        """Return the name of the function at an address, or where it is."""
        if address in self.code.names:
            return self.code.names[address]
        start = self.code.start(address)
        inside = self.code.names.get(start, "") if start is not None else ""
        return f"{inside}+{address - (start or 0):#x}" if inside else f"0x{address:08X}"

    def _depth(self, address: int, callers: tuple[int, ...]) -> Depth:
        if address in self.depths:
            return self.depths[address]
        if address in callers:
            cause = self._recursion((*callers[callers.index(address) :], address))
            return Depth(bound=StackBound(bytes=0, path=()), causes=(cause,))
        name = self.name(address)
        frame = self._frame(address)
        causes = dict.fromkeys(self._causes(address, frame))
        best = StackBound(bytes=frame.deepest, path=((name, frame.deepest),))
        for target, depth in (*frame.calls, *self._declared_calls(address, frame)):
            if self._is_absent(target):
                continue
            below = self._depth(target, (*callers, address))
            causes |= dict.fromkeys(below.causes)
            if depth + below.bound.bytes >= best.bytes:
                path = ((name, depth), *below.bound.path)
                best = StackBound(bytes=depth + below.bound.bytes, path=path)
        for target, _ in frame.elsewhere:
            causes |= dict.fromkeys(self._depth(target, (*callers, address)).causes)
        self.depths[address] = Depth(bound=best, causes=tuple(causes)[:_MOST_CAUSES])
        return self.depths[address]

    def calls_of_nothing(self) -> Iterator[str]:
        """Yield functions that call a weak one that the image lacks."""
        for address, frame in self.frames.items():
            if any(self._is_absent(target) for target, _ in frame.calls):
                yield self.name(address)

    def _is_absent(self, target: int) -> bool:
        return not target and self.code.absent and not self.code.runs(target)

    def callees(self, address: int) -> Iterator[tuple[int, int | None]]:
        """Yield what code that was followed calls from an address, and on which stack.

        That is the top of the stack of a thread, or None for the stack of the caller.
        """
        frame = self.frames.get(address, UNKNOWN)
        for target, _ in (*frame.calls, *self._declared_calls(address, frame)):
            yield target, None
        yield from frame.elsewhere

    def _declared_calls(self, address: int, frame: Frame) -> Iterator[tuple[int, int]]:
        """Yield (address called, bytes taken) of each declared target of an indirect call."""
        for place in frame.unresolved:
            for target in self.declared.get(address, ()):
                yield target, place.depth

    def _frame(self, address: int) -> Frame:
        if address not in self.frames:
            self.frames[address] = UNKNOWN
            self.frames[address] = self._analyse(address, NOTHING)
        return self.frames[address]

    def _frame_given(self, address: int, given: Given) -> Frame:
        """Return the frame of a function that gets the address of VTOR, or of what is near it."""
        if (address, given) not in self.told:
            self.told[address, given] = UNKNOWN
            self.told[address, given] = self._analyse(address, given)
        return self.told[address, given]

    def _analyse(self, address: int, given: Given) -> Frame:
        start = self._start(address)
        if start is None:
            return UNKNOWN
        around = Surroundings(
            frame=self._frame,
            told=self._frame_given if self.code.machine == "EM_ARM" else None,
            middle=self._middle,
            shared=self._shared_prologue,
            others=self.tops,
            labels=self.labels,
            constants=self.code.read_constant,
            cold=partial(self._is_cold, f"{self.name(address)}.cold"),
            word=self.code.bits // 8,
        )
        follow = partial(
            analyse,
            around=around,
            top=self.top,
            given=given,
            pointed=self.declared.get(address, ()),
            entry=address,
        )
        analysed = follow(self.code.decode(start, address))
        named = self.code.names.get(address, "")
        file = self.code.sources.get(address)
        size = self.sizes.of(
            named,
            address,
            self.code.files if file is None else (file,),
            alone=file is not None or self._twins(named) == 1,
        )
        if analysed.unbounded is not None and size is not None:
            analysed = follow(self.code.decode(start, address), size=size)
            self.sized[address] = size
        return analysed

    def _start(self, address: int) -> int | None:
        """Return where the function begins that has code at `address`, if it can be followed."""
        if not self.code.runs(address) or self._is_arm(address):
            return None
        return self.code.start(address)

    def _middle(self, address: int) -> Iterable[Instruction]:
        """Return the function that has an address in its middle; nothing if none has."""
        start = self._start(address)
        return () if start in (None, address) else self.code.decode(start, address)

    def _shared_prologue(self, address: int) -> Iterable[Instruction]:
        """Return what saves or restores registers for others, as -msave-restore has it."""
        shared = self.code.names.get(address, "").startswith(_SHARED)
        return self.code.decode(address, address) if shared else ()

    def _twins(self, name: str) -> int:
        """Return how many functions have a name, as static ones of several files may."""
        return sum(each == name for each in self.code.names.values())

    def _is_cold(self, part: str, address: int) -> bool:
        """Tell whether an address is in the part of a function that compilers put elsewhere."""
        start = self.code.start(address)
        return start is not None and self.code.names.get(start, "").startswith(part)

    def _is_arm(self, address: int) -> bool:
        return any(begin <= address < end for begin, end in self.code.arm.items())

    def _causes(self, address: int, frame: Frame) -> Iterator[Cause]:
        """Yield what of a function's own code leaves the stack unbounded."""
        name = self.name(address)
        if self._is_arm(address):
            message = f"{name} is Arm code of 32-bit instructions (A32), which is not followed"
            yield Cause(function=name, message=message, remedy="compile it as Thumb code")
        elif self._start(address) is None:
            yield Cause(
                function=name,
                message=f"code at {name} is called, but no function is there",
                remedy="link the code that is there into the image",
                options=_UNREACHED,
            )
        yield from self._indirect_causes(address, frame)
        if (astray := frame.astray) is not None and (ends := self.stack_ends):
            end = min(ends, key=lambda each: abs(each - astray))
            message = f"{name} has its stack pointer at {astray:#010x}, which is '{ends[end]}'"
            message += f" {astray - end:+}, where no stack ends"
            yield Cause(function=name, message=message, remedy=f"set it to '{ends[end]}' itself")
        elif frame.unbounded is not None:
            why, kind = frame.lost.value
            message = (
                f"{name} loses track of its stack pointer at 0x{frame.unbounded:08X}: it {why}"
            )
            remedy, options = _KEPT[kind]
            apart = address in self.code.sources
            if name in self.sizes.by_name and not apart and (twins := self._twins(name)) > 1:
                message += f", and --su tells the {twins} functions of this name not apart"
                remedy, options = "give one of them another name", ""
            yield Cause(function=name, message=message, remedy=remedy, options=options)
        if frame.stale is not None:
            message = f"{name} goes at 0x{frame.stale:08X} to what a call left in the link register"
            remedy = "save the link register before the call, and restore it"
            yield Cause(function=name, message=message, remedy=remedy, ends=True)
        if frame.resumes is not None:
            yield Cause(
                function=name,
                message=f"{name} returns from an exception at 0x{frame.resumes:08X}, to an address "
                "that its code does not show",
                remedy="call or jump to the function by its name",
                options=_UNREACHED,
                resumes=True,
            )

    def _indirect_causes(self, address: int, frame: Frame) -> Iterator[Cause]:
        """Refuse what no annotation covers; a switch in disguise is never covered."""
        name, known = self.name(address), address in self.declared
        for place in frame.unresolved:
            if not known or (place.leaves and not frame.covered):
                calls = f"say what it can call with --calls {name}=NAME,..."
                yield Cause(
                    function=name,
                    message=f"{name} jumps at 0x{place.address:08X} to an address that its code "
                    "does not show",
                    remedy=f"call functions by name, or say with {MACRO} of atoll_stack.h which "
                    "ones a pointer can hold; let comparisons stand for a switch",
                    options=_NO_TABLES if place.leaves and not frame.covered else calls,
                )
        if known and not frame.unresolved:
            word = "--calls" if address in self.asked else MACRO
            yield Cause(
                function=name,
                message=f"{word} says what {name} calls, but it calls nothing through a pointer",
                remedy=f"delete the {word}, or name the function that makes the call",
            )
        for target in self.declared.get(address, ()):
            if target not in self.code.names:
                yield Cause(
                    function=name,
                    message=f"{MACRO} says that {name} calls 0x{target:08X}, "
                    "where no function starts",
                    remedy=f"give {MACRO} the names of two functions",
                )

    def _recursion(self, cycle: tuple[int, ...]) -> Cause:
        path = " > ".join(map(self.name, cycle))
        return Cause(
            function=self.name(cycle[0]),
            message=f"recursion makes the stack unbounded: {path}",
            remedy="turn the recursion into a loop",
        )


def _called_functions(code: Code) -> Mapping[int, str]:
    """Return where code of an image without symbols calls functions, named by address."""
    found: dict[int, str] = {}
    for begin, _ in code.executable:
        for item in code.decode(begin, begin):
            if item.kind is Kind.JUMP and item.rd == RA and code.runs(item.immediate):
                found[item.immediate] = f"0x{item.immediate:08X}"
    return found


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let chains of calls be as long as those of large images are."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, _DEEPEST_CHAIN))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)
