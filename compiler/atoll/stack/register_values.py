# SPDX-License-Identifier: Apache-2.0
"""What is known of registers, and what instructions make of it."""

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import TypeGuard

from atoll.records import dataclass
from atoll.stack.instruction import EXTRA, NOWHERE, RA, SP, T0, ZERO, Instruction, Kind

_WORD = 0xFFFF_FFFF
_LINK_BYTES = 4
TEMPORARIES = frozenset({*range(5, 8), *range(28, 32), *EXTRA})
_CALLER_SAVED = frozenset({RA, *TEMPORARIES, *range(10, 18)})


VECTORS = (0xE000_ED08, 0xE002_ED08)
"""VTOR of a Cortex-M, and that of the other world."""
_BLOCK, _PAGE, _VECTOR_BYTES = 0x28, 0xFFF, 4


def leads_to_vectors(number: int) -> bool:
    """Tell whether a number is VTOR's address, or one from which code reaches it with an offset.

    That is the block of registers around it (SCB), and their page (SCS).
    Compilers add the number of a word to that of the first one, and make an address of the sum.
    """
    return any(
        -_VECTOR_BYTES < at - each <= _BLOCK or number == at & ~_PAGE
        for at in VECTORS
        for each in (number, number * _VECTOR_BYTES)
    )


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a register.

    Attributes:
        number: a constant, or a distance from the stack pointer at entry.
        on_stack: it is such a distance.
        link: the register has an address to return to; the rest is the stack pointer there.
        base: of a distance that is not exact: the instruction that made it so, 0 if it is exact.
        slack: bytes by which such a distance may be higher; of a number: it may be any other one.
        near: the register may have the number, or another one that was made of it; kept only of
            numbers from which code reaches where exceptions begin, and of distances: there is
            an offset then that is not known.
    """

    number: int
    on_stack: bool = False
    link: bool = False
    base: int = 0
    slack: int = 0
    near: bool = False

    @property
    def constant(self) -> bool:
        """The register has the number itself."""
        return not self.on_stack and not self.link and not self.near

    @property
    def leads_to_vectors(self) -> bool:
        """Code that has the number may reach where exceptions of a Cortex-M begin."""
        return self.leads_with(0)

    def leads_with(self, offset: int) -> bool:
        """Tell the same of the number and an offset."""
        number = self.constant or (self.near and not self.on_stack)
        return number and (bool(self.slack) or leads_to_vectors(self.number + offset))


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

    def store(self, place: Value, size: int, value: Value | None) -> "State":
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
    made = _exact(item, state)
    return _near(item, left, right) if made is None else made


def _near(item: Instruction, left: Value | None, right: Value | None) -> Value | None:
    """Return what an instruction makes of the address of a register, as far as that is known."""
    found = next((it for it in (left, right) if it is not None and it.leads_to_vectors), None)
    if item.kind is Kind.ADD_IMMEDIATE and left is not None and left.near:
        return _wrap(left, left.number + item.immediate)
    if item.kind is Kind.ADD_IMMEDIATE and left is None and _is_system(item.immediate & _WORD):
        return Value(item.immediate & _WORD, near=True)  # an index comes first, then the address
    if found:
        return replace(found, near=True) if item.kind in _MAKES else None
    return _around(item, left, right)


def _around(item: Instruction, left: Value | None, right: Value | None) -> Value | None:
    """Return an address on the stack to which an instruction adds what is not known."""
    if item.kind is Kind.ADD and (left is None or not left.on_stack):
        left, right = right, left
    known = left is not None and left.on_stack and not left.link
    if item.kind not in (Kind.ADD, Kind.ADD_SCALED, Kind.SUBTRACT) or left is None or not known:
        return None
    offset = right.number if right is not None and right.constant else 0
    if item.kind is Kind.ADD_SCALED:
        offset = 0
    distance = left.number + (-offset if item.kind is Kind.SUBTRACT else offset)
    return _wrap(Value(0, on_stack=True, near=True), distance)


def _is_system(number: int) -> bool:
    return number >> _SYSTEM_BITS == VECTORS[0] >> _SYSTEM_BITS


def _carries(item: Instruction, left: Value | None, right: Value | None, state: State) -> bool:
    """Tell whether a sum of constants may leave the lower half of a register of 64 bits."""
    sums = item.kind in (Kind.ADD, Kind.ADD_SCALED) and state.word > _LINK_BYTES
    if not sums or not (left and right and left.constant and right.constant):
        return False
    one, other = (each.number - ((each.number & 1 << 31) << 1) for each in (left, right))
    scale = item.scale if item.kind is Kind.ADD_SCALED else 0
    return not -(1 << 31) <= one + (other << scale) <= _WORD


def _exact(item: Instruction, state: State) -> Value | None:
    left, right = state[item.rs1], state[item.rs2]
    sides = [each for each in (left, right) if each is not None]
    if any(each.near for each in sides) or _carries(item, left, right, state):
        return None
    if any(each.link for each in sides):
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
        case Kind.ADD_SCALED if left and right and right.constant and not item.width:
            return _wrap(left, left.number + (right.number << item.scale))
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


_BOTH, _SYSTEM_BITS = 2, 20
RESULT, _ARGUMENTS, _PASSED = 10, range(10, 14), 32
"""Registers that a function of Thumb code returns and gets, and bytes of the stack likewise."""

Given = tuple[tuple[tuple[int, Value], ...], tuple[tuple[Value, Value], ...]]
"""What a function gets: registers, and words of the stack, as the callee sees them."""

NOTHING: Given = ((), ())

_MAKES = (Kind.ADD, Kind.ADD_SCALED, Kind.SUBTRACT, Kind.OR_IMMEDIATE, Kind.ALIGN)
"""Kinds of instructions that make a number of others."""


def place_of(item: Instruction, state: State) -> Value | None:
    """Return where the first word is that an instruction stores or restores, None if unknown."""
    left, right = state[item.rs1], state[item.rs2]
    if left is None or right is None or left.link or left.near or not right.constant:
        return None
    return _wrap(left, left.number + right.number + item.immediate)


_CONDITIONS: Mapping[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    **dict.fromkeys(("lt", "ltu"), operator.lt),
    **dict.fromkeys(("ge", "geu"), operator.ge),
    **dict.fromkeys(("gt", "gtu"), operator.gt),
    **dict.fromkeys(("le", "leu"), operator.le),
}


def decide_branch(item: Instruction, state: State) -> bool | None:
    """Return whether a branch is taken, None if that is not known.

    What was a constant at the first visit of a loop may be none at a later one. Of registers of 64
    bits only the lower half is known: small numbers have nothing above it.
    """
    sides = (state[item.rs1], state[item.rs2])
    if not item.condition:
        return None
    numbers = [it.number & _WORD for it in sides if it and it.constant and not it.slack]
    if len(numbers) < len(sides) or (state.word > _LINK_BYTES and max(numbers) >> 31):
        return None
    if not item.condition.endswith("u"):
        numbers = [number - ((number & 1 << 31) << 1) for number in numbers]
    left, right = numbers
    return _CONDITIONS[item.condition](left, right)


def with_value(state: State, register: int, value: Value | None) -> State:
    """Return the state with another value in a register; what is below the stack is gone."""
    if register in (ZERO, NOWHERE):
        return state
    if register == SP and value is not None and value.near:
        value = None
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
    joined = [a if a == b else either(a, b) for a, b in pairs]
    a, b = left[SP], right[SP]
    if a is not None and b is not None and a != b and a.on_stack and b.on_stack:
        low = min(a.number, b.number)
        high = max(each.number + each.slack for each in (a, b))
        joined[SP] = Value(low, on_stack=True, base=2 * at + 2, slack=high - low)
    slots = {}
    for place in {**left.slots, **right.slots}:
        one, two = left.slots.get(place), right.slots.get(place)
        if (kept := one if one == two else either(one, two)) is not None:
            slots[place] = kept
    return State(tuple(joined), slots, left.word)


def either(left: Value | None, right: Value | None) -> Value | None:
    """Return what is known of one of two different values: that it may lead to the vectors.

    Where code counts an address down, it may come to them from anywhere above.
    """
    known = [it for it in (left, right) if it is not None and _is_number(it)]
    page = next((at & ~_PAGE for at in VECTORS if _count_down(at, known)), None)
    if page is not None:
        return Value(page, near=True, slack=_PAGE)
    found = next((it for it in known if it.near or it.leads_to_vectors), None)
    return None if found is None else replace(found, near=True)


def _count_down(at: int, known: Sequence[Value]) -> bool:
    """Tell whether the second of two numbers of the page around an address is the lower one."""
    if len(known) != _BOTH or known[0].slack:
        return False
    before, now = (each.number for each in known)
    return at & ~_PAGE <= now < before <= at | _PAGE and before >= at - _BLOCK


def leads(value: Value | None) -> TypeGuard[Value]:
    """Tell whether a value is known to lead to the vectors."""
    return value is not None and value.leads_to_vectors


def callee_inputs(state: State) -> Given:
    """Return what a callee gets: numbers, and addresses of what is above its stack pointer."""
    pointer = state[SP]
    if pointer is None or not pointer.on_stack:
        return tuple((at, it) for at in _ARGUMENTS if _is_number(it := state[at])), ()

    def as_callee_sees(value: Value | None) -> Value | None:
        if (
            value is None
            or not value.on_stack
            or value.link
            or value.near
            or value.base != pointer.base
        ):
            return value if _is_number(value) else None
        return replace(value, number=value.number - pointer.number, base=0, slack=0)

    registers = tuple(
        (at, it) for at in _ARGUMENTS if (it := as_callee_sees(state[at])) is not None
    )
    all_of_it = any(value.on_stack for _, value in registers)
    slots = tuple(
        (place, it)
        for each, value in state.slots.items()
        if (place := as_callee_sees(each)) is not None and (it := as_callee_sees(value)) is not None
        if place.number >= 0 and (all_of_it or place.number < _PASSED)
    )
    return registers, slots


def _is_number(value: Value | None) -> TypeGuard[Value]:
    return value is not None and (value.constant or (value.near and not value.on_stack))
