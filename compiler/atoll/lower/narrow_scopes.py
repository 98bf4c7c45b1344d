# SPDX-License-Identifier: Apache-2.0
"""Narrow the buffers that placement and lowering made to what the user asked of them (C1, C2).

Tensors of the network are narrowed when devices are planned, since copies depend on that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from atoll.description.faults import in_order
from atoll.description.whom import is_pattern
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.ir.graph import Graph
from atoll.ir.job import Job
from atoll.ir.tir import Allocate, IRModule, PrimFunc, RuntimeAllocate
from atoll.ir.walk import statements
from atoll.lower.narrow_kernels import Kernel, words_of
from atoll.lower.specialize_storage import map_statements
from atoll.place.asked_scopes import Narrowing, scope_pools
from atoll.place.request_names import not_there
from atoll.place.requests import Requests
from atoll.place.scope_faults import ScopeFault, cheapest, leaves_nothing
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc

Asked = Iterator[tuple[tuple[str, ...], Narrowing]]
"""The pools that a buffer may have, by the request that says so."""


@dataclass(frozen=True, kw_only=True)
class NarrowScopes:
    """Filter and order candidate pools, and narrow the scopes of kernels' own buffers.

    Attributes:
        requests: what is asked.
        graph: the placed network.
        jobs: what accelerators run, by operator.
        spare: bytes of each core's stack that kernels must leave free.
    """

    name: ClassVar[str] = "narrow-scopes"
    soc: ResolvedSoc
    requests: Requests
    graph: Graph
    jobs: Mapping[str, Job]
    spare: int

    def run(self, module: IRModule) -> IRModule:
        """Return the narrowed module.

        Raises:
            PlacementError: E205, a buffer has no place left; E026, a name is that of no buffer.
        """
        if not self.requests.later and not self.requests.roles:
            return module
        return _Run(self, module).module()


class _Run:
    """One walk; collects what is wrong, and which requests were about something."""

    def __init__(self, options: NarrowScopes, module: IRModule) -> None:
        self._soc, self._requests = options.soc, options.requests
        self._graph, self._jobs, self._spare = options.graph, options.jobs, options.spare
        self._module = module
        self._faults: list[Fault] = []
        tensors = options.requests.tensors
        self._met = {
            each for each in self._requests.later if any(each.means(name) for name in tensors)
        }

    def module(self) -> IRModule:
        entry = self._module.entry
        allocations = tuple(
            replace(each, pools=self._narrow(each.buffer, each.pools)) for each in entry.allocations
        )
        constants = tuple(
            replace(each, pools=self._narrow(each.name, each.pools, constant=True))
            for each in entry.constants
        )
        functions = tuple(map(self._function, self._module.functions))
        self._faults += self._unknown()
        if self._faults:
            raise PlacementError.all(in_order(self._faults))
        entry = replace(entry, allocations=allocations, constants=constants)
        return replace(self._module, functions=functions, entry=entry)

    def _narrow(
        self, name: str, pools: tuple[str, ...], *, constant: bool = False
    ) -> tuple[str, ...]:
        """Return the pools that are left to a buffer of the entry, in the order that is asked."""
        left, requests = pools, [*self._requests_for(name, constant=constant)]
        for wanted, asked in requests:
            left = tuple(pool for pool in wanted if pool in left)
            if not left:
                others = [other for other, each in requests if each is not asked]
                self._faults.append(self._nothing_left(name, self._both(pools, others), asked))
                return pools
        return left

    def _both(self, pools: Sequence[str], wanted: Sequence[Sequence[str]]) -> Sequence[str]:
        """Return the pools that requests leave, but for those that leave none by themselves."""
        possible = [each for each in wanted if {*each} & {*pools}]
        return [pool for pool in pools if all(pool in each for each in possible)]

    def _requests_for(self, name: str, *, constant: bool) -> Asked:
        if name in self._requests.tensors:
            return
        own = [each for each in self._requests.later if each.means(name)]
        self._met.update(own)
        packed = [*self._of_packed(name)] if constant else []
        yield from packed
        if all(each.scope for each in own) and not packed:
            for each in self._requests.of_role(name, self._graph, constant=constant):
                yield each.pin.pools, each
        for each in own:
            yield scope_pools(each.scope, self._soc) if each.scope else each.pin.pools, each

    def _of_packed(self, name: str) -> Asked:
        """Yield what is asked of the constants that an accelerator's constant is made of."""
        for op in self._graph.operators:
            job = self._jobs.get(op.name)
            if job is None or all(name != each.name for each in job.constants):
                continue
            for source in filter(None, self._graph.operands(op)):
                for asked in self._requests.pins.get(source.name, ()):
                    if source.data is not None and asked.pin.pools:
                        request = Narrowing(source.name, asked.pin, asked.at, scope=asked.scope)
                        yield asked.pin.pools, request

    def _nothing_left(self, name: str, before: Sequence[str], asked: Narrowing) -> Fault:
        if asked.scope and not scope_pools(asked.scope, self._soc):
            rule = "it lies in a pool: steps share it, and a stack is its core's alone (C6)"
        else:
            rule = "these are all that hold it and that its devices reach (C3)"
        shared = [pool for pool in before if self._serves_all(pool, asked)]
        remedy = "delete it"
        if shared:
            pool = cheapest(shared, self._module.entry.sizes[name], self._soc)
            remedy = f"write '{asked.instead(pool)}' in its place"
        return leaves_nothing(
            ScopeFault(
                asked=words_of(asked),
                of=f"buffer '{name}'",
                before=before,
                rule=rule,
                at=asked.at,
                remedy=remedy,
            )
        )

    def _serves_all(self, pool: str, asked: Narrowing) -> bool:
        """Tell whether a pool is a candidate of every buffer that a request is about."""
        entry = self._module.entry
        named = [(each.buffer, each.pools) for each in entry.allocations]
        named += [(each.name, each.pools) for each in entry.constants]
        return all(
            pool in pools
            for name, pools in named
            if asked.means(name) and name not in self._requests.tensors
        )

    def _function(self, function: PrimFunc) -> PrimFunc:
        """Return a kernel whose own buffers are narrowed."""
        calls = [
            (step.operator, call.device)
            for step in self._module.entry.steps
            for call in step.calls
            if call.function == function.name
        ]
        cores = (self._soc.device(name) for name in dict.fromkeys(device for _, device in calls))
        kernel = Kernel(
            function.name,
            tuple(dict.fromkeys(operator for operator, _ in calls)),
            tuple(core for core in cores if isinstance(core, Cpu)),
            self._soc,
            self._requests,
            self._spare,
        )
        local = [s for s in statements(function.body) if isinstance(s, Allocate | RuntimeAllocate)]
        if not calls or not local:
            return function
        for each in local:
            self._met.update(kernel.requests_for(each.buffer))
        narrowed, faults = kernel.narrow(local)
        self._faults += faults
        return replace(
            function,
            body=map_statements(
                function.body,
                lambda each: (
                    (narrowed[each.buffer],)
                    if isinstance(each, Allocate | RuntimeAllocate)
                    else (each,)
                ),
            ),
        )

    def _unknown(self) -> Iterator[Fault]:
        """Yield requests that are about nothing."""
        names = {*self._module.entry.sizes, *self._requests.tensors}
        names |= {
            f"{function.name}.{each.buffer}"
            for function in self._module.functions
            for each in statements(function.body)
            if isinstance(each, Allocate | RuntimeAllocate)
        }
        for asked in self._requests.later:
            if asked not in self._met:
                pattern = is_pattern(asked.name)
                yield Fault(
                    code="E026",
                    message=f"no buffer of this build matches the pattern '{asked.name}'"
                    if pattern
                    else f"build options name tensor '{asked.name}', which does not exist",
                    at=asked.key_at,
                    remedy="use names that 'atoll explain' lists without it, or delete it"
                    if pattern
                    else not_there(asked.name, names),
                )
