# SPDX-License-Identifier: Apache-2.0
"""Write functions of the loop program as Python that reads like them."""

from collections.abc import Iterator
from contextlib import contextmanager

from atoll.ir.expressions import Operand, cast
from atoll.ir.tir import (
    Allocate,
    BufferParam,
    Const,
    Direction,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
    Type,
    Var,
)
from atoll.records import dataclass
from atoll.resolve.storage_scope import GLOBAL, LOCAL


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer in scope: ``buffer[i]`` loads, ``buffer[i] = value`` stores."""

    builder: "FunctionBuilder"
    name: str
    type: Type

    def __getitem__(self, index: Operand) -> Expr:
        return self.at(index)

    def at(self, index: Operand) -> Load:
        """Load as it is."""
        return Load(self.name, _index(index), self.type)

    def __setitem__(self, index: Operand, value: Operand) -> None:
        stored = Const(value, self.type) if isinstance(value, int) else cast(value, self.type)
        self.builder.emit(Store(self.name, _index(index), stored))

    def wide(self, index: Operand) -> Expr:
        """Load as `I32`."""
        return cast(self[index], Type.I32)


def _index(index: Operand) -> Expr:
    return Const(index) if isinstance(index, int) else index


class FunctionBuilder:
    """Collects parameters and statements of one function.

    A name that is taken gets a number appended, so helpers may be used twice.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._parameters: list[BufferParam | Var] = []
        self._blocks: list[list[Stmt]] = [[]]
        self._names: set[str] = set()

    def buffer(self, name: str, type: Type, elements: int, direction: Direction) -> Buffer:
        """Add a buffer parameter."""
        parameter = BufferParam(self._fresh(name), type, elements, direction)
        self._parameters.append(parameter)
        return Buffer(self, parameter.name, type)

    def scalar(self, name: str, type: Type = Type.I32) -> Var:
        """Add a scalar parameter."""
        parameter = Var(self._fresh(name), type)
        self._parameters.append(parameter)
        return parameter

    def allocate(
        self, name: str, type: Type, elements: int, scope: str = LOCAL, align: int = 1
    ) -> Buffer:
        """Make a buffer that lives to the end of the block, aligned for its elements at least."""
        buffer = Buffer(self, self._fresh(name), type)
        align = max(align, type.bytes)
        self.emit(
            Allocate(buffer=buffer.name, type=type, elements=elements, align=align, scope=scope)
        )
        return buffer

    def reserve(self, name: str, type: Type, elements: Expr) -> Buffer:
        """Take a buffer of as many elements as the run says from a heap, to the block's end."""
        buffer = Buffer(self, self._fresh(name), type)
        self.emit(
            RuntimeAllocate(
                buffer=buffer.name, type=type, elements=elements, align=type.bytes, scope=GLOBAL
            )
        )
        return buffer

    def let(self, name: str, value: Operand) -> Expr:
        """Name a value; a literal stays one."""
        value = _index(value)
        if isinstance(value, (Const, Var)):
            return value
        variable = Var(self._fresh(name), value.type)
        self.emit(Let(variable.name, value))
        return variable

    @contextmanager
    def loop(
        self, name: str, begin: Operand, end: Operand, *, vectorized: bool = False
    ) -> Iterator[Expr]:
        """Repeat what is emitted inside; a single iteration that is known needs no loop."""
        begin, end = _index(begin), _index(end)
        if isinstance(begin, Const) and end == Const(begin.value + 1):
            yield begin
            return
        variable = Var(self._fresh(name))
        self._blocks.append([])
        yield variable
        body = tuple(self._blocks.pop())
        self.emit(For(variable.name, begin, end, body, vectorized))

    @contextmanager
    def when(self, condition: Expr) -> Iterator[None]:
        """Run what is emitted inside only where `condition` holds."""
        self._blocks.append([])
        yield
        self.emit(If(condition, tuple(self._blocks.pop())))

    @property
    def parameters(self) -> tuple[BufferParam | Var, ...]:
        """The parameters so far."""
        return tuple(self._parameters)

    def emit(self, statement: Stmt) -> None:
        """Append to the current block."""
        self._blocks[-1].append(statement)

    def kernel(self) -> PrimFunc:
        """Finish a function over buffers."""
        (body,) = self._blocks
        return PrimFunc(self._name, tuple(self._parameters), tuple(body))

    def function(self, value: Expr) -> PrimFunc:
        """Finish a function of scalars that returns `value`."""
        self.emit(Return(value))
        (body,) = self._blocks
        return PrimFunc(self._name, tuple(self._parameters), tuple(body), value.type)

    def _fresh(self, name: str) -> str:
        fresh, number = name, 1
        while fresh in self._names:
            number += 1
            fresh = f"{name}_{number}"
        self._names.add(fresh)
        return fresh
