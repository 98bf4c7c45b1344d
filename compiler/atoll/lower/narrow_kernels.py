# SPDX-License-Identifier: Apache-2.0
"""Narrow a kernel's own buffers: registers, the stack of its core, or pools (C1, C2)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.diagnostics.errors import Fault
from atoll.ir.tir import Allocate, RuntimeAllocate
from atoll.lower.specialize_storage import footprint
from atoll.place.asked_scopes import Narrowing
from atoll.place.regions import whole_name
from atoll.place.requests import Requests
from atoll.place.scope_faults import ScopeFault, cheapest, leaves_nothing
from atoll.reach.candidates import WORKSPACE_ROLES, pools_for
from atoll.records import dataclass
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


@dataclass(frozen=True, slots=True)
class Nothing:
    """A request that leaves nothing, and the rule that keeps all out."""

    asked: Narrowing
    rule: str


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

    def requests_for(self, buffer: str) -> list[Narrowing]:
        """Return what is asked of a buffer by any of its names."""
        dotted = [f"{name}.{buffer}" for name in (self.name, *self.operators)]
        names = {each for name in self.operators for each in (name, whole_name(name))}
        plain = {f"{name}_{buffer}" for name in names} - self.requests.tensors
        return [
            each
            for each in self.requests.later
            if each.name in plain or any(each.means(name) for name in dotted)
        ]

    def narrow(self, buffers: Sequence[Local]) -> tuple[Mapping[str, Local], list[Fault]]:
        """Return the buffers with what is left to them, by name, and what is wrong."""
        found, nothing = self._narrow_each(buffers)
        faults = [self._nothing_left(buffers, each, why) for each, why in nothing]
        return found, faults

    def _narrow_each(
        self, buffers: Sequence[Local]
    ) -> tuple[Mapping[str, Local], list[tuple[Local, "Nothing"]]]:
        """Return the buffers with what is left to them, and those that have nothing left."""
        found, nothing = {}, []
        for each in buffers:
            left = self._narrow_by(each, self.requests_for(each.buffer))
            if isinstance(left, Nothing):
                nothing.append((each, left))
            found[each.buffer] = each if isinstance(left, Nothing) else self._with(each, *left)
        by_name = {each.buffer: each for each in buffers}
        fixed = [each for each in found.values() if isinstance(each, Allocate)]
        nothing += ((by_name[name], why) for name, why in self._too_large(fixed))
        return found, nothing

    def _with(self, buffer: Local, scope: str, pools: tuple[str, ...]) -> Local:
        """Return a buffer with a scope, and pools that a role asks for where no others are."""
        if scope in (GLOBAL, IN_WORKSPACE) and not pools:
            for each in self.requests.roles.get("workspace", ()):
                pools = tuple(pool for pool in each.pin.pools if pool in self._pools(buffer))
        at_run_time = isinstance(buffer, RuntimeAllocate)
        return replace(buffer, scope=buffer.scope if at_run_time else scope, pools=pools)

    def _narrow_by(
        self, buffer: Local, asked: Sequence[Narrowing]
    ) -> "tuple[str, tuple[str, ...]] | Nothing":
        """Return the scope and the pools that requests leave one after the other."""
        at_run_time = isinstance(buffer, RuntimeAllocate)
        scope, pools = IN_WORKSPACE if at_run_time else buffer.scope, buffer.pools
        for each in asked:
            left = self._narrow(buffer, scope, pools, each)
            if isinstance(left, str):
                return Nothing(each, left)
            scope, pools = left
        return scope, pools

    def _narrow(
        self, buffer: Local, scope: str, pools: tuple[str, ...], asked: Narrowing
    ) -> tuple[str, tuple[str, ...]] | str:
        """Return the scope and the pools that one request leaves, or the rule that keeps all out.

        Registers may be of a stack.
        """
        if asked.scope == GLOBAL:
            return scope, pools
        reached = pools or self._pools(buffer)
        in_pools = WORKSPACE in meet(scope, GLOBAL)
        common = meet(scope, asked.scope) if asked.scope else ()
        if scope_left := _SCOPES.get(frozenset(common)):
            return scope_left, pools
        if common and common[0].endswith(f".{STACK}"):
            other = next((core for core in self.cores if core.run_stack.name != common[0]), None)
            if other is None:
                return ON_STACK, ()
            return f"the stack of '{other.name}', which runs it, is '{other.run_stack.name}' (C6)"
        wanted = (pool_of(asked.scope),) if asked.scope else asked.pin.pools
        left = tuple(pool for pool in wanted if pool in reached)
        if left and in_pools:
            return IN_WORKSPACE, left
        return self._rule(buffer, scope, asked)

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

    def _too_large(self, buffers: Sequence[Allocate]) -> Iterator[tuple[str, "Nothing"]]:
        """Yield what is asked onto a stack beyond its limits (K1)."""
        fixed = sum(footprint(each) for each in buffers if each.scope == LOCAL)
        forced = [each for each in buffers if each.scope == ON_STACK]
        for core in self.cores:
            used, most = fixed, core.max_stack_alloca_size.value
            room = max(0, core.max_stack_size.value - core.interrupt_reserve - self.spare)
            for each in forced:
                used += footprint(each)
                if each.size <= most and used <= room:
                    continue
                rule = (
                    f"'{core.run_stack.name}' takes buffers of {most:,} B, not of {each.size:,} B"
                )
                if each.size <= most:
                    rule = f"'{core.run_stack.name}' has {room:,} B for buffers, not {used:,} B"
                yield each.buffer, Nothing(self._onto_stack(each.buffer), f"{rule} (K1)")

    def _onto_stack(self, buffer: str) -> Narrowing:
        """Return the last request that keeps a buffer on the stack."""
        asked = self.requests_for(buffer)
        return [
            *(each for each in asked if each.scope == LOCAL),
            *(each for each in asked if each.scope.endswith(STACK)),
        ][-1]

    def _nothing_left(self, buffers: Sequence[Local], buffer: Local, nothing: "Nothing") -> Fault:
        choices = [each for each in self._scopes(buffer) if self._may_be(buffers, nothing, each)]
        pools = [pool for each in choices if (pool := pool_of(each))]
        outside = [each for each in choices if not pool_of(each)]
        scope = f"{GLOBAL}.{cheapest(pools, _size(buffer), self.soc)}" if pools else ""
        scope = next(iter(outside), scope)
        return leaves_nothing(
            ScopeFault(
                asked=words_of(nothing.asked),
                of=f"buffer '{self.name}.{buffer.buffer}'",
                before=[*outside, *pools],
                rule=nothing.rule,
                at=nothing.asked.at,
                remedy=f"ask for the scope '{scope}'" if scope else "delete it",
            )
        )

    def _may_be(self, buffers: Sequence[Local], nothing: "Nothing", scope: str) -> bool:
        """Tell whether a scope in the place of a request leaves something to all it is about."""
        later = tuple(
            replace(each, scope=scope) if each is nothing.asked else each
            for each in self.requests.later
        )
        other = replace(self, requests=replace(self.requests, later=later))
        refused = (each.buffer for each, _ in other._narrow_each(buffers)[1])
        return not any(nothing.asked in self.requests_for(name) for name in refused)

    def _scopes(self, buffer: Local) -> Iterator[str]:
        """Yield the scopes of single places that a buffer may have."""
        if buffer.scope == LOCAL:
            yield LOCAL
        yield from dict.fromkeys(core.run_stack.name for core in self.cores)
        yield from (f"{GLOBAL}.{pool}" for pool in self._pools(buffer))

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
