# SPDX-License-Identifier: Apache-2.0
"""The passes from a placed graph to a program whose memory can be planned, in their order.

What is run, verified and offered by ``--dump-after`` is this one list.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from atoll.ir.graph import Graph
from atoll.ir.job import Job
from atoll.ir.narrowing import verify_narrowing, verify_scopes
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.lower.narrow_scopes import NarrowScopes
from atoll.lower.overlapping import Overlapping
from atoll.lower.separate_kernels import SeparateKernels
from atoll.lower.share_constants import ShareConstants
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import lower_graph, without_overlaps
from atoll.place.requests import Requests
from atoll.reach.candidates import WORKSPACE_ROLES, heaps_for, pools_for
from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, ResolvedSoc
from atoll.resolve.storage_scope import ScopeNames

Observer = Callable[[str, object], None]
"""Called with the name of a pass and its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A network on its way through the passes.

    Attributes:
        graph: placed.
        jobs: by name of the operator, for every operator on an accelerator.
        overlapping: where results may lie over operands.
        spare: bytes of each core's stack that kernels must leave free.
        module: what the passes so far made.
        requests: what is asked of buffers.
        copies: for each constant that repeats another, the one that stands for both.
    """

    soc: ResolvedSoc
    graph: Graph
    jobs: Mapping[str, Job]
    overlapping: Overlapping
    spare: int
    module: IRModule
    requests: Requests = field(default_factory=Requests)
    copies: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pass:
    """One step, whose result is verified.

    Attributes:
        name: as ``--dump-after`` takes it.
        run: the step.
        holds: what must hold between the modules before and after, besides what always must.
    """

    name: str
    run: Callable[[Program], Program]
    holds: Callable[[IRModule, IRModule], None] = lambda before, after: None


def run_passes(
    program: Program, observe: Observer, passes: Sequence[Pass] | None = None
) -> Program:
    """Run passes, all if none are given, and verify the result of each."""
    accepted = None
    for each in PASSES if passes is None else passes:
        before = program.module
        program = each.run(program)
        verify(program.module, accepted)
        accepted = program.module
        verify_scopes(program.module, ScopeNames.of(program.soc))
        each.holds(before, program.module)
        observe(each.name, program.module)
    return program


def _lower(program: Program) -> Program:
    """Make loop programs and runs of jobs of the operators."""
    soc, graph = program.soc, program.graph
    module = lower_graph(graph, soc, program.jobs)
    apart = (op.name for op in graph.operators if program.overlapping.keeps_apart(op))
    return replace(program, module=without_overlaps(module, frozenset(apart)))


def _narrow_scopes(program: Program) -> Program:
    """Leave buffers the places that are asked for."""
    narrow = NarrowScopes(
        soc=program.soc,
        requests=program.requests,
        graph=program.graph,
        jobs=program.jobs,
        spare=program.spare,
    )
    return replace(program, module=narrow.run(program.module))


def _share_constants(program: Program) -> Program:
    """Keep equal constants once."""
    shared = ShareConstants().run(program.module)
    return replace(program, module=shared.module, copies=shared.copies)


def _separate_kernels(program: Program) -> Program:
    """Copy a kernel of several cores, since their limits differ."""
    return replace(program, module=SeparateKernels().run(program.module))


def _specialize_storage(program: Program) -> Program:
    """Decide for every kernel's buffer whether it lives on its core's stack or in a pool."""
    module = program.module
    for cpu in program.soc.cpus:
        module = _specializer(cpu, program.soc, program.spare).run(module)
    return replace(program, module=module)


def _specializer(cpu: Cpu, soc: ResolvedSoc, spare: int) -> SpecializeStorage:
    reach = {cpu.name: Access.WRITE}
    return SpecializeStorage(
        max_alloca=cpu.max_stack_alloca_size.value,
        max_stack=max(0, cpu.max_stack_size.value - cpu.interrupt_reserve - spare),
        pools=pools_for(soc, reach, WORKSPACE_ROLES, 1),
        heaps=heaps_for(soc, reach) if cpu.name == soc.host else (),
        core=cpu.name,
    )


PASSES = (
    Pass("lower", _lower),
    Pass("narrow-scopes", _narrow_scopes, verify_narrowing),
    Pass("share-constants", _share_constants),
    Pass("separate-kernels", _separate_kernels),
    Pass("specialize-storage", _specialize_storage, verify_narrowing),
)
