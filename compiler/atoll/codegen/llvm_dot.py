"""Sums of int8 products as LLVM IR, by what a core multiplies at once."""

from collections.abc import Sequence

from llvmlite import ir

from atoll.isa.instruction_set import Vectors

_BYTE, _WORD = ir.IntType(8), ir.IntType(32)
_WORD_BYTES = 4


def dot(
    builder: ir.IRBuilder,
    vectors: Vectors,
    start: ir.Value,
    addresses: Sequence[ir.Value],
    length: int,
) -> ir.Value:
    """Return `start` plus the products of `length` int8 from each of two addresses on."""
    total, done = start, 0
    if vectors is Vectors.DSP:
        while length - done >= _WORD_BYTES:
            total = _four(builder, total, [_past(builder, each, done) for each in addresses])
            done += _WORD_BYTES
    for at in range(done, length):
        total = _one(builder, total, [_past(builder, each, at) for each in addresses])
    return total


def _past(builder: ir.IRBuilder, address: ir.Value, elements: int) -> ir.Value:
    return builder.gep(address, [_WORD(elements)], inbounds=True, source_etype=_BYTE)


def _one(builder: ir.IRBuilder, total: ir.Value, addresses: list[ir.Value]) -> ir.Value:
    left, right = (builder.sext(builder.load(each, typ=_BYTE), _WORD) for each in addresses)
    return builder.add(total, builder.mul(left, right))


def _four(builder: ir.IRBuilder, total: ir.Value, addresses: list[ir.Value]) -> ir.Value:
    """Widen bytes 0 and 2, then 1 and 3, of a word to halves; multiply and add halves in pairs."""
    widen = _intrinsic(builder, "llvm.arm.sxtb16", 1)
    multiply = _intrinsic(builder, "llvm.arm.smlad", 3)
    rotate = _intrinsic(builder, "llvm.fshr.i32", 3)
    words = [builder.load(each, align=1, typ=_WORD) for each in addresses]
    odd = [builder.call(rotate, [word, word, _WORD(8)]) for word in words]
    for halves in (words, odd):
        left, right = (builder.call(widen, [each]) for each in halves)
        total = builder.call(multiply, [left, right, total])
    return total


def _intrinsic(builder: ir.IRBuilder, name: str, arguments: int) -> ir.Function:
    """Declare a function of words."""
    type = ir.FunctionType(_WORD, [_WORD] * arguments)
    return builder.module.globals.get(name) or ir.Function(builder.module, type, name)
