# SPDX-License-Identifier: Apache-2.0
"""Parts of a kernel that cores run at once: each does some iterations of one of its loops."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from atoll.ir.tir import Const, For, If, PrimFunc, Stmt, Store
from atoll.ir.walk import runtime_allocations
from atoll.records import dataclass

_AGAIN = re.compile(r"_\d+$")
"""What a builder appends to a name that it has used before."""


@dataclass(frozen=True, slots=True)
class ParallelLoop:
    """A loop of a kernel whose iterations may be shared out.

    Attributes:
        name: its variable's, without the number of a repetition.
        iterations: from 2 on; all loops of the name have as many.
    """

    name: str
    iterations: int

    def share(self, parts: int) -> Fraction:
        """Return what the largest of some parts has of the whole."""
        return Fraction(-(-self.iterations // parts), self.iterations)


def parallel_loop(kernel: PrimFunc, names: Sequence[str], parts: int) -> ParallelLoop | None:
    """Return the loop whose iterations are shared out the most evenly, the first of equal ones.

    Args:
        kernel: as its kind lowers it.
        names: loops whose iterations write bytes of their own and read none that others write.
        parts: how many there shall be; fewer iterations than that do not count.
    """
    found = [
        ParallelLoop(name, iterations)
        for name in names
        if (iterations := _iterations(kernel, name)) >= max(2, parts)
    ]
    return min(found, key=lambda loop: loop.share(parts), default=None)


def part_of(kernel: PrimFunc, loop: ParallelLoop, number: int, parts: int) -> PrimFunc:
    """Return the part `number` of a kernel, named after it; together they do what it does."""
    first, end = (loop.iterations * bound // parts for bound in (number, number + 1))

    def some(statement: For) -> For:
        assert isinstance(statement.begin, Const)
        start = statement.begin.value
        return replace(statement, begin=Const(start + first), end=Const(start + end))

    name = f"{kernel.name}_part{number}"
    return replace(kernel, name=name, body=_map_loops(kernel.body, loop.name, some))


def _iterations(kernel: PrimFunc, name: str) -> int:
    """Return how often the loops of a name repeat, 0 if they cannot be shared out.

    They can if outside of them no result is written, and all repeat equally often, as is known.
    """
    results = {buffer.name for buffer in kernel.buffers if buffer.direction.writes}
    outside = {each.buffer for each in _outside(kernel.body, name) if isinstance(each, Store)}
    loops = [each for each in _outside(kernel.body, name) if isinstance(each, For)]
    counts = {_count(each) for each in loops if _has_name(each, name)}
    if results & outside or len(counts) != 1 or runtime_allocations(kernel):
        return 0
    return counts.pop()


def _count(loop: For) -> int:
    if isinstance(loop.begin, Const) and isinstance(loop.end, Const):
        return loop.end.value - loop.begin.value
    return 0


def _outside(body: Sequence[Stmt], name: str) -> Iterator[Stmt]:
    """Yield loops of a name, and all statements that are in none of them."""
    for statement in body:
        yield statement
        if isinstance(statement, For) and not _has_name(statement, name):
            yield from _outside(statement.body, name)
        elif isinstance(statement, If):
            yield from _outside((*statement.then, *statement.otherwise), name)


def _map_loops(body: Sequence[Stmt], name: str, change: Callable[[For], For]) -> tuple[Stmt, ...]:
    """Change the loops of a name."""
    result: list[Stmt] = []
    for statement in body:
        if isinstance(statement, For):
            inner = replace(statement, body=_map_loops(statement.body, name, change))
            result.append(change(statement) if _has_name(statement, name) else inner)
        elif isinstance(statement, If):
            then, otherwise = (
                _map_loops(block, name, change) for block in (statement.then, statement.otherwise)
            )
            result.append(replace(statement, then=then, otherwise=otherwise))
        else:
            result.append(statement)
    return tuple(result)


def _has_name(loop: For, name: str) -> bool:
    return _AGAIN.sub("", loop.variable) == name
