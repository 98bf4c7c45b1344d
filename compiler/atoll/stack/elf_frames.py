"""Stack use of one function, from its machine code."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from atoll.stack.riscv import RA, SP, T0, ZERO, Instruction, Kind

_WORD = 0xFFFF_FFFF
_REGISTERS = 32
_CALLER_SAVED = frozenset({RA, *range(5, 8), *range(10, 18), *range(28, 32)})
_MOST_VISITS = 64


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a register: a constant, or a distance from the stack pointer at entry."""

    number: int
    on_stack: bool = False


_State = tuple[Value | None, ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a function does to the stack.

    Attributes:
        deepest: most bytes that it takes itself.
        calls: (address called, bytes taken at that moment), tail calls included.
        elsewhere: addresses called on the stack of another thread.
        returns: it can come back to its caller.
        unresolved: jumps and calls whose target is not known.
        covered: every instruction is on a path that was followed.
        unbounded: address at which the stack pointer is no longer known, if there is one.
    """

    deepest: int
    calls: tuple[tuple[int, int], ...]
    returns: bool
    unresolved: tuple[Indirect, ...]
    unbounded: int | None
    covered: bool = True
    elsewhere: tuple[int, ...] = ()


def analyse(
    instructions: Iterable[Instruction],
    *,
    top: int,
    returns: Callable[[int], bool],
    others: Collection[int] = (),
    entry: int | None = None,
) -> Frame:
    """Follow every path through one function and watch its stack pointer.

    Args:
        instructions: all of the function, in order.
        top: address that reset code sets the stack pointer to; there, nothing is taken.
        returns: whether the function called at an address can come back.
        others: where the stacks of other threads end.
        entry: address that others jump to, if it is not the first.
    """
    walk = _Walk({item.address: item for item in instructions}, top, returns, frozenset(others))
    walk.run(entry)
    return Frame(
        deepest=walk.deepest,
        calls=tuple(sorted(walk.calls)),
        returns=walk.comes_back,
        unresolved=tuple(sorted(walk.unresolved)),
        unbounded=walk.unbounded,
        elsewhere=tuple(sorted(walk.elsewhere)),
        covered=walk.states.keys() == walk.code.keys(),
    )


@dataclass(slots=True)
class _Walk:
    code: Mapping[int, Instruction]
    top: int
    returns: Callable[[int], bool]
    others: frozenset[int]
    elsewhere: set[int] = field(default_factory=set)
    states: dict[int, _State] = field(default_factory=dict)
    visits: dict[int, int] = field(default_factory=dict)
    pending: list[int] = field(default_factory=list)
    calls: set[tuple[int, int]] = field(default_factory=set)
    unresolved: set[Indirect] = field(default_factory=set)
    deepest: int = 0
    comes_back: bool = False
    unbounded: int | None = None

    def run(self, begin: int | None) -> None:
        """Visit instructions until nothing new is learnt, or the stack pointer is lost."""
        entry: list[Value | None] = [None] * _REGISTERS
        entry[ZERO], entry[SP] = Value(0), Value(0, on_stack=True)
        self._reach(min(self.code) if begin is None else begin, tuple(entry))
        while self.pending and self.unbounded is None:
            address = self.pending.pop()
            self._visit(self.code[address], self.states[address])

    def _visit(self, item: Instruction, state: _State) -> None:
        self.visits[item.address] = self.visits.get(item.address, 0) + 1
        pointer = state[SP]
        if pointer is None or self.visits[item.address] > _MOST_VISITS:
            self.unbounded = item.address & _WORD
            return
        if pointer.on_stack:
            self.deepest = max(self.deepest, -pointer.number)
        match item.kind:
            case Kind.JUMP:
                self._go(item, item.immediate, state)
            case Kind.JUMP_REGISTER:
                self._go_register(item, state)
            case Kind.BRANCH:
                self._go(item, item.immediate, state)
                self._reach(item.next, state)
            case Kind.HALT:
                pass
            case _:
                changed = _with(state, item.rd, _result(item, state))
                for register in item.clobbers:
                    changed = _with(changed, register, None)
                self._reach(item.next, changed)

    def _go_register(self, item: Instruction, state: _State) -> None:
        base = state[item.rs1]
        if base is not None and not base.on_stack:
            # The lowest bit tells Thumb from ARM; RISC-V ignores it.
            self._go(item, (base.number + item.immediate) & _WORD & ~1, state)
        elif item.rd == ZERO and item.rs1 in (RA, T0):
            self.comes_back = True
            if state[SP] != Value(0, on_stack=True):
                self.unbounded = item.address & _WORD
        else:
            self._go_somewhere(item, state)

    def _go_somewhere(self, item: Instruction, state: _State) -> None:
        leaves = item.rd == ZERO
        place = Indirect(address=item.address & _WORD, depth=self._depth(state), leaves=leaves)
        self.unresolved.add(place)
        if leaves:
            self.comes_back = True
        else:
            self._reach(item.next, _after_call(state))

    def _go(self, item: Instruction, target: int, state: _State) -> None:
        if target in self.code and (item.rd == ZERO or target != min(self.code)):
            self._reach(target, _with(state, item.rd, None))
            if item.rd != ZERO:
                # Armv6-M jumps far with its call instruction; by hand, this is a call that returns.
                self._reach(item.next, _after_call(state))
            return
        self._call(target, state)
        if not self.returns(target):
            return
        if item.rd != ZERO:
            self._reach(item.next, _after_call(state))
        else:
            self.comes_back = True

    def _call(self, target: int, state: _State) -> None:
        pointer = state[SP]
        if pointer is not None and not pointer.on_stack and pointer.number in self.others:
            self.elsewhere.add(target)
        else:
            self.calls.add((target, self._depth(state)))

    def _reach(self, address: int, state: _State) -> None:
        if address not in self.code:
            self.calls.add((address, self._depth(state)))
            self.comes_back |= self.returns(address)
            return
        known = self.states.get(address)
        joined = state if known is None else _join(known, state)
        if joined != known:
            self.states[address] = joined
            self.pending.append(address)

    def _depth(self, state: _State) -> int:
        pointer = state[SP]
        if pointer is None:
            return 0
        return -pointer.number if pointer.on_stack else self.top - pointer.number


def _result(item: Instruction, state: _State) -> Value | None:
    left, right = state[item.rs1], state[item.rs2]
    match item.kind:
        case Kind.SET:
            return Value(item.immediate)
        case Kind.ADD_IMMEDIATE if left is not None:
            return _value(left.number + item.immediate, left.on_stack)
        case Kind.ADD if left is not None and right is not None:
            if not (left.on_stack and right.on_stack):
                return _value(left.number + right.number, left.on_stack or right.on_stack)
        case Kind.SUBTRACT if left is not None and right is not None and not right.on_stack:
            return _value(left.number - right.number, left.on_stack)
    return None


def _value(number: int, on_stack: bool) -> Value:
    """Wrap a constant as unsigned, a distance as signed, as 32-bit registers do."""
    wrapped = number & _WORD
    if on_stack and wrapped > _WORD >> 1:
        wrapped -= _WORD + 1
    return Value(wrapped, on_stack)


def _with(state: _State, register: int, value: Value | None) -> _State:
    if register == ZERO:
        return state
    return (*state[:register], value, *state[register + 1 :])


def _after_call(state: _State) -> _State:
    return tuple(None if number in _CALLER_SAVED else value for number, value in enumerate(state))


def _join(left: _State, right: _State) -> _State:
    """Keep what both paths agree on; of two stack pointers, the deeper one."""
    joined = [a if a == b else None for a, b in zip(left, right, strict=True)]
    a, b = left[SP], right[SP]
    if a is not None and b is not None and a.on_stack and b.on_stack:
        joined[SP] = min(a, b, key=lambda value: value.number)
    return tuple(joined)
