# SPDX-License-Identifier: Apache-2.0
"""Narrow a kernel's own buffers: registers, the stack of its core, or pools (C1, C2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atoll.diagnostics.errors import Fault
from atoll.ir.tir import Allocate, RuntimeAllocate
from atoll.lower.specialize_storage import footprint
from atoll.place.asked_scopes import Narrowing
from atoll.place.regions import whole_name
from atoll.place.requests import Requests
from atoll.place.scope_faults import ScopeFault, cheapest, leaves_nothing
from atoll.reach.candidates import WORKSPACE_ROLES, pools_for
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll.resolve.storage_scope import (
    GLOBAL,
    IN_WORKSPACE,
    LOCAL,
    ON_STACK,
    REGISTERS,
    STACK,
    WORKSPACE,
    meet,
    pool_of,
)

_SCOPES = {
    frozenset({REGISTERS, STACK}): LOCAL,
    frozenset({STACK}): ON_STACK,
    frozenset({STACK, WORKSPACE}): GLOBAL,
    frozenset({WORKSPACE}): IN_WORKSPACE,
}

Local = Allocate | RuntimeAllocate


def words_of(asked: Narrowing) -> str:
    """Return a request as messages call it."""
    return f"{'scope' if asked.scope else 'pin'} '{asked.words}'"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel, and those who call it.

    Attributes:
        operators: whose steps call it.
        cores: that run it.
        spare: bytes of each core's stack that kernels must leave free.
    """

    name: str
    operators: tuple[str, ...]
    cores: tuple[Cpu, ...]
    soc: ResolvedSoc
    requests: Requests
    spare: int

    def asked_of(self, buffer: str) -> list[Narrowing]:
        """Return what is asked of a buffer by any of its names."""
        dotted = [f"{name}.{buffer}" for name in (self.name, *self.operators)]
        names = {each for name in self.operators for each in (name, whole_name(name))}
        plain = {f"{name}_{buffer}" for name in names} - self.requests.tensors
        return [
            each
            for each in self.requests.later
            if each.name in plain or any(each.means(name) for name in dotted)
        ]

    def narrowed(self, buffers: Sequence[Local]) -> tuple[Mapping[str, Local], list[Fault]]:
        """Return the buffers with what is left to them, by name, and what is wrong."""
        faults: list[Fault] = []
        found = {each.buffer: self._narrow_buffer(each, faults) for each in buffers}
        faults += self._too_large(buffers, [b for b in found.values() if isinstance(b, Allocate)])
        return found, faults

    def _narrow_buffer(self, buffer: Local, faults: list[Fault]) -> Local:
        at_run_time = isinstance(buffer, RuntimeAllocate)
        scope, pools = IN_WORKSPACE if at_run_time else buffer.scope, buffer.pools
        asked = self.asked_of(buffer.buffer)
        for each in asked:
            left = self._narrow(buffer, scope, pools, each)
            if isinstance(left, Fault):
                faults.append(left)
                return buffer
            scope, pools = left
        if scope in (GLOBAL, IN_WORKSPACE) and not pools:
            for each in self.requests.roles.get("workspace", ()):
                pools = tuple(pool for pool in each.pin.pools if pool in self._pools(buffer))
        return replace(buffer, scope=buffer.scope if at_run_time else scope, pools=pools)

    def _narrow(
        self, buffer: Local, scope: str, pools: tuple[str, ...], asked: Narrowing
    ) -> tuple[str, tuple[str, ...]] | Fault:
        """Return the scope and the pools that one request leaves; registers may be of a stack."""
        if asked.scope == GLOBAL:
            return scope, pools
        reached = pools or self._pools(buffer)
        in_pools = WORKSPACE in meet(scope, GLOBAL)
        before = (*self._outside(scope), *(reached if in_pools else ()))
        common = meet(scope, asked.scope) if asked.scope else ()
        if scope_left := _SCOPES.get(frozenset(common)):
            return scope_left, pools
        if common and common[0].endswith(f".{STACK}"):
            other = next((core for core in self.cores if core.run_stack.name != common[0]), None)
            if other is None:
                return ON_STACK, ()
            rule = f"the stack of '{other.name}', which runs it, is '{other.run_stack.name}' (C6)"
            return self._nothing_left(buffer, before, asked, rule)
        wanted = (pool_of(asked.scope),) if asked.scope else asked.pin.pools
        left = tuple(pool for pool in wanted if pool in reached)
        if left and in_pools:
            return IN_WORKSPACE, left
        return self._nothing_left(buffer, before, asked, self._rule(buffer, scope, asked))

    def _rule(self, buffer: Local, scope: str, asked: Narrowing) -> str:
        if isinstance(buffer, RuntimeAllocate):
            return "only the run knows its size, so it is a block of a heap (W1)"
        if scope == LOCAL:
            return "its indices are constant, so it is in registers or on the stack (K6)"
        if scope == ON_STACK:
            return "another request keeps it on the stack (C2)"
        if asked.scope and not pool_of(asked.scope):
            return "another request keeps it in a pool (C2)"
        cores = " and ".join(f"'{core.name}'" for core in self.cores)
        return f"these are all the pools that hold it and that {cores} writes (C3)"

    def _too_large(self, before: Sequence[Local], buffers: Sequence[Allocate]) -> Iterator[Fault]:
        """Yield what is asked onto a stack beyond its limits (K1)."""
        in_registers = {each.buffer for each in before if each.scope == LOCAL}
        fixed = sum(footprint(each) for each in buffers if each.scope == LOCAL)
        forced = [each for each in buffers if each.scope == ON_STACK]
        for core in self.cores:
            used, most = fixed, core.max_stack_alloca_size.value
            room = max(0, core.max_stack_size.value - core.interrupt_reserve - self.spare)
            for each in forced:
                used += footprint(each)
                if each.size <= most and used <= room:
                    continue
                rule = f"'{core.run_stack.name}' takes buffers of {most} B, not of {each.size} B"
                if each.size <= most:
                    rule = f"'{core.run_stack.name}' has {room} B for buffers, not {used} B"
                local = each.buffer in in_registers
                yield self._nothing_left(
                    each,
                    (REGISTERS,) if local else self._pools(each),
                    self._onto_stack(each.buffer),
                    f"{rule} (K1)",
                )

    def _onto_stack(self, buffer: str) -> Narrowing:
        """Return the last request that keeps a buffer on the stack."""
        asked = self.asked_of(buffer)
        return [
            *(each for each in asked if each.scope == LOCAL),
            *(each for each in asked if each.scope.endswith(STACK)),
        ][-1]

    def _nothing_left(
        self, buffer: Local, before: Iterable[str], asked: Narrowing, rule: str
    ) -> Fault:
        before = tuple(before)
        outside = [place for place in before if place == REGISTERS or "." in place]
        pools = [place for place in before if place not in outside]
        scope = ""
        if outside:
            scope = LOCAL if outside[0] == REGISTERS else outside[0]
        elif pools:
            scope = f"{GLOBAL}.{cheapest(pools, _size(buffer), self.soc)}"
        return leaves_nothing(
            ScopeFault(
                asked=words_of(asked),
                of=f"buffer '{self.name}.{buffer.buffer}'",
                before=before,
                rule=rule,
                at=asked.at,
                remedy=f"ask for the scope '{scope}'" if scope else "delete it",
            )
        )

    def _outside(self, scope: str) -> Iterator[str]:
        """Yield the places outside of pools that a scope allows."""
        if scope == LOCAL:
            yield REGISTERS
        if STACK in meet(scope, ON_STACK):
            yield from dict.fromkeys(core.run_stack.name for core in self.cores)

    def _pools(self, buffer: Local) -> tuple[str, ...]:
        """Return the pools that every core which runs the kernel reaches."""
        needs = {core.name: Access.WRITE for core in self.cores}
        pools = pools_for(self.soc, needs, WORKSPACE_ROLES, _size(buffer))
        if isinstance(buffer, RuntimeAllocate):
            return tuple(pool for pool in pools if self.soc.pool(pool).heap)
        return pools


def _size(buffer: Local) -> int:
    """Return the bytes of a buffer; at least one of one that only the run knows."""
    return buffer.size if isinstance(buffer, Allocate) else 1
