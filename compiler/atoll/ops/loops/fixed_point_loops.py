# SPDX-License-Identifier: Apache-2.0
"""The scalar functions of int8 requantisation, written once in the loop program.

They equal `atoll.ops.quantization` bit for bit (ARITHMETIC: double rounding).
"""

from collections.abc import Callable

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import Operand, add, binary, cast, clamp, maximum, multiply, subtract
from atoll.ir.graph import Operator
from atoll.ir.tir import Call, Cast, Const, Conversion, Expr, Operation, PrimFunc, Type
from atoll.ops.rounding import rounds_once


def rounded_high_half(a: Expr, b: Expr) -> Expr:
    """Return (2 * a * b) >> 32, rounded, as `I64`.

    TFLite adds 2^30 or 1 - 2^30 by the product's sign and divides truncating toward zero; that
    is the same as adding 2^30 and rounding down.
    """
    product = multiply(cast(a, Type.I64), cast(b, Type.I64))
    return binary(Operation.SHR, add(product, 2**30), 31)


def _srdhm() -> PrimFunc:
    builder = FunctionBuilder("srdhm")
    a, b = builder.scalar("a"), builder.scalar("b")
    high = binary(Operation.MIN, rounded_high_half(a, b), 2**31 - 1)
    return builder.function(cast(high, Type.I32))


def _rdbp() -> PrimFunc:
    builder = FunctionBuilder("rdbp")
    x, exponent = builder.scalar("x"), builder.scalar("exponent")
    mask = builder.let("mask", subtract(binary(Operation.SHL, 1, exponent), 1))
    remainder = binary(Operation.AND, x, mask)
    negative = cast(binary(Operation.LT, x, 0), Type.I32)
    threshold = add(binary(Operation.SHR, mask, 1), negative)
    carry = cast(binary(Operation.LT, threshold, remainder), Type.I32)
    return builder.function(add(binary(Operation.SHR, x, exponent), carry))


def _mbqm() -> PrimFunc:
    """Multipliers are never negative, so that the saturation of `srdhm` cannot happen."""
    builder = FunctionBuilder("mbqm")
    x, multiplier, shift = (builder.scalar(name) for name in ("x", "multiplier", "shift"))
    shifted = binary(Operation.SHL, x, maximum(shift, 0))
    high = cast(rounded_high_half(shifted, multiplier), Type.I32)
    return builder.function(rdbp(high, maximum(subtract(0, shift), 0)))


def _mbqm_once() -> PrimFunc:
    builder = FunctionBuilder("mbqm_once")
    x, multiplier, shift = (builder.scalar(name) for name in ("x", "multiplier", "shift"))
    shifted = binary(Operation.SHL, x, maximum(shift, 0))
    product = multiply(cast(shifted, Type.I64), cast(multiplier, Type.I64))
    right = builder.let("right", cast(maximum(subtract(0, shift), 0), Type.I64))
    half = binary(Operation.SHL, Const(1, Type.I64), add(right, 30))
    return builder.function(
        cast(binary(Operation.SHR, add(product, half), add(right, 31)), Type.I32)
    )


def _make_rounded_right() -> PrimFunc:
    """Half away from zero is half up, less one for what is negative."""
    builder = FunctionBuilder("rounded_right")
    high, right, offset = (builder.scalar(n) for n in ("high", "right", "offset"))
    sign = binary(Operation.SHR, high, 31)
    return builder.function(binary(Operation.SHR, add(high, offset, sign), right))


def _make_scaled_right() -> PrimFunc:
    builder = FunctionBuilder("scaled_right")
    x, doubled, right, offset = (builder.scalar(n) for n in ("x", "doubled", "right", "offset"))
    wide = multiply(cast(x, Type.I64), Cast(Conversion.ZEXT, doubled, Type.I64))
    product = builder.let("product", wide)
    half = binary(Operation.AND, cast(binary(Operation.SHR, product, 31), Type.I32), 1)
    whole = cast(binary(Operation.SHR, product, 32), Type.I32)
    high = builder.let("high", add(whole, half))
    return builder.function(round_right(high, right, offset))


def _sdhm() -> PrimFunc:
    builder = FunctionBuilder("sdhm")
    a, b = builder.scalar("a"), builder.scalar("b")
    product = multiply(cast(a, Type.I64), cast(b, Type.I64))
    high = binary(Operation.MIN, binary(Operation.SHR, product, 31), 2**31 - 1)
    return builder.function(cast(high, Type.I32))


def _make_scaled_right_once() -> PrimFunc:
    builder = FunctionBuilder("scaled_right_once")
    x, doubled, right, offset = (builder.scalar(n) for n in ("x", "doubled", "right", "offset"))
    product = multiply(cast(x, Type.I64), Cast(Conversion.ZEXT, doubled, Type.I64))
    high = cast(binary(Operation.SHR, product, 32), Type.I32)
    return builder.function(binary(Operation.SHR, add(high, offset), right))


def _call(function: str, *arguments: Operand) -> Expr:
    return Call(function, tuple(Const(a) if isinstance(a, int) else a for a in arguments), Type.I32)


def srdhm(a: Operand, b: Operand) -> Expr:
    """Call `srdhm`: the high half of 2 * a * b, rounded; only MIN * MIN saturates."""
    return _call("srdhm", a, b)


def rdbp(x: Operand, exponent: Operand) -> Expr:
    """Call `rdbp`: x / 2^exponent (0..31), halves away from zero."""
    return _call("rdbp", x, exponent)


def mbqm(x: Operand, multiplier: Operand, shift: Operand) -> Expr:
    """Call `mbqm`: x * multiplier * 2^(shift - 31), rounded twice; multiplier >= 0."""
    return _call("mbqm", x, multiplier, shift)


def mbqm_once(x: Operand, multiplier: Operand, shift: Operand) -> Expr:
    """Call `mbqm_once`: likewise, rounded once, halves up."""
    return _call("mbqm_once", x, multiplier, shift)


def scaling_of(op: Operator) -> Callable[[Operand, Operand, Operand], Expr]:
    """Return `mbqm_once` if an operator rounds once, else `mbqm`."""
    return mbqm_once if rounds_once(op) else mbqm


def scale_right(x: Operand, doubled: Operand, right: Operand, offset: Operand) -> Expr:
    """Call `scaled_right`: `mbqm` for what is shifted to the right, and its zero point.

    Args:
        x: the sum; with `offset` less than 2^31 in magnitude.
        doubled: twice the multiplier, without a sign.
        right: 1 .. 31, the shift's negative.
        offset: (zero point + 1/2) * 2^right.
    """
    return _call("scaled_right", x, doubled, right, offset)


def round_right(high: Operand, right: Operand, offset: Operand) -> Expr:
    """Call `rounded_right`: the second half of `scaled_right`, from what `srdhm` gives."""
    return _call("rounded_right", high, right, offset)


def sdhm(a: Operand, b: Operand) -> Expr:
    """Call `sdhm`: the high half of 2 * a * b, rounded down; only MIN * MIN saturates."""
    return _call("sdhm", a, b)


def scale_right_once(x: Operand, doubled: Operand, right: Operand, offset: Operand) -> Expr:
    """Call `scaled_right_once`: what `scaled_right` is to `mbqm`, to `mbqm_once`.

    What the product has below its high word is less than one of the steps of `offset`, so that it
    cannot change the result.
    """
    return _call("scaled_right_once", x, doubled, right, offset)


def quantize(value: Expr, zero_point: int, limits: tuple[int, int]) -> Expr:
    """Move a scaled sum to the output's zero point and clamp it; it fits `I8`."""
    return clamp(add(value, zero_point), *limits)


LIBRARY: tuple[PrimFunc, ...] = (
    _srdhm(),
    _rdbp(),
    _mbqm(),
    _make_rounded_right(),
    _make_scaled_right(),
    _mbqm_once(),
    _sdhm(),
    _make_scaled_right_once(),
)
