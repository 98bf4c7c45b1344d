# SPDX-License-Identifier: Apache-2.0
"""Statements and functions of the loop program. Each prints as text that can be parsed."""

import json
from collections.abc import Iterable
from enum import StrEnum
from textwrap import indent

from atoll.ir.bytes_text import brief_text, bytes_text
from atoll.ir.scalars import Const, Expr, Type, Var
from atoll.records import dataclass
from atoll.resolve.c_functions import CFunction


class Direction(StrEnum):
    """What a function does with a buffer."""

    READ = "read"
    WRITE = "write"
    BOTH = "readwrite"

    @property
    def reads(self) -> bool:
        """Loads are allowed."""
        return self is not Direction.WRITE

    @property
    def writes(self) -> bool:
        """Stores are allowed."""
        return self is not Direction.READ


@dataclass(frozen=True, slots=True)
class For:
    """Run `body` for `variable` = `begin`, ..., `end` - 1 (`I32`); not at all if begin >= end.

    The iterations of a `vectorized` loop may be computed at once, each in a lane of vectors: none
    of them reads what another writes.
    """

    variable: str
    begin: Expr
    end: Expr
    body: tuple["Stmt", ...]
    vectorized: bool = False

    def __str__(self) -> str:
        word = "vectorized for" if self.vectorized else "for"
        return f"{word} {self.variable} in {self.begin} .. {self.end} {_block(self.body)}"


@dataclass(frozen=True, slots=True)
class Store:
    """Set element `index` of `buffer`."""

    buffer: str
    index: Expr
    value: Expr

    def __str__(self) -> str:
        return f"{self.buffer}[{self.index}] = {self.value}"


@dataclass(frozen=True, slots=True)
class Let:
    """Name a value to the end of the block."""

    variable: str
    value: Expr

    def __str__(self) -> str:
        return f"let {self.variable} = {self.value}"


@dataclass(frozen=True, slots=True)
class If:
    """Run `then` or `otherwise`."""

    condition: Expr
    then: tuple["Stmt", ...]
    otherwise: tuple["Stmt", ...] = ()

    def __str__(self) -> str:
        tail = f" else {_block(self.otherwise)}" if self.otherwise else ""
        return f"if {self.condition} {_block(self.then)}{tail}"


@dataclass(frozen=True, slots=True)
class Return:
    """End a scalar function; its last statement and nowhere else."""

    value: Expr

    def __str__(self) -> str:
        return f"return {self.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocate:
    """Makes `buffer` live to the end of its block, or in all steps if the entry holds it.

    Attributes:
        align: bytes, a power of two.
        scope: storage scope, such as ``global.workspace`` or ``local``: `resolve.storage_scope`.
        pools: candidate pools, best first; () for scopes that are in no pool.
        initial: bytes of a state before the first run; see `Tensor`.
    """

    buffer: str
    type: Type
    elements: int
    align: int
    scope: str
    pools: tuple[str, ...] = ()
    initial: bytes | None = None

    @property
    def size(self) -> int:
        """Bytes."""
        return self.elements * self.type.bytes

    def __str__(self) -> str:
        return self._text("" if self.initial is None else bytes_text(self.initial, self.size))

    def brief(self) -> str:
        """Return the text with the checksum of a long state's bytes instead of these."""
        return self._text("" if self.initial is None else brief_text(self.initial, self.size))

    def _text(self, initial: str) -> str:
        pools = f" {bracket(self.pools)}" if self.pools else ""
        shape = f"{self.type}[{self.elements}]"
        kept = f" kept {initial}" if initial else ""
        return f"allocate {self.buffer}: {shape} align {self.align} in {self.scope}{pools}{kept}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeAllocate:
    """Take a block of a heap for `buffer`, to the end of its block of statements.

    The kernel fails, and its buffers so far are given back, with `Status.ARGUMENT` if
    the count is less than 1 and `Status.NO_MEMORY` if the bytes are more than the heap has left.

    Attributes:
        elements: an `I32` or `I64`, evaluated once; it is never wrapped to a size.
        align: bytes, a power of two, at most what every block has.
        scope: ``global`` or ``global.workspace``.
        pools: whose heaps may give the block, best first; () until a pass has chosen.
    """

    buffer: str
    type: Type
    elements: Expr
    align: int
    scope: str
    pools: tuple[str, ...] = ()

    def __str__(self) -> str:
        pools = f" {bracket(self.pools)}" if self.pools else ""
        literal = isinstance(self.elements, Const) and self.elements.type is Type.I32
        shape = f"{self.type}[({self.elements})]" if literal else f"{self.type}[{self.elements}]"
        return f"allocate {self.buffer}: {shape} align {self.align} in {self.scope}{pools}"


@dataclass(frozen=True, slots=True)
class CallExtern:
    """Call a function of C.

    Attributes:
        function: what it is, with the types of its arguments.
        buffers: whose first addresses it gets, in order.
        numbers: whole numbers of 32 bits that it gets after these.
    """

    function: CFunction
    buffers: tuple[str, ...]
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        arguments = ", ".join((*self.buffers, *map(str, self.numbers)))
        source = self.function.source
        return f"extern {quote(source.name)} 0x{source.digest} {self.function.name}({arguments})"


Stmt = For | Store | Let | If | Return | Allocate | RuntimeAllocate | CallExtern


def _block(body: Iterable[Stmt]) -> str:
    return "{\n" + indent("".join(f"{statement}\n" for statement in body), "  ") + "}"


def quote(text: str) -> str:
    """Print any text in one line."""
    return json.dumps(text)


def bracket(names: Iterable[str]) -> str:
    """Print a list of names."""
    return f"[{', '.join(names)}]"


@dataclass(frozen=True, slots=True)
class BufferParam:
    """A buffer that the caller provides; no two buffers that one call touches overlap."""

    name: str
    type: Type
    elements: int
    direction: Direction

    def __str__(self) -> str:
        return f"{self.name}: {self.type}[{self.elements}] {self.direction}"


@dataclass(frozen=True, slots=True)
class PrimFunc:
    """A kernel over buffers (`result` None), or a pure function of scalars.

    Attributes:
        target: what its code is made for, as scopes have it; "" for the core's own code.
    """

    name: str
    parameters: tuple[BufferParam | Var, ...]
    body: tuple[Stmt, ...]
    result: Type | None = None
    target: str = ""

    @property
    def buffers(self) -> tuple[BufferParam, ...]:
        """Buffer parameters in order."""
        return tuple(p for p in self.parameters if isinstance(p, BufferParam))

    def __str__(self) -> str:
        parameters = ", ".join(
            f"{p.name}: {p.type}" if isinstance(p, Var) else str(p) for p in self.parameters
        )
        result = f" -> {self.result}" if self.result else ""
        target = f" for {quote(self.target)}" if self.target else ""
        return f"function @{self.name}({parameters}){result}{target} {_block(self.body)}\n"
