# SPDX-License-Identifier: Apache-2.0
"""The rules of one function: names, types, directions, bounds, divisors, returns."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from atoll.diagnostics.errors import Fault
from atoll.ir.affine import Affine, affine, extremes
from atoll.ir.faults import ill_formed
from atoll.ir.heap import ALIGNMENT
from atoll.ir.ranges import Range, range_of
from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    CallExtern,
    Const,
    Direction,
    Dot,
    Expr,
    For,
    If,
    Let,
    Load,
    Operation,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
    Type,
    Var,
    Word,
)
from atoll.ir.typing_rules import type_faults
from atoll.ir.verify_lanes import lane_faults
from atoll.ir.walk import blocks_of, expressions_of, subexpressions
from atoll.records import dataclass
from atoll.resolve.storage_scope import GLOBAL, IN_WORKSPACE, LOCAL, ON_STACK

LARGEST_BUFFER = 2**31 - 1
LARGEST_LOCAL = 64
"""Bytes of a buffer that shall end up in registers."""

_BLOCK_ALIGNMENTS = tuple(1 << shift for shift in range(ALIGNMENT.bit_length()))
KERNEL_SCOPES = (LOCAL, GLOBAL, ON_STACK, IN_WORKSPACE)


@dataclass(slots=True)
class _Scope:
    """What is known at one place.

    Attributes:
        types: of scalars.
        buffers: as if they were parameters.
        ranges: of scalars.
        sums: scalars that are sums of loop variables.
        loops: range of each loop variable whose loop has constant bounds.
        certain: control surely comes here, for every iteration of `loops`.
    """

    types: dict[str, Type] = field(default_factory=dict)
    buffers: dict[str, BufferParam] = field(default_factory=dict)
    ranges: dict[str, Range] = field(default_factory=dict)
    sums: dict[str, Affine] = field(default_factory=dict)
    loops: dict[str, Range] = field(default_factory=dict)
    certain: bool = True

    def inner(self, *, certain: bool) -> "_Scope":
        """Start a block inside."""
        copies = (dict(self.types), dict(self.buffers), dict(self.ranges), dict(self.sums))
        return _Scope(*copies, dict(self.loops), self.certain and certain)


def function_faults(function: PrimFunc, functions: Mapping[str, PrimFunc]) -> Iterator[Fault]:
    """Yield a fault for every rule that `function` breaks.

    Args:
        function: any.
        functions: those that it may call.
    """
    for message in _FunctionChecker(function, functions).messages():
        yield ill_formed(f"function '{function.name}'", message)


class _FunctionChecker:
    def __init__(self, function: PrimFunc, functions: Mapping[str, PrimFunc]) -> None:
        self._function = function
        self._functions = functions

    def messages(self) -> Iterator[str]:
        scope = _Scope()
        for parameter in self._function.parameters:
            yield from self._parameter(parameter, scope)
        yield from self._block(self._function.body, scope)
        yield from self._check_end()

    def _parameter(self, parameter: BufferParam | Var, scope: _Scope) -> Iterator[str]:
        kind = Var if self._function.result else BufferParam
        if not isinstance(parameter, kind):
            yield f"parameter '{parameter.name}' does not suit its kind of function"
        yield from _redeclarations(parameter.name, scope)
        if isinstance(parameter, Var):
            scope.types[parameter.name] = parameter.type
        else:
            yield from _buffer(parameter)
            scope.buffers[parameter.name] = parameter

    def _check_end(self) -> Iterator[str]:
        last = self._function.body[-1] if self._function.body else None
        if self._function.result is None:
            return
        if not isinstance(last, Return) or last.value.type is not self._function.result:
            yield f"does not end in the return of an {self._function.result}"

    def _block(self, body: tuple[Stmt, ...], scope: _Scope) -> Iterator[str]:
        for statement in body:
            for expr in expressions_of(statement):
                yield from self._expression(expr, scope)
            yield from self._statement(statement, scope)

    def _statement(self, statement: Stmt, scope: _Scope) -> Iterator[str]:  # noqa: C901 - a case for each kind
        match statement:
            case For():
                yield from self._loop(statement, scope)
            case Store():
                yield from self._store(statement, scope)
            case Let():
                yield from _redeclarations(statement.variable, scope)
                _bind(statement, scope)
            case If():
                if statement.condition.type is not Type.I1:
                    yield f"condition {statement.condition} is an {statement.condition.type}"
                for block in blocks_of(statement):
                    yield from self._block(block, scope.inner(certain=False))
            case Return():
                if self._function.result is None or statement is not self._function.body[-1]:
                    yield "returns before its end"
            case Allocate():
                yield from _allocation(statement, scope)
            case RuntimeAllocate():
                if self._function.result is not None:
                    yield f"allocates '{statement.buffer}', and is a function of scalars"
                yield from _runtime_allocation(statement, scope)
            case CallExtern(function, buffers, numbers):
                missing = sorted({*buffers} - {*scope.buffers})
                if missing:
                    yield f"hands '{missing[0]}' to C, which is no buffer here"
                if len(function.types) != len(buffers) + len(numbers):
                    yield f"calls '{function.name}' of C with another number of arguments"

    def _loop(self, loop: For, scope: _Scope) -> Iterator[str]:
        yield from _redeclarations(loop.variable, scope)
        if loop.begin.type is not Type.I32 or loop.end.type is not Type.I32:
            yield f"bounds of loop '{loop.variable}' are no i32"
            return
        first, last = range_of(loop.begin, scope.ranges), range_of(loop.end, scope.ranges)
        counted = Range(first.low, max(first.low, last.high - 1))
        constant = isinstance(loop.begin, Const) and isinstance(loop.end, Const)
        inner = scope.inner(certain=constant and first.low < last.high)
        inner.types[loop.variable] = Type.I32
        inner.ranges[loop.variable] = counted
        if constant:
            inner.loops[loop.variable] = counted
            inner.sums[loop.variable] = Affine(0, {loop.variable: 1})
        yield from self._block(loop.body, inner)
        if loop.vectorized:
            yield from lane_faults(loop, self._functions)

    def _store(self, store: Store, scope: _Scope) -> Iterator[str]:
        buffer = scope.buffers.get(store.buffer)
        if buffer is None:
            yield f"stores to '{store.buffer}', which is no buffer here"
            return
        if not buffer.direction.writes:
            yield f"stores to '{store.buffer}', which is only read"
        if store.value.type is not buffer.type:
            yield f"stores an {store.value.type} to '{store.buffer}' of {buffer.type}"
        if store.index.type is not Type.I32:
            yield f"index of {store} is an {store.index.type}"
        yield from _bounds(buffer, store.index, scope)

    def _expression(self, expr: Expr, scope: _Scope) -> Iterator[str]:
        for part in subexpressions(expr):
            yield from type_faults(part, self._functions)
            match part:
                case Var(name, type) if scope.types.get(name) is not type:
                    yield f"uses '{name}', which is no {type} here"
                case Load():
                    yield from _load(part, scope)
                case Dot():
                    for load in (part.left, part.right):
                        yield from _load(part.last(load), scope)
                case Word():
                    yield from _load(part.last, scope)
                case Binary(Operation.DIV | Operation.REM, _, divisor):
                    if range_of(divisor, scope.ranges).low < 1:
                        yield f"divisor of {part} is not surely positive"


def _redeclarations(name: str, scope: _Scope) -> Iterator[str]:
    if name in scope.types or name in scope.buffers:
        yield f"declares '{name}' again"


def _bind(let: Let, scope: _Scope) -> None:
    scope.types[let.variable] = let.value.type
    scope.ranges[let.variable] = range_of(let.value, scope.ranges)
    total = affine(let.value, scope.sums)
    if total is not None:
        scope.sums[let.variable] = total


def _load(load: Load, scope: _Scope) -> Iterator[str]:
    buffer = scope.buffers.get(load.buffer)
    if buffer is None or buffer.type is not load.type:
        yield f"loads from '{load.buffer}', which is no buffer of {load.type} here"
        return
    if not buffer.direction.reads:
        yield f"loads from '{load.buffer}', which is only written"
    yield from _bounds(buffer, load.index, scope)


def _bounds(buffer: BufferParam, index: Expr, scope: _Scope) -> Iterator[str]:
    """Report an access that is out of bounds whatever the data are."""
    total = affine(index, scope.sums)
    if total is None or not scope.certain:
        return
    touched = extremes(total, scope.loops)
    if touched.low < 0 or touched.high >= buffer.elements:
        yield (
            f"touches elements {touched.low} to {touched.high} of '{buffer.name}', "
            f"which has {buffer.elements}"
        )


def _allocation(allocate: Allocate, scope: _Scope) -> Iterator[str]:
    yield from _redeclarations(allocate.buffer, scope)
    buffer = BufferParam(allocate.buffer, allocate.type, allocate.elements, Direction.BOTH)
    yield from _buffer(buffer)
    scope.buffers[allocate.buffer] = buffer
    if allocate.align < 1 or allocate.align & (allocate.align - 1):
        yield f"alignment {allocate.align} of '{allocate.buffer}' is not a power of two"
    if allocate.scope not in KERNEL_SCOPES:
        yield f"scope '{allocate.scope}' of '{allocate.buffer}' is none of a kernel"
    if allocate.scope == LOCAL and allocate.size > LARGEST_LOCAL:
        yield f"'{allocate.buffer}' is 'local', for registers, and has {allocate.size} B"


def _runtime_allocation(allocate: RuntimeAllocate, scope: _Scope) -> Iterator[str]:
    yield from _redeclarations(allocate.buffer, scope)
    most = LARGEST_BUFFER // allocate.type.bytes
    count = range_of(allocate.elements, scope.ranges)
    buffer = BufferParam(
        allocate.buffer, allocate.type, max(1, min(count.high, most)), Direction.BOTH
    )
    yield from _buffer(buffer)
    scope.buffers[allocate.buffer] = buffer
    if allocate.elements.type not in (Type.I32, Type.I64):
        yield f"number of elements of '{allocate.buffer}' is an {allocate.elements.type}"
    elif count.high < 1 or count.low > most:
        yield f"number of elements of '{allocate.buffer}' can never be from 1 to {most}"
    if allocate.align not in _BLOCK_ALIGNMENTS:
        yield f"alignment {allocate.align} of '{allocate.buffer}' is none of a heap"
    if allocate.scope not in (GLOBAL, IN_WORKSPACE):
        yield f"scope '{allocate.scope}' of '{allocate.buffer}' is none of a heap"


def _buffer(buffer: BufferParam) -> Iterator[str]:
    if buffer.type is Type.I1:
        yield f"buffer '{buffer.name}' holds i1"
    if not 1 <= buffer.elements * buffer.type.bytes <= LARGEST_BUFFER:
        yield (
            f"buffer '{buffer.name}' has {buffer.elements * buffer.type.bytes} bytes "
            f"instead of 1 to {LARGEST_BUFFER}"
        )
