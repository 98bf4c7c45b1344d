# SPDX-License-Identifier: Apache-2.0
"""What an image takes of its stack, whoever linked it, and whether that is within limits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from atoll.api.images import NOT_BOUNDED
from atoll.description.faults import nearest
from atoll.diagnostics.errors import Fault, UsageError
from atoll.records import dataclass
from atoll.resolve.memory_views import core_as_it_sees
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.resolve.tables import Quantity, Table
from atoll.stack.bound import Depth, StackBound
from atoll.stack.elf_check import INTERRUPT, run_faults, whole_faults
from atoll.stack.elf_frames import Frame
from atoll.stack.elf_roots import Root, Roots, find_roots
from atoll.stack.elf_stack import Program
from atoll.stack.elf_threads import intended_stacks, misplaced_calls
from atoll.stack.frame_sizes import read_usage
from atoll_image.elf import ElfImage, refuse_damage

_MACHINES = ("EM_RISCV", "EM_ARM", "EM_AARCH64")
_ALLOW = "or pass --allow-unbounded"
_ALIGNED = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What is asked about an image's stack.

    Attributes:
        entries: names of functions that begin, in the place of those that hardware begins.
        usage: files of `-fstack-usage`, and folders of them.
        calls: functions that a function may call through pointers, by its name.
        nested: interrupts come on top of each other, one of each priority.
        priorities: of handlers; one that has none is of a priority of its own.
    """

    entries: Sequence[str] = ()
    usage: Sequence[Path | str] = ()
    calls: Mapping[str, Sequence[str]] = field(default_factory=dict)
    nested: bool = False
    priorities: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherStack:
    """A stack besides the first one; None is what is not known.

    Attributes:
        function: that sets its pointer, or that runs on it.
        place: of the instruction that sets the pointer of a second stack.
        top: where it ends.
        room: bytes of it.
        bytes: most that calls on it take.
        deepest: chain of these.
        thread: that a plan has it for, "" for what code sets by itself.
    """

    function: str
    place: int = 0
    top: int | None = None
    room: int | None = None
    bytes: int | None = None
    deepest: StackBound | None = None
    thread: str = ""

    def as_data(self) -> dict[str, object]:
        """Return it for programs."""
        known = {"top_address": self.top, "room_bytes": self.room, "bytes": self.bytes}
        path = _path_data(self.deepest) if self.deepest and self.bytes is not None else []
        return {"function": self.function, "thread": self.thread, **known, "path": path}


def _other(function: str, depth: Depth, top: int, room: int | None, thread: str = "") -> OtherStack:
    return OtherStack(
        function=function,
        top=top,
        room=room,
        bytes=None if depth.causes else depth.bound.bytes,
        deepest=depth.bound,
        thread=thread,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class StackUse:
    """What an image may take of its stacks; None where nothing bounds it.

    Attributes:
        program: the image.
        roots: what hardware begins.
        interrupts: handlers that are on the stack at once at worst, the outermost first.
        works: what each function that does a model's work uses, by the top of its stack.
        nested: handlers interrupt each other.
    """

    program: Program
    roots: Roots
    interrupts: tuple[Root, ...]
    works: tuple[tuple[int, Depth], ...] = ()
    nested: bool = False

    @property
    def entry_bytes(self) -> int | None:
        """Most bytes of the program itself."""
        return _most(self.roots.entries)

    @property
    def interrupt_bytes(self) -> int | None:
        """Most bytes of its interrupts."""
        sizes = [each.bytes for each in self.interrupts]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) and not self.roots.unknown else None

    @property
    def bytes(self) -> int | None:
        """Most bytes of all."""
        if self.entry_bytes is None or self.interrupt_bytes is None:
            return None
        return self.entry_bytes + self.interrupt_bytes

    def assumes(self) -> tuple[str, ...]:
        """Return on what the bound rests that the image does not show."""
        return (*self.roots.assumes, *_assumptions(self))

    def table(self) -> Table:
        """Return what hardware begins, and how deep that goes."""
        every = (*self.roots.entries, *self.roots.handlers)
        return Table(
            key="stack",
            title="What the image takes of its stack",
            columns=("function", "begun by", "bytes", "deepest chain of calls"),
            rows=tuple((each.name, each.why, _size(each.bytes), _reason(each)) for each in every),
            data=tuple(_as_data(each) for each in every),
        )

    def unbounded_faults(self) -> Iterator[Fault]:
        """Yield why nothing bounds it, once for each cause; handlers count unless one is named."""
        every = (*self.roots.entries, *(() if self.roots.named else self.roots.handlers))
        causes = dict.fromkeys(cause for each in every for cause in each.depth.causes)
        for cause in causes:
            message = f"the stack is {NOT_BOUNDED}: {cause.message}"
            yield Fault(
                code="E183", message=message, remedy=f"{cause.options or cause.remedy}, {_ALLOW}"
            )
        if self.roots.unknown and not self.roots.named:
            message = f"what interrupts take of the stack is not known: {self.roots.unknown}"
            remedy = f"{self.roots.remedy}, bound single functions with --entry NAME, {_ALLOW}"
            yield Fault(code="E183", message=message, remedy=remedy)
        for message, remedy in self._others_unknown():
            yield Fault(code="E188", message=message, remedy=remedy)

    def small(self, *, planned: bool = False) -> Iterator[Fault]:
        """Yield each other stack that has less room than calls on it may take.

        Args:
            planned: those that a plan has count too; without a chip nobody else looks at them.
        """
        for each in self.others():
            if each.top is None or each.room is None or each.bytes is None:
                continue
            if each.bytes > each.room and (planned or not each.thread):
                message = f"{each.function} may take {each.bytes} B of the stack below"
                message += f" {each.top:#010x}, which has {each.room} B; deepest: {each.deepest}"
                yield Fault(code="E189", message=message, remedy=self._larger(each))

    def _larger(self, stack: "OtherStack") -> str:
        assert stack.top is not None
        assert stack.room is not None
        assert stack.bytes is not None
        missing = -(stack.room - stack.bytes) + _ALIGNED - 1 & -_ALIGNED
        if stack.thread:
            size = f"{stack.room + missing} B or more"
            return f"give the stack of thread '{stack.thread}' {size} in the description"
        code = self.program.code
        begin, end = self._array(stack.top) or (stack.top, stack.top)
        name = f"'{code.objects.get(begin, 'the array')}'"
        if end - stack.top >= missing:
            return f"set the stack pointer to the end of {name}, {end - stack.top} B higher"
        higher = f", and set the stack pointer to its end, {end:#010x}" if end > stack.top else ""
        return f"make {name} larger by {missing - (end - stack.top)} B or more{higher}"

    def others(self) -> Iterator["OtherStack"]:
        """Yield stacks besides the first one: those that code sets, and those of a plan's threads.

        Firmware of Atoll names its stacks; what its plan has runs where these say.
        """
        program = self.program
        if program.top is None:
            first = self.roots.top
            for function, frame in tuple(program.frames.items()):
                for top in frame.tops:
                    first = top if first is None else first
                    if top != first:
                        array = self._array(top)
                        room = None if array is None else top - array[0]
                        yield _other(program.name(function), program.depth(function), top, room)
        for top, depth in self.works:
            thread = program.thread(top)
            if top != program.top and thread:
                limit = program.code.symbols.get(f"atoll_{thread}_stack_limit")
                room = None if limit is None else top - limit
                name = depth.bound.path[0][0] if depth.bound.path else thread
                yield _other(name, depth, top, room, thread)
        for name, place in program.second_stacks():
            yield OtherStack(function=name, place=place)

    def _array(self, top: int) -> tuple[int, int] | None:
        """Return begin and end of the array that a stack is in."""
        objects = self.program.code.object_ends.items()
        return next(((begin, end) for begin, end in objects if begin < top <= end), None)

    def _others_unknown(self) -> Iterator[tuple[str, str]]:
        """Yield (message, remedy) of each stack that is not known."""
        for each in self.others():
            if each.top is None:
                message = f"{each.function} sets the pointer of a second one at {each.place:#010x}"
                message = f"what another stack takes is not known: {message}"
                remedy = "bound what runs on it with --entry, and pass --allow-unbounded"
                yield message, remedy
            elif each.room is None:
                message = f"{each.function} sets the stack pointer to {each.top:#010x}"
                message = f"the room of another stack is not known: {message}, where no array is"
                yield message, f"give each stack an array of its own whose size is enough, {_ALLOW}"


def stack_of(
    path: Path, image: ElfImage, questions: Questions | None = None, vectors: int | None = None
) -> StackUse:
    """Return what an image may take of its stack.

    Args:
        path: of the image.
        image: likewise, read.
        questions: that are asked about it.
        vectors: address of the vectors of a Cortex-M, None to look for them.

    Raises:
        UsageError: E184, a name that the image does not have; E185, as `read_usage`; E186, code
            that cannot be followed.
    """
    questions = questions or Questions()
    if image.machine not in _MACHINES:
        message = f"'{path}' is machine code of {image.machine}, which is not followed"
        raise UsageError("E186", message, remedy="give an image for RISC-V, Thumb or A64")
    if any(section.end > 1 << 32 for section in image.sections):
        message = f"'{path}' has sections beyond 32 bits of address"
        raise UsageError("E186", message, remedy="link it below 4 GiB")
    sizes = read_usage(tuple(map(Path, questions.usage)))
    with refuse_damage(path):
        program = Program.read(path, sizes)
        calls = {
            _address(program, caller): tuple(_address(program, each) for each in callees)
            for caller, callees in questions.calls.items()
        }
        program.declared, program.asked = {**program.declared, **calls}, frozenset(calls)
        named = tuple(_address(program, name) for name in questions.entries)
        handler = program.address_of(INTERRUPT)
        handling = () if handler is None else (handler,)
        roots = find_roots(program, image.entry, vectors, named, handling)
        levels = {
            program.name(_address(program, name)): level
            for name, level in questions.priorities.items()
        }
        works = [(top, program.depth(at)) for at, top in intended_stacks(program).items()]
    return StackUse(
        program=program,
        roots=roots,
        interrupts=_at_once(roots.handlers, levels, nested=questions.nested),
        works=tuple(works),
        nested=questions.nested or bool(levels),
    )


def _assumptions(use: StackUse) -> Iterator[str]:
    program, roots = use.program, use.roots
    if roots.named:
        yield f"nothing but {', '.join(each.name for each in roots.entries)} counts as the program"
    if use.nested:
        yield "a handler interrupts none of its own priority, and not itself"
    elif roots.handlers:
        yield "no handler interrupts another one, or itself (--nested adds them up)"
    frames = dict(_follow(use))
    for address, frame in frames.items():
        if frame.unresolved and (callees := program.declared.get(address)):
            names = ", ".join(map(program.name, callees))
            yield f"through pointers, {program.name(address)} calls {names} alone, as is stated"
    for address, size in program.sized.items():
        if address in frames:
            yield f"{program.name(address)} takes {size} B itself, as its compiler says"
    if any(program.calls_of_nothing()):
        yield "weak functions that the image lacks are not called"
    if any(frame.unknown for frame in frames.values()):
        yield "instructions that are not known neither jump, nor move the stack pointer, nor store"
    if any(frame.loose for frame in frames.values()):
        yield "below its stack pointer, a function stores only where its own code shows the offset"
    if any(frame.writes for frame in frames.values()):
        yield "no store through a pointer changes code, a saved register or where exceptions begin"


def _follow(use: StackUse) -> Iterator[tuple[int, Frame]]:
    """Yield (address, frame) of each function that counts, those first that begin."""
    program = use.program
    roots = (*use.roots.entries, *use.roots.handlers)
    pending = [*(each.address for each in roots), *intended_stacks(program)]
    known: set[int] = set()
    while pending:
        if (address := pending.pop()) in known or address not in program.frames:
            continue
        known.add(address)
        yield address, program.frames[address]
        pending += [target for target, _ in program.callees(address)]


def limits(soc: ResolvedSoc, name: str, use: StackUse) -> Iterator[Fault]:
    """Yield each limit of a core that its image exceeds, as faults of code E140.

    Work of a model on another stack than the plan has it on is E201.
    """
    core = soc.device(name)
    assert isinstance(core, Cpu)
    seen = core_as_it_sees(soc, core)
    for fault in _excess_faults(core, seen, use):
        yield replace(fault, code="E140", at=fault.at or core.at)
    yield from misplaced_calls(use.program, [each.address for each in use.roots.entries], seen)
    for function, top in dict.fromkeys(use.program.stack_tops()):
        if not any(stack.origin < top <= stack.end for stack in seen.stacks):
            message = f"{function} sets the stack pointer to {top:#010x}, outside of the core's"
            remedy = "correct the linker script, or the description"
            yield Fault(code="E140", message=f"{message} stacks", at=core.at, remedy=remedy)
    for address, top in intended_stacks(use.program).items():
        if top != use.program.top and thread_of(seen, top) is None:
            function = use.program.name(address)
            message = f"'{function}' has its stack up to {top:#010x}, where none of the core's ends"
            remedy = "link the image for this chip again"
            yield Fault(code="E140", message=message, at=core.at, remedy=remedy)


def _excess_faults(core: Cpu, seen: Cpu, use: StackUse) -> Iterator[Fault]:
    bounded = [each for each in use.roots.entries if not each.depth.causes]
    if whole := max(
        (each.depth.bound for each in bounded), key=lambda each: each.bytes, default=None
    ):
        yield from whole_faults(core, whole)
        if INTERRUPT in use.program.code.symbols and not use.works and not core.run_thread:
            yield from run_faults(core, whole)
    for top, depth in use.works:
        if not depth.causes and (thread := thread_of(seen, top)) is not None:
            yield from run_faults(core.on_thread(thread), depth.bound)
    if (need := use.interrupt_bytes) is not None and need > core.interrupt_reserve:
        chain = " under ".join(str(each.depth.bound) for each in use.interrupts)
        message = (
            f"interrupts on '{core.name}' may use {need} B of stack, but only "
            f"{core.interrupt_reserve} B are kept for them; deepest: {chain}"
        )
        remedy = f"set 'devices.{core.name}.stack.interrupts' to {need} or more"
        yield Fault(code="E140", message=message, remedy=remedy)


def thread_of(core: Cpu, top: int) -> str | None:
    """Return the thread whose stack has its end at an address, "" for the main one."""
    names = (stack.name.split(".")[1:-1] for stack in core.stacks if stack.end == top)
    return next((".".join(name) for name in names), None)


def _at_once(
    handlers: Sequence[Root], levels: Mapping[str, int], *, nested: bool
) -> tuple[Root, ...]:
    """Return the handlers that take the most together: one, or one of each priority."""
    groups: dict[object, Root] = {}
    for each in handlers:
        group = levels.get(each.name, each.name) if nested or levels else None
        if group not in groups or _weight(groups[group]) < _weight(each):
            groups[group] = each
    return tuple(groups.values())


def _weight(root: Root) -> tuple[bool, int]:
    return bool(root.depth.causes), root.pushed + root.depth.bound.bytes


def _most(roots: Sequence[Root]) -> int | None:
    sizes = [each.bytes for each in roots]
    known = [size for size in sizes if size is not None]
    return max(known, default=0) if len(known) == len(sizes) else None


def _address(program: Program, name: str) -> int:
    found = program.address_of(name)
    if found is None:
        remedy = nearest(name, tuple(program.code.names.values()))
        raise UsageError("E184", f"the image has no function '{name}'", remedy=remedy)
    return found


def _size(size: int | None) -> Quantity:
    return Quantity(size, NOT_BOUNDED if size is None else f"{size:,} B")


def _reason(root: Root) -> str:
    if root.depth.causes:
        return root.depth.causes[0].message
    chain = " > ".join(f"{function} {size}" for function, size in root.depth.bound.path)
    return f"hardware {root.pushed} > {chain}" if root.pushed else chain


def _as_data(root: Root) -> Mapping[str, object]:
    return {
        "function": root.name,
        "begun_by": root.why,
        "handles_exception": root.handles,
        "pushed_bytes": root.pushed,
        "bytes": root.bytes,
        "path": [] if root.depth.causes else _path_data(root.depth.bound),
        "not_bounded": [
            {"function": each.function, "why": each.message} for each in root.depth.causes
        ],
    }


def _path_data(bound: StackBound) -> list[dict[str, object]]:
    """Return a chain of calls for programs."""
    return [{"function": name, "bytes": size} for name, size in bound.path]
