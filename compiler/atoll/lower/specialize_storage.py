# SPDX-License-Identifier: Apache-2.0
"""Give kernel-local buffers a place: the stack within its limits, else workspace."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.tir import (
    Allocate,
    BufferParam,
    CoreCall,
    Direction,
    For,
    If,
    IRModule,
    PrimFunc,
    RuntimeAllocate,
    Step,
    Stmt,
)
from atoll.ir.walk import runtime_allocations, statements
from atoll.records import dataclass
from atoll.resolve.storage_scope import GLOBAL, IN_WORKSPACE, LOCAL, ON_STACK

STACK_ALIGNMENT = 16


@dataclass(frozen=True)
class SpecializeStorage:
    """Narrow every kernel-local ``global`` buffer to ``global.stack`` or ``global.workspace``.

    A buffer of the workspace becomes a parameter of its kernel and an allocation of the entry
    that only the steps of that kernel touch. Buffers keep their contents, alignment and order.
    One that is sized at run time stays where it is and gets the heaps that may give it a block.

    Attributes:
        max_alloca: most bytes of one buffer on the stack, inclusive.
        max_stack: most bytes that the buffers of one kernel take on the stack, ``local`` ones
            included.
        pools: workspace pools that the core reaches, best first.
        heaps: those of them that keep a heap.
        core: the functions that steps on this core call are placed; None places all.
    """

    name: ClassVar[str] = "specialize-storage"
    max_alloca: int
    max_stack: int
    pools: tuple[str, ...]
    heaps: tuple[str, ...] = ()
    core: str | None = None

    def run(self, module: IRModule) -> IRModule:
        """Return the module with every kernel-local buffer placed.

        Raises:
            PlanError: E067; a buffer does not fit the stack and there is no workspace, or no
                heap for one that is sized at run time.
        """
        spilled: dict[str, tuple[Allocate, ...]] = {}
        functions = []
        concerned = self._functions_to_place(module)
        for function in module.functions:
            if function.name not in concerned:
                functions.append(function)
                continue
            scopes = self._scopes(function)
            moved = tuple(
                a for a in _unplaced_buffers(function) if scopes[a.buffer] == IN_WORKSPACE
            )
            functions.append(_rewrite(function, scopes, moved, self.heaps))
            if moved:
                spilled[function.name] = moved
        self._check(spilled)
        self._check_heaps(each for each in functions if each.name in concerned)
        return _with_workspace(replace(module, functions=tuple(functions)), spilled, self.pools)

    def _functions_to_place(self, module: IRModule) -> frozenset[str]:
        """Return the functions to place."""
        if self.core is None:
            return frozenset(module.by_name)
        return frozenset(
            call.function
            for step in module.entry.steps
            for call in step.calls
            if call.device == self.core
        )

    def _scopes(self, function: PrimFunc) -> Mapping[str, str]:
        """Choose a scope for each unplaced buffer, first come first served."""
        used = sum(footprint(a) for a in _allocations(function) if a.scope in (LOCAL, ON_STACK))
        scopes = {}
        for allocate in _unplaced_buffers(function):
            if allocate.scope == IN_WORKSPACE:
                scopes[allocate.buffer] = IN_WORKSPACE
                continue
            total = used + footprint(allocate)
            fits = allocate.size <= self.max_alloca and total <= self.max_stack
            scopes[allocate.buffer] = ON_STACK if fits else IN_WORKSPACE
            used = total if fits else used
        return scopes

    def _check(self, spilled: Mapping[str, tuple[Allocate, ...]]) -> None:
        if self.pools or not spilled:
            return
        raise PlanError.all(
            Fault(
                code="E067",
                message=f"buffer '{allocate.buffer}' of kernel '{kernel}' ({allocate.size} B) "
                f"exceeds the stack's limits (one buffer {self.max_alloca} B, all of a kernel "
                f"{self.max_stack} B), and the core reaches no workspace pool",
                remedy="raise 'max_stack_alloca_size' and 'max_stack_size' of the core, or let it "
                "reach a pool with role 'workspace'",
            )
            for kernel, allocates in spilled.items()
            for allocate in allocates
        )

    def _check_heaps(self, functions: Iterable[PrimFunc]) -> None:
        faults = [
            Fault(
                code="E067",
                message=f"buffer '{allocate.buffer}' of kernel '{function.name}' is sized at run "
                "time, and the core reaches no pool that keeps a heap",
                remedy="give a workspace pool that the core writes a heap, such as 'heap: 4 KiB'",
            )
            for function in functions
            for allocate in runtime_allocations(function)
            if not allocate.pools
        ]
        if faults:
            raise PlanError.all(faults)


def _allocations(function: PrimFunc) -> Iterable[Allocate]:
    return (item for item in statements(function.body) if isinstance(item, Allocate))


def _unplaced_buffers(function: PrimFunc) -> tuple[Allocate, ...]:
    return tuple(a for a in _allocations(function) if a.scope in (GLOBAL, IN_WORKSPACE))


def footprint(allocate: Allocate) -> int:
    """Return the bytes that a buffer takes on a stack."""
    alignment = max(allocate.align, STACK_ALIGNMENT)
    return -(-allocate.size // alignment) * alignment


def _rewrite(
    function: PrimFunc,
    scopes: Mapping[str, str],
    moved: tuple[Allocate, ...],
    heaps: tuple[str, ...],
) -> PrimFunc:
    """Set scopes; buffers in `moved` become parameters."""

    def place(statement: Stmt) -> tuple[Stmt, ...]:
        if isinstance(statement, RuntimeAllocate):
            reached = tuple(p for p in heaps if not statement.pools or p in statement.pools)
            return (replace(statement, scope=IN_WORKSPACE, pools=reached),)
        if not isinstance(statement, Allocate) or statement.buffer not in scopes:
            return (statement,)
        return () if statement in moved else (replace(statement, scope=ON_STACK, pools=()),)

    parameters = (BufferParam(a.buffer, a.type, a.elements, Direction.BOTH) for a in moved)
    return replace(
        function,
        parameters=(*function.parameters, *parameters),
        body=map_statements(function.body, place),
    )


def map_statements(
    body: tuple[Stmt, ...], change: Callable[[Stmt], tuple[Stmt, ...]]
) -> tuple[Stmt, ...]:
    """Return statements with each of them replaced, those of inner blocks first."""
    result: list[Stmt] = []
    for statement in body:
        match statement:
            case For():
                statement = replace(statement, body=map_statements(statement.body, change))
            case If():
                then, otherwise = (
                    map_statements(block, change) for block in (statement.then, statement.otherwise)
                )
                statement = replace(statement, then=then, otherwise=otherwise)
        result.extend(change(statement))
    return tuple(result)


def _with_workspace(
    module: IRModule, spilled: Mapping[str, tuple[Allocate, ...]], pools: tuple[str, ...]
) -> IRModule:
    """Give every call of a kernel in `spilled` workspace of its own."""
    entry, taken = module.entry, set(module.entry.sizes)
    steps: list[Step] = []
    workspace: list[Allocate] = []
    for step in entry.steps:
        calls: list[CoreCall] = []
        buffers: list[str] = []
        for call in step.calls:
            needed = tuple(
                replace(
                    allocate,
                    buffer=_fresh(f"{step.operator}_{allocate.buffer}", taken),
                    scope=IN_WORKSPACE,
                    pools=tuple(p for p in allocate.pools if p in pools) or pools,
                )
                for allocate in spilled.get(call.function, ())
            )
            workspace += needed
            names = tuple(allocate.buffer for allocate in needed)
            buffers += names
            calls.append(replace(call, arguments=(*call.arguments, *names)))
        reads, writes = (*step.reads, *buffers), (*step.writes, *buffers)
        steps.append(replace(step.with_calls(tuple(calls)), reads=reads, writes=writes))
    allocations = (*entry.allocations, *workspace)
    return replace(module, entry=replace(entry, allocations=allocations, steps=tuple(steps)))


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
