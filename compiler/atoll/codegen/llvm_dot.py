# SPDX-License-Identifier: Apache-2.0
"""Sums of int8 products as LLVM IR, by what a core multiplies at once."""

from collections.abc import Sequence

from llvmlite import ir

from atoll.isa.instruction_set import Vectors

_BYTE, _WORD = ir.IntType(8), ir.IntType(32)
_WORD_BYTES, _VECTOR = 4, 16


def dot(
    builder: ir.IRBuilder,
    vectors: Vectors,
    start: ir.Value,
    addresses: Sequence[ir.Value],
    length: int,
) -> ir.Value:
    """Return `start` plus the products of `length` int8 from each of two addresses on."""
    total, done = start, 0
    if vectors is Vectors.MVE:
        for done in range(0, length, _VECTOR):
            parts = [_past(builder, each, done) for each in addresses]
            total = _sixteen(builder, total, parts, min(_VECTOR, length - done))
        return total
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


def _sixteen(
    builder: ir.IRBuilder, total: ir.Value, addresses: list[ir.Value], length: int
) -> ir.Value:
    """Multiply and add a vector, of which only the first `length` bytes are read."""
    bytes_, bits = ir.VectorType(_BYTE, _VECTOR), ir.VectorType(ir.IntType(1), _VECTOR)
    type = ir.FunctionType(_WORD, [_WORD] * 4 + [bytes_] * 2)
    multiply = _declare(builder, "llvm.arm.mve.vmldava.v16i8", type)
    if length == _VECTOR:
        vectors = [builder.load(each, align=1, typ=bytes_) for each in addresses]
    else:
        pointer = addresses[0].type
        type = ir.FunctionType(bytes_, [pointer, _WORD, bits, bytes_])
        load = _declare(builder, "llvm.masked.load.v16i8.p0", type)
        mask = bits([at < length for at in range(_VECTOR)])
        zero = bytes_([0] * _VECTOR)
        vectors = [builder.call(load, [each, _WORD(1), mask, zero]) for each in addresses]
    signed, adds, straight = (_WORD(0),) * 3
    return builder.call(multiply, [signed, adds, straight, total, *vectors])


def _intrinsic(builder: ir.IRBuilder, name: str, arguments: int) -> ir.Function:
    """Declare a function of words."""
    return _declare(builder, name, ir.FunctionType(_WORD, [_WORD] * arguments))


def _declare(builder: ir.IRBuilder, name: str, type: ir.FunctionType) -> ir.Function:
    return builder.module.globals.get(name) or ir.Function(builder.module, type, name)
