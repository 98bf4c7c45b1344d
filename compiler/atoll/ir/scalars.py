# SPDX-License-Identifier: Apache-2.0
"""Types and expressions of the loop program. Each prints as text that can be parsed."""

from dataclasses import field
from enum import StrEnum

from atoll.isa.function_unit import Instruction
from atoll.records import dataclass


class Type(StrEnum):
    """Type of a value or of a buffer's elements. Buffers hold no `I1`."""

    I1 = "i1"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"

    @property
    def bits(self) -> int:
        """Width."""
        return int(self[1:])

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return (self.bits + 7) // 8


class Operation(StrEnum):
    """Binary operations, by the token that prints them; comparisons are signed and give `I1`."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    SHL = "<<"
    SHR = ">>"
    AND = "&"
    OR = "|"
    XOR = "^"
    LT = "<"
    LE = "<="
    EQ = "=="
    NE = "!="
    MIN = "min"
    MAX = "max"

    @property
    def compares(self) -> bool:
        """The result is an `I1`."""
        return self in (Operation.LT, Operation.LE, Operation.EQ, Operation.NE)


class Conversion(StrEnum):
    """How a `Cast` changes the width."""

    SEXT = "sext"
    ZEXT = "zext"
    TRUNC = "trunc"


@dataclass(frozen=True, slots=True)
class Const:
    """A literal; `value` is in the signed range of `type` (0 or 1 for `I1`)."""

    value: int
    type: Type = Type.I32

    def __str__(self) -> str:
        return str(self.value) if self.type is Type.I32 else f"{self.value}:{self.type}"


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar parameter, loop variable or `Let`."""

    name: str
    type: Type = Type.I32

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Load:
    """Element `index` (an `I32`) of `buffer`."""

    buffer: str
    index: "Expr"
    type: Type

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Binary:
    """`operation` on two operands of one type."""

    operation: Operation
    left: "Expr"
    right: "Expr"
    type: Type = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        result = Type.I1 if self.operation.compares else self.left.type
        object.__setattr__(self, "type", result)

    def __str__(self) -> str:
        if self.operation in (Operation.MIN, Operation.MAX):
            return f"{self.operation}({self.left}, {self.right})"
        return f"({self.left} {self.operation} {self.right})"


@dataclass(frozen=True, slots=True)
class Select:
    """`then` where `condition` holds, else `otherwise`; both are evaluated."""

    condition: "Expr"
    then: "Expr"
    otherwise: "Expr"
    type: Type = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", self.then.type)

    def __str__(self) -> str:
        return f"select({self.condition}, {self.then}, {self.otherwise})"


@dataclass(frozen=True, slots=True)
class Cast:
    """`value` in the width of `type`."""

    conversion: Conversion
    value: "Expr"
    type: Type

    def __str__(self) -> str:
        return f"{self.conversion}.{self.type}({self.value})"


@dataclass(frozen=True, slots=True)
class Call:
    """Result of a scalar function of the same module."""

    function: str
    arguments: tuple["Expr", ...]
    type: Type

    def __str__(self) -> str:
        return f"@{self.function}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Dot:
    """`start` (an `I32`) plus the products of `length` elements from `left` and `right` on.

    Both are of `I8`, and each of them is multiplied as `I32`. Their addresses are multiples of
    `align`, which the alignment of buffers and both indices grant.
    """

    start: "Expr"
    left: Load
    right: Load
    length: int
    align: int = 1
    type: Type = field(default=Type.I32, init=False, compare=False, repr=False)

    def __str__(self) -> str:
        align = f", {self.align}" if self.align > 1 else ""
        return f"dot({self.start}, {self.left}, {self.right}, {self.length}{align})"

    def last(self, first: Load) -> Load:
        """Return the load of the last element that follows `first`, which is `left` or `right`."""
        place = Binary(Operation.ADD, first.index, Const(self.length - 1))
        return Load(first.buffer, place, first.type)


@dataclass(frozen=True, slots=True)
class Word:
    """Four elements of `I8` from `first` on as one `I32`, the first in its lowest byte.

    The address of `first` is a multiple of 4, which the alignment of its buffer and the index
    grant.
    """

    first: Load
    type: Type = field(default=Type.I32, init=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"word({self.first})"

    @property
    def last(self) -> Load:
        """The load of its highest byte."""
        return Load(self.first.buffer, Binary(Operation.ADD, self.first.index, Const(3)), Type.I8)


@dataclass(frozen=True, slots=True)
class Execute:
    """Result of an instruction of the core's function unit, of two `I32`."""

    instruction: Instruction
    a: "Expr"
    b: "Expr"
    type: Type = field(default=Type.I32, init=False, compare=False, repr=False)

    def __str__(self) -> str:
        return f"${self.instruction.name}({self.a}, {self.b})"


Expr = Const | Var | Load | Binary | Select | Cast | Call | Dot | Word | Execute


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return the expressions that `expr` is made of, in the order of evaluation."""
    match expr:
        case Const() | Var():
            return ()
        case Binary():
            return (expr.left, expr.right)
        case Load():
            return (expr.index,)
        case Select():
            return (expr.condition, expr.then, expr.otherwise)
        case Cast():
            return (expr.value,)
        case Call():
            return expr.arguments
        case Dot():
            return (expr.start, expr.left, expr.right)
        case Word():
            return (expr.first,)
        case Execute():
            return (expr.a, expr.b)
