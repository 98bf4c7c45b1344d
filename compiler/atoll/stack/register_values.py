# SPDX-License-Identifier: Apache-2.0
"""What is known of registers, and what instructions make of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from atoll.stack.instruction import RA, SP, T0, ZERO, Instruction, Kind

_WORD = 0xFFFF_FFFF
_LINK_BYTES = 4
TEMPORARIES = frozenset({*range(5, 8), *range(28, 32)})
_CALLER_SAVED = frozenset({RA, *TEMPORARIES, *range(10, 18)})


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a register.

    Attributes:
        number: a constant, or a distance from the stack pointer at entry.
        on_stack: it is such a distance.
        link: the register has an address to return to; the rest is the stack pointer there.
        base: of a distance that is not exact: the instruction that made it so, 0 if it is exact.
        slack: bytes by which such a distance may be higher.
    """

    number: int
    on_stack: bool = False
    link: bool = False
    base: int = 0
    slack: int = 0

    @property
    def constant(self) -> bool:
        """The register has the number itself."""
        return not self.on_stack and not self.link


LINK = Value(0, on_stack=True, link=True)
"""The address to return to at entry, in ra."""

T0_LINK = Value(0, on_stack=True, link=True, base=-T0)
"""The address to return to at entry of those functions of RISC-V that have it in t0."""

STALE = Value(-1, link=True)
"""What a call left in ra: an address behind some call, but nobody knows which."""

FORMER = Value(-2, link=True)
"""Where exceptions begin already, as some code that was followed set it up, or none."""


@dataclass(frozen=True, slots=True)
class State:
    """What is known before an instruction.

    Attributes:
        registers: by number.
        slots: words of the stack, by where they are.
        word: bytes of each of them.
    """

    registers: tuple[Value | None, ...]
    slots: Mapping[Value, Value] = field(default_factory=dict)
    word: int = 4

    def __getitem__(self, register: int) -> Value | None:
        return self.registers[register]

    def without(self, gone: Callable[[Value], bool]) -> "State":
        """Return the same without the words at places that are `gone`."""
        if not any(map(gone, self.slots)):
            return self
        return replace(self, slots={at: it for at, it in self.slots.items() if not gone(at)})

    def stored(self, place: Value, size: int, value: Value | None) -> "State":
        """Return the state after a store of so many bytes at a place on the stack."""
        lowest, end = place.number, place.number + place.slack + size

        def overlaps(at: Value) -> bool:
            if at.base == place.base:
                return at.number < place.number + size and lowest < at.number + self.word
            return at.number < end and lowest < at.number + at.slack + self.word

        kept = self.without(overlaps)
        return kept if value is None else replace(kept, slots={**kept.slots, place: value})

    def above(self, pointer: Value) -> "State":
        """Return the same without the words below the stack pointer."""

        def below(at: Value) -> bool:
            slack = pointer.slack if at.base != pointer.base else 0
            return pointer.on_stack and at.number < pointer.number + slack

        return self.without(below)

    def forgetting(self, base: int) -> "State":
        """Return the same without distances that an instruction made before."""
        if not any(each is not None and each.base == base for each in self.registers):
            return self.without(lambda at: at.base == base)
        registers = tuple(
            None if each is not None and each.base == base else each for each in self.registers
        )
        return replace(self, registers=registers).without(
            lambda at: at.base == base or self.slots[at].base == base
        )


def result(item: Instruction, state: State) -> Value | None:
    """Return what an instruction makes of registers, None if that is not known."""
    left, right = state[item.rs1], state[item.rs2]
    if any(each is not None and each.link for each in (left, right)):
        copied = item.kind is Kind.ADD_IMMEDIATE and not item.immediate and item.rd != SP
        return left if copied else None
    match item.kind:
        case Kind.SET:
            return Value(item.immediate)
        case Kind.ADD_IMMEDIATE if left is not None:
            return _wrap(left, left.number + item.immediate)
        case Kind.ADD if left is not None and right is not None:
            if not (left.on_stack and right.on_stack):
                return _wrap(left if left.on_stack else right, left.number + right.number)
        case Kind.SUBTRACT if left is not None and right is not None and not right.on_stack:
            return _wrap(left, left.number - right.number)
        case Kind.ADD_SCALED if item.rs1 == ZERO and right is not None and right.constant:
            return Value(right.number << item.scale & _WORD)
        case Kind.OR_IMMEDIATE if left is not None and not left.on_stack:
            return _wrap(left, left.number | item.immediate)
        case Kind.ALIGN if left is not None:
            if left.on_stack:  # at worst the stack pointer is just above a multiple
                most = item.immediate - 1
                base, slack = 2 * item.address + 1, left.slack + most
                return _wrap(replace(left, base=base, slack=slack), left.number - most)
            return _wrap(left, left.number & -item.immediate)
        case Kind.LOAD if left is not None and left.on_stack and item.rs2 == ZERO:
            place = _wrap(left, left.number + item.immediate)
            return state.slots.get(place) if abs(item.width) >= _LINK_BYTES else None
    return None


def _wrap(value: Value, number: int) -> Value:
    """Wrap a constant as unsigned, a distance as signed, as 32-bit registers do."""
    wrapped = number & _WORD
    if value.on_stack and wrapped > _WORD >> 1:
        wrapped -= _WORD + 1
    return replace(value, number=wrapped)


def place_of(item: Instruction, state: State) -> Value | None:
    """Return where the first word is that an instruction stores or restores, None if unknown."""
    left, right = state[item.rs1], state[item.rs2]
    if left is None or right is None or left.link or not right.constant:
        return None
    return _wrap(left, left.number + right.number + item.immediate)


def with_value(state: State, register: int, value: Value | None) -> State:
    """Return the state with another value in a register; what is below the stack is gone."""
    if register == ZERO:
        return state
    registers = (*state.registers[:register], value, *state.registers[register + 1 :])
    changed = replace(state, registers=registers)
    if register != SP or value is None or not value.on_stack:
        return changed
    return changed.above(value)


def after_call(state: State, keeps: Collection[int] = (), *, stale: bool = False) -> State:
    """Return what is known after a call.

    Args:
        state: before it.
        keeps: registers that the callee keeps besides those that each has to keep.
        stale: it leaves an address behind a call in ra.
    """
    lost = _CALLER_SAVED.difference(keeps)
    registers = [None if number in lost else it for number, it in enumerate(state.registers)]
    if stale:
        registers[RA] = STALE
    return replace(state, registers=tuple(registers))


def join(left: State, right: State, at: int) -> State:
    """Keep what both paths to an instruction agree on; of two stack pointers, the deeper one."""
    pairs = zip(left.registers, right.registers, strict=True)
    joined = [a if a == b else None for a, b in pairs]
    a, b = left[SP], right[SP]
    if a is not None and b is not None and a != b and a.on_stack and b.on_stack:
        low = min(a.number, b.number)
        high = max(each.number + each.slack for each in (a, b))
        joined[SP] = Value(low, on_stack=True, base=2 * at + 2, slack=high - low)
    slots = {at: it for at, it in left.slots.items() if right.slots.get(at) == it}
    return State(tuple(joined), slots, left.word)
