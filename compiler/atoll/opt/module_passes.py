# SPDX-License-Identifier: Apache-2.0
"""Passes over loop programs."""

from functools import partial

from atoll.contract.accepted import accept
from atoll.cost.engines import driver_cycles
from atoll.diagnostics.errors import UsageError
from atoll.driver.stages import SPARE_STACK
from atoll.ir.graph import Graph
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.tir import IRModule
from atoll.lower.jobs import prepare_jobs
from atoll.lower.narrow_scopes import NarrowScopes
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.overlapping import Overlapping
from atoll.lower.passes import PASSES as LOWERING
from atoll.lower.passes import Program
from atoll.lower.separate_kernels import SeparateKernels
from atoll.lower.share_constants import ShareConstants
from atoll.memory.build_problem import build_problem, with_parts
from atoll.memory.solve import plan_memory
from atoll.opt.read_program import read_graph
from atoll.opt.text_pass import Chip, Given, Kind, PassOption, TextPass, count, counts
from atoll.place.requests import check_requests

_specialize = {each.name: each for each in LOWERING}["specialize-storage"]
_on_module = partial(TextPass, takes=Kind.MODULE, makes=Kind.MODULE)


def _narrow_scopes(module: IRModule, given: Given) -> IRModule:
    soc, placed = given.chip, given.options["placed"]
    narrow = NarrowScopes(
        soc=soc,
        requests=check_requests(given.asked, given.options["network"], soc),
        graph=placed,
        jobs=prepare_jobs(placed, soc, Overlapping().splits),
        spare=SPARE_STACK,
    )
    return narrow.run(module)


def _specialize_storage(module: IRModule, given: Given) -> IRModule:
    program = Program(
        soc=given.chip,
        graph=Graph(module.name, (), (), (), ()),
        jobs={},
        overlapping=Overlapping(),
        spare=given.options["spare"],
        module=module,
    )
    return _specialize.run(program).module


def _overlap_runs(module: IRModule, given: Given) -> IRModule:
    soc, cycles = given.chip, given.options["cycles"]
    unknown = [step.operator for step in module.entry.steps if step.operator not in cycles]
    if unknown:
        raise UsageError(
            "E208",
            f"option 'cycles' of pass 'overlap-runs' lacks operator '{unknown[0]}'",
            remedy="name all operators: "
            + "+".join(dict.fromkeys(f"{step.operator}:1" for step in module.entry.steps)),
        )
    copiers = frozenset(each.name for each in soc.dmas if each.spec.asynchronous)
    engines = frozenset(each.name for each in soc.engines if each.spec.asynchronous)
    return OverlapRuns(
        devices=engines | copiers | {core.name for core in soc.remote_cpus},
        cycles=cycles,
        host=driver_cycles(soc)[:2],
        movers=copiers,
    ).run(module)


def _maintain_caches(module: IRModule, given: Given) -> IRModule:
    problem = build_problem(module, given.chip)
    plan = plan_memory(problem, [step.operator for step in module.entry.steps])
    return accept(module, with_parts(plan, module.entry), given.chip)


MODULE_PASSES = (
    _on_module(
        name="narrow-scopes",
        summary="Leave buffers the places that are asked for",
        chip=Chip.NEEDED,
        options=(
            PassOption(name="network", default=None, read=read_graph, help="a file: its graph"),
            PassOption(
                name="placed",
                default=None,
                read=read_graph,
                help="a file: what placement made of it, and 'lower' was given",
            ),
        ),
        run=_narrow_scopes,
        holds=verify_narrowing,
    ),
    _on_module(
        name="share-constants",
        summary="Keep equal constants once",
        run=lambda module, given: ShareConstants().run(module).module,
    ),
    _on_module(
        name="separate-kernels",
        summary="Copy a kernel of several cores, since their limits differ",
        run=lambda module, given: SeparateKernels().run(module),
    ),
    _on_module(
        name="specialize-storage",
        summary="Decide for every kernel's buffer whether it lies on a stack or in a pool",
        chip=Chip.NEEDED,
        options=(
            PassOption(
                name="spare",
                default=SPARE_STACK,
                read=count,
                help="bytes of each core's stack that kernels leave free",
            ),
        ),
        run=_specialize_storage,
        holds=verify_narrowing,
    ),
    _on_module(
        name="overlap-runs",
        summary="Start devices early and wait late; what chained lists save is left out",
        chip=Chip.NEEDED,
        options=(
            PassOption(
                name="cycles",
                default=None,
                read=counts,
                help="what each operator takes, such as conv_2d_0:900+add_1:40",
            ),
        ),
        run=_overlap_runs,
    ),
    _on_module(
        name="maintain-caches",
        summary="Plan memory, and clean and invalidate data caches where its data flow needs it",
        chip=Chip.NEEDED,
        run=_maintain_caches,
    ),
)
