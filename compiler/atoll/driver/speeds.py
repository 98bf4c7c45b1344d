# SPDX-License-Identifier: Apache-2.0
"""A compiled network on chips that differ from its own in speed alone: nothing is compiled again.

Program, plan and commands stay; costs follow the other chip's clocks, widths, latencies and banks.
Compiled for that chip, the network may become another program, which `stays` finds out.
"""

from dataclasses import replace

from atoll.cost.kernel_runs import with_runs
from atoll.driver.compiled import Compiled
from atoll.driver.search import Search, proposals
from atoll.driver.task import Task
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import timeless
from atoll.vela.memories import npu_of


def at_speeds_of(compiled: Compiled, soc: ResolvedSoc) -> Compiled | None:
    """Return a compiled network on another chip, None if that differs in more than speed.

    What its kernels ran, they run there.
    """
    found = on_threads(soc, compiled.options.requests)
    alike = timeless(found) == timeless(compiled.soc)
    return replace(compiled, soc=with_runs(found, compiled.soc.host_cpu.ran)) if alike else None


def stays(compiled: Compiled, soc: ResolvedSoc) -> bool:
    """Tell whether a network, compiled for another chip, becomes the same program on the same plan.

    Where another compiler has a part of it, as Vela has, that is not known and counts as a change.
    """
    found = at_speeds_of(compiled, soc)
    if found is None or npu_of(soc) is not None:
        return False
    task = Task(
        soc=with_runs(found.soc, {}),
        options=found.options,
        source=found.source,
        model=found.network,
        network=found.network,
        left_out=found.left_out,
        reserved={
            each.name: each.origin - found.soc.pool(each.name).region.origin
            for each in found.plan.problem.pools
        },
    )
    search = Search(task)
    search.run(proposals(search))
    return search.plan is not None and _program(search.plan) == _program(compiled)


def _program(compiled: Compiled) -> tuple[object, ...]:
    plan = compiled.plan
    return compiled.graph, compiled.module, plan.placements, plan.use, compiled.commands
