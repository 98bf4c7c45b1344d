# SPDX-License-Identifier: Apache-2.0
"""Words of C99: names and numbers."""

from atoll.ir.scalars import Type

TYPES = {
    Type.I1: "_Bool",
    Type.I8: "int8_t",
    Type.I16: "int16_t",
    Type.I32: "int32_t",
    Type.I64: "int64_t",
}
SHARED = {**TYPES, Type.I16: "atoll_i16", Type.I32: "atoll_i32", Type.I64: "atoll_i64"}
"""Types behind the pointers of kernels: bytes that serve other types at other times."""
_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register restrict return short signed sizeof static struct switch typedef"
    " union unsigned void volatile while"
)
_KEYWORDS = frozenset(_WORDS.split())


def identifier(name: str) -> str:
    """Return a name of the loop program as C has it."""
    return f"{name}_" if name in _KEYWORDS or name.endswith("_t") else name


def scalar_function(name: str) -> str:
    """Return the name of a function that operators share, apart from those of variables."""
    return f"atoll_{name}"


def literal(value: int, type: Type) -> str:
    """Return a number of `type`, without the negation of one that `type` has no negative of."""
    if type.bits >= Type.I32.bits and value == -(1 << (type.bits - 1)):
        return f"INT{type.bits}_MIN"
    text = f"INT64_C({abs(value)})" if type is Type.I64 else str(abs(value))
    return f"(-{text})" if value < 0 else text


def bare(text: str) -> str:
    """Leave out brackets around the whole of `text`."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if at == len(text) - 1 else text
    return text
