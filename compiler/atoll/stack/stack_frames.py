# SPDX-License-Identifier: Apache-2.0
"""Stack bytes of loop programs, callees included."""

from collections.abc import Iterable, Iterator

from atoll.diagnostics.errors import PlanError
from atoll.ir.tir import Allocate, PrimFunc
from atoll.ir.walk import callees, statements

STACK_ALIGNMENT = 16

FRAME_ALLOWANCE = 192
"""Bytes per kernel for saved registers, spills and the return address (rv32: 13 saved
registers are 52 bytes). Scalar functions are always inlined and have no frame."""


class FrameDepths:
    """Stack bytes of functions with all that they call; recursion is refused."""

    def __init__(self, functions: Iterable[PrimFunc]) -> None:
        """Take functions in an order in which callees come first."""
        self._depths: dict[str, int] = {}
        self._deepest: dict[str, str] = {}
        self._largest: dict[str, Allocate | None] = {}
        for function in functions:
            self._visit(function)

    def of(self, name: str) -> int:
        """Return the bytes of `name` and its deepest callees."""
        return self._depths[name]

    def path(self, name: str) -> tuple[str, ...]:
        """Return `name` and its deepest callees, outermost first."""
        calls = [name]
        while calls[-1] in self._deepest:
            calls.append(self._deepest[calls[-1]])
        return tuple(calls)

    def largest(self, name: str) -> Allocate | None:
        """Return the largest stack buffer of `name` itself, None if it has none."""
        return self._largest[name]

    def _visit(self, function: PrimFunc) -> None:
        """Record one function; the module lists callees first, which also rules recursion out."""
        called = callees(function)
        for callee in called:
            if callee not in self._depths:
                raise PlanError(
                    "E076",
                    f"function '{function.name}' calls '{callee}', which is not before it: "
                    "the stack of a recursive program has no bound",
                    remedy="list callees first, without cycles",
                )
        own = sum(_footprint(buffer) for buffer in _buffers(function)) + (
            0 if function.result else FRAME_ALLOWANCE
        )
        below = max((self._depths[callee] for callee in called), default=0)
        self._depths[function.name] = own + below
        self._largest[function.name] = max(_buffers(function), key=_footprint, default=None)
        if called:
            self._deepest[function.name] = max(called, key=lambda name: self._depths[name])


def _buffers(function: PrimFunc) -> Iterator[Allocate]:
    """Yield every allocation that is in no pool; all count as if they lived at once."""
    for statement in statements(function.body):
        if isinstance(statement, Allocate) and not statement.pools:
            yield statement


def _footprint(buffer: Allocate) -> int:
    alignment = max(buffer.align, STACK_ALIGNMENT)
    return -(-buffer.size // alignment) * alignment
