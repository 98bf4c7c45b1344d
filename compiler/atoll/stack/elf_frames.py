# SPDX-License-Identifier: Apache-2.0
"""Stack use of one function, from its machine code."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import field, replace
from enum import Enum

from atoll.records import dataclass
from atoll.stack.instruction import (
    NOWHERE,
    OTHER_SP,
    RA,
    RESUME,
    SP,
    T0,
    TRAP,
    ZERO,
    Instruction,
    Kind,
    Reader,
)
from atoll.stack.jump_tables import JumpTables
from atoll.stack.register_values import (
    FORMER,
    LINK,
    NOTHING,
    RESULT,
    STALE,
    T0_LINK,
    TEMPORARIES,
    VECTORS,
    Given,
    State,
    Value,
    after_call,
    callee_inputs,
    decide_branch,
    either,
    join,
    leads,
    place_of,
    result,
    with_value,
)

_WORD = 0xFFFF_FFFF
_REGISTERS = 40
_EXCEPTION_RETURN = 0xFFFF_FF00
"""From here on, what Cortex-M jumps to is no address but the end of an exception."""

_MOST_VISITS = 64
_VECTOR_BYTES = 4
_SYSTEM = (RESUME, TRAP, NOWHERE, OTHER_SP)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Indirect:
    """A jump or call whose target the code does not show.

    Attributes:
        address: of the instruction.
        depth: bytes taken at that moment.
        leaves: it is no call: a switch, or the last thing that the function does.
    """

    address: int
    depth: int
    leaves: bool


class Lost(Enum):
    """Why the stack pointer is not known: what the function does, and what is done about it."""

    AMOUNT = "moves by an amount that its code does not show", "arrays"
    LOOP = "moves in a loop", "arrays"
    VALUE = "is set to a value that its code does not show", "value"
    MEMORY = "is loaded from memory, as longjmp and switches of threads do", "one"
    SYSTEM = "is exchanged with a system register, or another one is chosen", "one"
    UNKNOWN = "may be changed by an instruction that is not known", "known"
    RETURN = "is another one at its end than at its beginning", "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a function does to the stack.

    Attributes:
        deepest: most bytes that it takes itself, with what it stores below its stack pointer.
        calls: (address called, bytes taken at that moment), tail calls included.
        elsewhere: (address called, top of the stack) of calls on the stack of another thread.
        returns: it can come back to its caller.
        unresolved: jumps and calls whose target is not known.
        covered: every instruction is on a path that was followed.
        unbounded: address at which the stack pointer is no longer known, if there is one.
        lost: why it is not known then.
        astray: constant that the stack pointer is then, where no stack is.
        resumes: address at which it returns from an exception, to where its code does not show.
        traps: addresses at which exceptions begin; None is one that the code does not show.
        moves: address at which it may write where exceptions begin, or hands that place on, in a
            way that its code does not show; None if it does not.
        result: what it returns, if that leads to where exceptions begin.
        tops: constants that it sets the stack pointer to.
        second: address at which it sets the pointer of a second stack, if it does.
        keeps: temporary registers that it leaves as they are, which callers in assembly know.
        links: registers that have the address when it returns: ra, or t0.
        leaves_link: when it returns, ra has an address behind a call.
        stale: address at which it goes to what a call left in ra.
        above: bytes above its stack pointer at entry, up to the last one that it writes.
        loose: it stores to an address that its code does not show.
        writes: it stores to one that may not be of the stack.
        unknown: it has an instruction that is not known.
    """

    deepest: int
    calls: tuple[tuple[int, int], ...]
    returns: bool
    unresolved: tuple[Indirect, ...]
    unbounded: int | None
    covered: bool = True
    elsewhere: tuple[tuple[int, int], ...] = ()
    lost: Lost = Lost.UNKNOWN
    astray: int | None = None
    resumes: int | None = None
    traps: tuple[int | None, ...] = ()
    moves: int | None = None
    result: Value | None = None
    tops: tuple[int, ...] = ()
    second: int | None = None
    keeps: frozenset[int] = frozenset()
    links: frozenset[int] = frozenset({RA})
    leaves_link: bool = False
    stale: int | None = None
    above: int = 0
    loose: bool = False
    writes: bool = False
    unknown: bool = False


UNKNOWN = Frame(deepest=0, calls=(), returns=True, unresolved=(), unbounded=None)
"""What a function is taken for until its own code is known: it comes back."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a walk through one function knows of the image around it.

    Attributes:
        frame: returns the frame of the function called at an address.
        told: returns the frame of one that gets what leads to where exceptions begin; without it,
            that is not followed.
        middle: returns the code around an address that is in the middle of another function.
        shared: returns the code of a function that begins or ends others: it changes the stack
            pointer of whoever goes there.
        others: where the stacks of other threads end.
        labels: values of symbols; the stack pointer is set to one of them by two instructions.
        constants: bytes that no code changes, such as tables of switches.
        cold: tells whether an address is in a part of the function that lies elsewhere.
        word: bytes of an address.
    """

    frame: Callable[[int], Frame]
    told: Callable[[int, Given], Frame] | None = None
    middle: Callable[[int], Iterable[Instruction]] = lambda _: ()
    shared: Callable[[int], Iterable[Instruction]] = lambda _: ()
    others: Set[int] = frozenset()
    labels: Set[int] = frozenset()
    constants: Reader = lambda place, size: b""
    cold: Callable[[int], bool] = lambda _: False
    word: int = 4


def analyse(
    instructions: Iterable[Instruction],
    around: Surroundings,
    *,
    top: int | None,
    given: Given = NOTHING,
    pointed: Sequence[int] = (),
    entry: int | None = None,
    size: int | None = None,
) -> Frame:
    """Follow every path through one function and watch its stack pointer.

    Args:
        instructions: all of the function, in order.
        around: the image that it is part of.
        top: address that reset code sets the stack pointer to; there, nothing is taken. None:
            the first constant that the function sets it to.
        given: what the function itself gets.
        pointed: functions that it calls through pointers.
        entry: address that others jump to, if it is not the first.
        size: bytes that it takes at most, where its code does not show them.
    """
    code = {item.address: item for item in instructions}
    tables = JumpTables(code, around.constants, around.cold)
    walk = _Walk(code, frozenset(code), top, around, size, tables, tuple(pointed))
    walk.run(entry, given)
    return Frame(
        deepest=walk.deepest,
        calls=tuple(sorted(walk.calls)),
        returns=walk.comes_back,
        unresolved=tuple(sorted(walk.unresolved)),
        unbounded=walk.unbounded,
        lost=walk.lost,
        astray=walk.astray,
        elsewhere=tuple(sorted(walk.elsewhere)),
        covered=all(at in walk.states or _is_padding(code[at]) for at in code),
        resumes=walk.resumes,
        traps=tuple(walk.traps),
        moves=walk.moves,
        result=walk.result,
        tops=tuple(sorted(walk.tops)),
        second=walk.second,
        keeps=frozenset()
        if walk.calls or walk.unresolved or walk.elsewhere
        else frozenset(each for each in TEMPORARIES if not walk.changes(each)),
        links=frozenset(walk.links),
        leaves_link=walk.leaves_link,
        stale=walk.stale,
        loose=walk.loose,
        writes=walk.writes,
        unknown=any(code[at].unknown for at in walk.states if at in code),
        above=max([walk.above, *(around.frame(at).above - depth for at, depth in walk.calls)]),
    )


@dataclass(slots=True)
class _Walk:
    code: dict[int, Instruction]
    own: frozenset[int]
    top: int | None
    around: Surroundings
    size: int | None
    tables: JumpTables
    pointed: tuple[int, ...]
    switches: dict[int, tuple[int, ...]] = field(default_factory=dict)
    halfway: set[int] = field(default_factory=set)
    elsewhere: set[tuple[int, int]] = field(default_factory=set)
    states: dict[int, State] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    calls: set[tuple[int, int]] = field(default_factory=set)
    unresolved: set[Indirect] = field(default_factory=set)
    deepest: int = 0
    comes_back: bool = False
    unbounded: int | None = None
    lost: Lost = Lost.UNKNOWN
    astray: int | None = None
    resumes: int | None = None
    traps: dict[int | None, None] = field(default_factory=dict)
    moves: int | None = None
    result: Value | None = None
    tops: set[int] = field(default_factory=set)
    second: int | None = None
    links: set[int] = field(default_factory=set)
    leaves_link: bool = True
    stale: int | None = None
    above: int = 0
    loose: bool = False
    writes: bool = False

    def run(self, begin: int | None, given: Given) -> None:
        """Visit instructions until nothing new is learnt, or the stack pointer is lost."""
        registers, slots = given
        entry: list[Value | None] = [None] * _REGISTERS
        entry[ZERO], entry[SP] = Value(0), Value(0, on_stack=True)
        entry[RA], entry[T0], entry[TRAP] = LINK, T0_LINK, FORMER
        for register, value in registers:
            entry[register] = value
        state = State(tuple(entry), dict(slots), self.around.word)
        self.deepest = self.size or 0
        self._reach(min(self.own) if begin is None else begin, state)
        while self.pending and self.unbounded is None:
            address = self.pending.pop()
            self._visit(self.code[address], self.states[address])
        for address, targets in self.switches.items():
            # What was a constant at the first visit may be none at a later one.
            if self.tables.targets(self.code[address], self._constant) != targets:
                self._unresolve(self.code[address], self.states[address])

    def _visit(self, item: Instruction, state: State) -> None:
        self.visits[item.address] = self.visits.get(item.address, 0) + 1
        if state[SP] is None or self.visits[item.address] > _MOST_VISITS:
            if self.size is None:
                self.unbounded = item.address & _WORD
                self.lost = self.lost if state[SP] is None else Lost.LOOP
                return
            state = with_value(state, SP, None)
        elif not self._settle(item, state[SP]):
            return
        match item.kind:
            case Kind.JUMP:
                self._go(item, item.immediate, state)
            case Kind.JUMP_REGISTER:
                self._go_register(item, state)
            case Kind.BRANCH:
                taken = decide_branch(item, state)
                if taken is not False:
                    self._go(item, item.immediate, state)
                if taken is not True:
                    self._reach(item.next, state)
            case Kind.SWITCH:
                for target in item.targets:
                    self._reach(target, state)
            case Kind.HALT:
                pass
            case _:
                changed = self._step(item, state)
                if changed[SP] is None and state[SP] is not None:
                    self.lost = self._why_lost(item)
                self._reach(item.next, changed)

    def _step(self, item: Instruction, state: State) -> State:
        """Return what is known after an instruction that goes on to the next one."""
        if item.kind is Kind.RESTORE:
            return self._restore(item, state)
        if item.kind is Kind.STORE:
            changed = self._store(item, state)
        else:
            made = result(item, state)
            if item.kind is Kind.ALIGN and made is not None and made.base:
                state = state.forgetting(made.base)
            changed = with_value(state, item.rd, made)
        if item.rd == TRAP:
            self._begin_traps(changed[TRAP])
            changed = with_value(changed, TRAP, FORMER)
        if item.rd == OTHER_SP:
            self.second = item.address & _WORD
        if item.kind is Kind.SET and item.rd == SP:
            self._pair(item)
        made = next(filter(leads, map(state.__getitem__, item.reads)), None)
        if made is not None and not item.clobbers:
            self._may_move(item)
        for register in item.clobbers:
            changed = with_value(changed, register, either(made, None))
        return changed

    def _why_lost(self, item: Instruction) -> Lost:
        """Return why nobody knows the stack pointer after an instruction."""
        if item.kind in (Kind.LOAD, Kind.RESTORE):
            return Lost.MEMORY
        if item.kind in (Kind.ADD, Kind.SUBTRACT, Kind.ADD_SCALED):
            return Lost.AMOUNT
        if item.kind is Kind.ADD_IMMEDIATE:
            return self._why_unknown(item)
        alone = item.clobbers in ((), (SP,))
        return Lost.SYSTEM if item.kind is Kind.OTHER and alone else Lost.UNKNOWN

    def _why_unknown(self, item: Instruction) -> Lost:
        """Return the same, where the stack pointer is set to another register."""
        if item.rs1 in _SYSTEM:
            return Lost.SYSTEM
        made = self.tables.writer_of(item, item.rs1)
        if made is None:
            return Lost.VALUE
        if made.kind in (Kind.LOAD, Kind.RESTORE):
            return Lost.MEMORY
        if made.kind in (Kind.ADD_IMMEDIATE, Kind.ALIGN):
            return self._why_unknown(made)
        before = self.states.get(made.address)
        sides = () if before is None else (before[made.rs1], before[made.rs2])
        moved = any(each is not None and each.on_stack and not each.link for each in sides)
        return Lost.AMOUNT if moved else Lost.VALUE

    def _store(self, item: Instruction, state: State) -> State:
        """Write words, perhaps to the stack, or to where exceptions begin."""
        place, pointer = place_of(item, state), state[SP]
        self.loose |= place is None
        self.writes |= place is None or not place.on_stack
        if place is None:
            self._use_around(item, state)
        elif item.rs1 == SP and pointer is not None and not pointer.on_stack:
            below = pointer.number - place.number
            self.deepest = max(self.deepest, self._taken_bytes(pointer) + below)
        if place is None or not place.on_stack:
            self._write(item, state, place)
            return state
        self.deepest = max(self.deepest, -place.number)
        for number, register in enumerate(item.registers):
            at = replace(place, number=place.number + number * item.width)
            self.above = max(self.above, at.number + at.slack + item.width)
            state = state.store(at, item.width, state[register])
        return state

    def _use_around(self, item: Instruction, state: State) -> None:
        """Take note of a store to the stack with an offset that is not known: it may be 0.

        A constant that lowers the address may make up for one in that offset.
        """
        for base in (state[item.rs1], state[item.rs2]):
            if base is not None and base.on_stack and not base.link:
                self.deepest = max(self.deepest, -base.number - max(item.immediate, 0))

    def _write(self, item: Instruction, state: State, place: Value | None) -> None:
        """Write elsewhere: perhaps where exceptions begin, perhaps the address of that."""
        if self.around.told is None:
            return
        bases = (it for it in (state[item.rs1], state[item.rs2]) if it is not None)
        lost = place is None and any(each.leads_with(item.immediate) for each in bases)
        if lost or any(leads(state[register]) for register in item.registers):
            self._may_move(item)
        if place is None:
            return
        for number, register in enumerate(item.registers):
            for at in VECTORS:
                distance = at - place.number - number * item.width
                if not distance and item.width >= _VECTOR_BYTES:
                    self._begin_traps(state[register])
                elif -_VECTOR_BYTES < distance < item.width:
                    self._may_move(item)

    def _may_move(self, item: Instruction) -> None:
        self.moves = item.address & _WORD if self.moves is None else self.moves

    def _restore(self, item: Instruction, state: State) -> State:
        """Read words, perhaps from the stack, or where exceptions begin."""
        place, changed = place_of(item, state), state
        for number, register in enumerate(item.registers):
            at = (
                None if place is None else replace(place, number=place.number + number * item.width)
            )
            known = None if at is None or register == SP else state.slots.get(at)
            if at is not None and at.constant and at.number in VECTORS and self.around.told:
                known = FORMER
            changed = with_value(changed, register, known)
        return changed

    def _begin_traps(self, value: Value | None) -> None:
        if value == FORMER:
            return
        self.traps[value.number if value is not None and value.constant else None] = None

    def _settle(self, item: Instruction, pointer: Value | None) -> bool:
        """Take note of how much of the stack is taken; tell whether that is known."""
        if pointer is None:
            return self.size is not None
        if item.address in self.halfway:
            return True
        if not pointer.on_stack and pointer.number not in self.around.others:
            if self.top is None:
                self.top = pointer.number
            self.tops.add(self.top)
        depth = self._taken_bytes(pointer)
        if depth < 0 and not pointer.on_stack:
            self.unbounded, self.astray = item.address & _WORD, pointer.number
            if (item.kind, item.rd, item.rs1) == (Kind.ADD_IMMEDIATE, SP, SP):
                self.astray += item.immediate  # the second half of the constant
            return False
        self.deepest = max(self.deepest, depth)
        return True

    def _pair(self, item: Instruction) -> None:
        """Find the second of two instructions that set the stack pointer to a constant.

        It may as well be the first one that takes something of the stack; that only labels tell.
        """
        after = self.code.get(item.next)
        if after is None or (after.kind, after.rd, after.rs1) != (Kind.ADD_IMMEDIATE, SP, SP):
            return
        whole = item.immediate + after.immediate & _WORD
        if after.immediate > 0 or whole in self.around.labels or whole == self.top:
            self.halfway.add(after.address)

    def _go_register(self, item: Instruction, state: State) -> None:
        base = state[item.rs1]
        if item.rs1 == RESUME and base is None:
            self.resumes = item.address & _WORD
        elif base is not None and base.link and base != FORMER and item.rd == ZERO:
            self._hand_on(item, state, base)
        elif base is not None and base.constant:
            target = (base.number + item.immediate) & _WORD
            if item.rd == ZERO and target >= _EXCEPTION_RETURN:
                self.resumes = item.address & _WORD
            else:
                # The lowest bit tells Thumb from ARM; RISC-V ignores it.
                self._go(item, target & ~1, state)
        else:
            self._go_somewhere(item, state)

    def _hand_on(self, item: Instruction, state: State, link: Value | None) -> None:
        """Let a callee return to where this function was called from."""
        if link == STALE:
            self.stale = item.address & _WORD
        elif link is not None and link.link:
            self._come_back(item, state, link)
        else:
            self._unresolve(item, state)

    def _come_back(self, item: Instruction, state: State, link: Value) -> None:
        """Return to the caller, or from a part of the function that it calls itself."""
        if link in (LINK, T0_LINK):
            self.comes_back = True
            self.links.add(RA if link == LINK else T0)
            self.leaves_link &= state[RA] in (LINK, STALE)
            if leads(value := state[RESULT]):
                self.result = value if self.result in (None, value) else either(self.result, value)
            link = LINK
        if state[SP] != replace(link, link=False) and self.size is None:
            self.unbounded, self.lost = item.address & _WORD, Lost.RETURN

    def _go_somewhere(self, item: Instruction, state: State) -> None:
        targets = self.tables.targets(item, self._constant) if item.rd == ZERO else ()
        if targets:
            self.switches[item.address] = targets
            for target in targets:
                self._reach(target, state)
        else:
            self._unresolve(item, state)

    def _constant(self, address: int, register: int) -> int | None:
        value = self.states[address][register] if address in self.states else None
        return value.number if value is not None and value.constant else None

    def _unresolve(self, item: Instruction, state: State) -> None:
        leaves = item.rd == ZERO
        place = Indirect(address=item.address & _WORD, depth=self._depth(state), leaves=leaves)
        self.unresolved.add(place)
        for target in self.pointed:
            self._callee_frame(target, state)
        if leaves:
            self.comes_back = True
        else:
            self._reach(item.next, after_call(state))

    def _go(self, item: Instruction, target: int, state: State) -> None:
        if item.rd != ZERO and self._takes_in(self.around.shared(target)):
            self._reach(target, with_value(state, item.rd, Value(item.next)))
            return
        if item.rd == ZERO:
            inside = self._holds(target, state)
        else:
            inside = target in self.own and target != min(self.own)
        if inside:
            self._reach(target, with_value(state, item.rd, _link(state[SP])))
            if item.rd != ZERO:
                # Armv6-M jumps far with its call instruction; by hand, this is a call that returns.
                self._reach(item.next, after_call(state))
            return
        self._call(target, state)
        called = self._callee_frame(target, state)
        if not called.returns:
            return
        state = with_value(state, RESULT, called.result)
        for register in called.links:
            if register != item.rd:  # it goes to where this function was called from
                self._hand_on(replace(item, rd=ZERO), state, state[register])
        if item.rd in called.links:
            after = after_call(state, called.keeps, stale=called.leaves_link)
            after = with_value(after, RESULT, called.result)
            self._reach(item.next, _after_call(after, called.above))

    def _callee_frame(self, target: int, state: State) -> Frame:
        """Return the frame of a callee, and let it follow what leads to the vectors."""
        told, given = self.around.told, callee_inputs(state)
        if told is None or not any(leads(value) for part in given for _, value in part):
            return self.around.frame(target)
        return told(target, given)

    def _call(self, target: int, state: State) -> None:
        pointer = state[SP]
        if pointer is not None and not pointer.on_stack and pointer.number in self.around.others:
            self.elsewhere.add((target, pointer.number))
        else:
            self.calls.add((target, self._depth(state)))

    def _reach(self, address: int, state: State) -> None:
        if not self._holds(address, state):
            item = Instruction(address=address, size=0, kind=Kind.JUMP, immediate=address)
            self._go(item, address, state)
            return
        known = self.states.get(address)
        joined = state if known is None else join(known, state, address)
        if joined != known:
            self.states[address] = joined
            self.pending.append(address)

    def _holds(self, address: int, state: State) -> bool:
        """Tell whether code goes on within what is followed.

        Libraries in assembly share ends of functions: whoever jumps into the middle of another
        one with something on the stack has it taken away there.
        """
        pointer = state[SP]
        if address in self.code or self._takes_in(self.around.shared(address)):
            return True
        if pointer is not None and pointer.on_stack and pointer.number:
            self._takes_in(self.around.middle(address))
        return address in self.code

    def _takes_in(self, instructions: Iterable[Instruction]) -> bool:
        """Follow instructions as if they were the function's own; tell whether there are any."""
        taken = False
        for item in instructions:
            self.code.setdefault(item.address, item)
            taken = True
        return taken

    def changes(self, register: int) -> bool:
        """Tell whether an instruction that was followed changes a register."""
        followed = (self.code[address] for address in self.states)
        return any(register == each.rd or register in each.clobbers for each in followed)

    def _depth(self, state: State) -> int:
        pointer = state[SP]
        return self.size or 0 if pointer is None else self._taken_bytes(pointer)

    def _taken_bytes(self, pointer: Value) -> int:
        if pointer.on_stack:
            return -pointer.number
        return 0 if pointer.number in self.around.others else (self.top or 0) - pointer.number


def _is_padding(item: Instruction) -> bool:
    """Tell whether an instruction does nothing, as what compilers put before constants."""
    copies = item.kind is Kind.ADD_IMMEDIATE and item.rd == item.rs1 and not item.immediate
    empty = item.kind is Kind.OTHER and item.rd == ZERO and not item.clobbers
    return copies or empty or item.kind is Kind.HALT


def _link(pointer: Value | None) -> Value | None:
    """Return what the address behind a call is, where the stack pointer is that."""
    return None if pointer is None else replace(pointer, link=True)


def _after_call(state: State, above: int) -> State:
    """Return what a callee leaves of the stack: not what is below, nor what it wrote above."""
    pointer = state[SP]
    return (
        state if pointer is None else state.above(replace(pointer, number=pointer.number + above))
    )
