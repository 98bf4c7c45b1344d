"""What is known of registers, and what instructions make of it."""

from collections.abc import Collection
from dataclasses import dataclass

from atoll.stack.instruction import RA, SP, ZERO, Instruction, Kind

_WORD = 0xFFFF_FFFF
_CALLER_SAVED = frozenset({RA, *range(5, 8), *range(10, 18), *range(28, 32)})


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of a register.

    Attributes:
        number: a constant, or a distance from the stack pointer at entry.
        on_stack: it is such a distance.
        link: the register has an address to return to; the number is where the stack pointer is
            then, as such a distance.
    """

    number: int
    on_stack: bool = False
    link: bool = False

    @property
    def constant(self) -> bool:
        """The register has the number itself."""
        return not self.on_stack and not self.link


State = tuple[Value | None, ...]

LINK = Value(0, link=True)
"""The address to return to at entry: of most functions in ra, of some in t0."""


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
            return _value(left.number + item.immediate, left.on_stack)
        case Kind.ADD if left is not None and right is not None:
            if not (left.on_stack and right.on_stack):
                return _value(left.number + right.number, left.on_stack or right.on_stack)
        case Kind.SUBTRACT if left is not None and right is not None and not right.on_stack:
            return _value(left.number - right.number, left.on_stack)
        case Kind.OR_IMMEDIATE if left is not None and not left.on_stack:
            return _value(left.number | item.immediate, on_stack=False)
        case Kind.ALIGN if left is not None:
            if left.on_stack:  # at worst the stack pointer is just above a multiple
                return _value(left.number - item.immediate + 1, on_stack=True)
            return _value(left.number & -item.immediate, on_stack=False)
    return None


def _value(number: int, on_stack: bool) -> Value:
    """Wrap a constant as unsigned, a distance as signed, as 32-bit registers do."""
    wrapped = number & _WORD
    if on_stack and wrapped > _WORD >> 1:
        wrapped -= _WORD + 1
    return Value(wrapped, on_stack)


def with_value(state: State, register: int, value: Value | None) -> State:
    """Return the state with another value in a register."""
    if register == ZERO:
        return state
    return (*state[:register], value, *state[register + 1 :])


def after_call(state: State, keeps: Collection[int] = ()) -> State:
    """Return what is known after a call: what the callee has to keep, and what it `keeps`."""
    lost = _CALLER_SAVED.difference(keeps)
    return tuple(None if number in lost else value for number, value in enumerate(state))


def join(left: State, right: State) -> State:
    """Keep what both paths agree on; of two stack pointers, the deeper one."""
    joined = [a if a == b else None for a, b in zip(left, right, strict=True)]
    a, b = left[SP], right[SP]
    if a is not None and b is not None and a.on_stack and b.on_stack:
        joined[SP] = min(a, b, key=lambda value: value.number)
    return tuple(joined)
