# SPDX-License-Identifier: Apache-2.0
"""Stores of clamped values, for cores that branch to choose one of two."""

from llvmlite import ir

from atoll.codegen.llvm_anchors import hide_origin
from atoll.codegen.llvm_arithmetic import integer
from atoll.ir.tir import Binary, Cast, Const, Expr, Operation, Type
from atoll.records import dataclass

RARELY = (1, 2000)
"""How often a branch is taken, and how often it is not."""

_LEAST = -(2**31)
_WORD, _BYTE = integer(Type.I32), integer(Type.I8)


@dataclass(frozen=True, slots=True)
class Clamped:
    """``(value + start) >> places``, at least `least` and at most `most`, an `I8`."""

    value: Expr
    start: int
    places: int
    least: int
    most: int

    @property
    def below(self) -> int:
        """What is less is below the least."""
        return self.least << self.places

    @property
    def above(self) -> int:
        """What is not less is above the most."""
        return (self.most + 1) << self.places


class ClampedStores:
    """Emits them in one function."""

    def __init__(self, builder: ir.IRBuilder) -> None:
        self._builder = builder
        self._hidden: dict[int, ir.Value] = {}

    def emit(self, clamped: Clamped, value: ir.Value, address: ir.Value) -> None:
        """Store: what is beyond a limit is known before the shift, and needs none.

        Each limit is stored in a place of its own, which the optimiser shall leave as it is:
        behind a common store every element would have a move or a jump more.
        """
        builder, places = self._builder, clamped.places
        after = builder.append_basic_block("stored")
        if clamped.start:
            value = builder.add(value, self._number(clamped.start))
        bounds = ("<", clamped.least, clamped.below), (">=", clamped.most, clamped.above)
        for order, limit, bound in bounds:
            if not _LEAST < bound < -_LEAST:
                continue  # no number is beyond it
            beyond, within = (builder.append_basic_block(name) for name in ("beyond", "within"))
            outside = builder.icmp_signed(order, value, _WORD(bound))
            builder.cbranch(outside, beyond, within).set_weights(RARELY)
            builder.position_at_end(beyond)
            builder.store(_BYTE(limit), address)
            kept = builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], side_effect=True)
            kept.attributes.add("readnone")
            kept.attributes.add("nounwind")
            builder.branch(after)
            builder.position_at_end(within)
        shifted = builder.ashr(value, self._number(places)) if places else value
        builder.store(builder.trunc(shifted, _BYTE), address)
        builder.branch(after)
        builder.position_at_end(after)

    def _number(self, number: int) -> ir.Value:
        """Return a number that the optimiser does not know.

        It would add the start to both limits, behind the branches, and shift by a constant. Then
        instructions of two bytes come one by one, and those between them begin within a word.
        """
        if number not in self._hidden:
            with self._builder.goto_entry_block():
                self._hidden[number] = hide_origin(self._builder, _WORD(number))
        return self._hidden[number]


def match_clamp(value: Expr) -> Clamped | None:
    """Return what `value` is if it is clamped to constants and narrowed to `I8`."""
    match value:
        case Cast(
            value=Binary(
                Operation.MIN, Binary(Operation.MAX, inner, Const(least)), Const(most, Type.I32)
            ),
            type=Type.I8,
        ):
            found = _shift(inner, least, most)
            some_are_within = found.below < -_LEAST and found.above > _LEAST
            return found if some_are_within else None
    return None


def _shift(value: Expr, least: int, most: int) -> Clamped:
    match value:
        case Binary(Operation.SHR, Binary(Operation.ADD, total, Const(start)), Const(places)) if (
            0 <= places < _WORD.width
        ):
            return Clamped(total, start, places, least, most)
    return Clamped(value, 0, 0, least, most)
