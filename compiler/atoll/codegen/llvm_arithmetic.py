# SPDX-License-Identifier: Apache-2.0
"""What the loop program's arithmetic is in LLVM IR, of numbers and of vectors of them."""

from llvmlite import ir

from atoll.ir.tir import Conversion, Operation, Type

_ARITHMETIC = {
    Operation.ADD: ir.IRBuilder.add,
    Operation.SUB: ir.IRBuilder.sub,
    Operation.MUL: ir.IRBuilder.mul,
    Operation.DIV: ir.IRBuilder.sdiv,
    Operation.REM: ir.IRBuilder.srem,
    Operation.AND: ir.IRBuilder.and_,
    Operation.OR: ir.IRBuilder.or_,
    Operation.XOR: ir.IRBuilder.xor,
}
_SHIFTS = {Operation.SHL: ir.IRBuilder.shl, Operation.SHR: ir.IRBuilder.ashr}
_CASTS = {
    Conversion.SEXT: ir.IRBuilder.sext,
    Conversion.ZEXT: ir.IRBuilder.zext,
    Conversion.TRUNC: ir.IRBuilder.trunc,
}


def integer(type: Type) -> ir.IntType:
    """Return the LLVM type of a number."""
    return ir.IntType(type.bits)


def binary(
    builder: ir.IRBuilder, operation: Operation, left: ir.Value, right: ir.Value
) -> ir.Value:
    """Apply `operation` to two numbers, or lane by lane to two vectors."""
    if operation in _ARITHMETIC:
        return _ARITHMETIC[operation](builder, left, right)
    if operation in _SHIFTS:
        return _SHIFTS[operation](builder, left, _modulo_width(builder, right))
    if operation.compares:
        return builder.icmp_signed(operation.value, left, right)
    order = "<" if operation is Operation.MIN else ">"
    return builder.select(builder.icmp_signed(order, left, right), left, right)


def _modulo_width(builder: ir.IRBuilder, amount: ir.Value) -> ir.Value:
    if isinstance(amount.type, ir.VectorType):
        mask = amount.type([amount.type.element.width - 1] * amount.type.count)
    else:
        mask = amount.type(amount.type.width - 1)
    return builder.and_(amount, mask)


def convert(
    builder: ir.IRBuilder, conversion: Conversion, value: ir.Value, type: ir.Type
) -> ir.Value:
    """Bring a number, or a vector, to the width of `type`."""
    return _CASTS[conversion](builder, value, type)
