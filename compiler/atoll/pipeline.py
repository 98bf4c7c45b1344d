"""The compiler from top to bottom; what does not fit is cut into stripes, or told what it needs."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from atoll.compiled import (
    BuildOptions,
    Compiled,
    cautions,
    expected,
    expected_length,
    explanation,
    placed_graph,
    slower,
    unsure,
    with_plan,
)
from atoll.errors import AtollError, PlacementError, PlanError
from atoll.frontend.registry import Source, load_network, read_source
from atoll.ir.graph import Graph
from atoll.lower.jobs import overlaps_of
from atoll.lower.passes import Observer
from atoll.memory.build_problem import NOTHING
from atoll.memory.problem import MemoryPlan
from atoll.place.faster_cores import has_unlike_cores
from atoll.place.requests import check_threads
from atoll.resolve.remedy.whole_need import with_whole_need
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
from atoll.stages import SPARE_STACK, STAGES, Stages
from atoll.streaming import pays, streamed_to_fit, with_streaming
from atoll.tile.asked import kept_whole
from atoll.tile.far_pools import far_pools, without_accelerators
from atoll.tile.fit import Fitting, Way, with_smallest
from atoll.vela.memories import npu_of

__all__ = [
    "SPARE_STACK",
    "STAGES",
    "BuildOptions",
    "Compiled",
    "cautions",
    "compile_file",
    "compile_graph",
    "expected",
    "explanation",
    "placed_graph",
    "slower",
    "unsure",
    "with_plan",
]


def compile_file(
    soc: ResolvedSoc,
    model: Path,
    options: BuildOptions | None = None,
    observe: Observer | None = None,
    taken: Mapping[str, int] = NOTHING,
) -> Compiled:
    """Take a model file to a complete, checked plan on `soc`; the rest is as in `compile_graph`.

    Raises:
        ModelError: the file is damaged or holds what Atoll does not support.
    """
    return compile_graph(soc, load_network(model), read_source(model), options, observe, taken)


def compile_graph(
    soc: ResolvedSoc,
    network: Graph,
    source: Source,
    options: BuildOptions | None = None,
    observe: Observer | None = None,
    taken: Mapping[str, int] = NOTHING,
) -> Compiled:
    """Take a network that a front end or a generator has made to a plan.

    Args:
        soc: the chip.
        network: its operators passed their checks.
        source: what it was made from.
        options: what the user chose.
        observe: told the results of the stages that made the plan, and of those that made none of
            the network as it is.
        taken: bytes at the start of pools that hold other models' constants.

    Raises:
        PlacementError: a tensor cannot be where its devices reach it.
        PlanError: a pool or a stack is too small.
    """
    options = options or BuildOptions()
    if npu_of(soc) is None:
        check_threads(options.requests, network, soc)
    soc = on_threads(soc, options.requests)
    through = Stages(soc, options, network, source, observe or _ignore, taken)
    made = _made(replace(through, records=observe is not None))
    for stage, result in made.seen:
        through.observe(stage, result)
    return replace(made, seen=())


def _made(through: Stages) -> Compiled:
    silent = _silent(through)
    try:
        whole = _nearer(silent, _cheaper(silent, through.run()))
        return with_streaming(*_on_any_core(silent, whole))
    except (PlacementError, PlanError) as error:
        fitting = _fitting(silent, error)
        if fitting and (found := fitting.fitted()):
            return with_streaming(silent, found)
        if found := streamed_to_fit(silent):
            return found
        raise _refusal(silent, error, fitting) from error


def _refusal(
    through: Stages, error: PlacementError | PlanError, fitting: Fitting[Compiled] | None
) -> AtollError:
    """Return an error that names all that a network needs, as it is or cut."""
    unspread, requests = replace(through, spread=False), through.options.requests

    def used(chip: ResolvedSoc) -> Mapping[str, int]:
        return _used(replace(unspread, soc=on_threads(chip, requests)).run().plan)

    def used_by_stripes(chip: ResolvedSoc) -> Mapping[str, int]:
        return _used(_in_stripes(replace(unspread, soc=on_threads(chip, requests)), error).plan)

    whole = with_whole_need(error, through.soc, used)
    smaller = with_smallest(error, whole, fitting)
    if smaller is None:
        return kept_whole(whole, requests)
    return with_whole_need(smaller, through.soc, used_by_stripes)


def _used(plan: MemoryPlan) -> Mapping[str, int]:
    """Return the bytes that a plan uses of each pool, other models' and the heap included."""
    pools = plan.problem.pools
    return {f"pools.{pool.name}.size": plan.use[pool.name].used + pool.beside for pool in pools}


def _silent(stages: Stages) -> Stages:
    return replace(stages, observe=_ignore)


def _ignore(stage: str, result: object) -> None:
    """Take no notice of a stage."""


def _cheaper(stages: Stages, whole: Compiled) -> Compiled:
    """Return a network, in stripes where that is less than what it took to let results overlap.

    That is asked only where operators took more commands to fit.
    """
    first, *further = stages.ways
    if not further or whole.splits == first.splits:
        return whole
    try:
        return replace(stages, overlapping=(first,)).run()
    except (PlacementError, PlanError) as error:
        fitting = _fitting(stages, error)
        found = fitting.fitted() if fitting else None
    return whole if fitting is None or found is None else min(whole, found, key=fitting.cost)


def _nearer(stages: Stages, whole: Compiled) -> Compiled:
    """Return a network, in stripes in near memory where that is faster than far activations."""
    asked, places = stages.options.requests.model, whole.plan.placements
    touched = (
        (step.device, places[name].pool)
        for step in whole.module.entry.steps
        for name in map(whole.module.entry.storage, (*step.reads, *step.writes))
        if name in places
    )
    spared = far_pools(touched, stages.soc)
    if not spared or asked.tile == "never" or asked.cuts:
        return whole
    sparing = replace(stages, planning=without_accelerators(stages.soc, spared))
    try:
        found: Compiled | None = _cheaper(sparing, sparing.run())
    except (PlacementError, PlanError) as error:
        fitting = _fitting(sparing, error)
        found = fitting.fitted() if fitting else None
    if found is None or not pays(expected_length(found), expected_length(whole)):
        return whole
    return found


def _on_any_core(stages: Stages, whole: Compiled) -> tuple[Stages, Compiled]:
    """Return a network on cores that nobody asked for, if it is faster so, and its stages."""
    if has_unlike_cores(stages.soc):
        further = replace(stages, unlike=True)
        with suppress(PlacementError, PlanError):
            found = _nearer(further, _cheaper(further, further.run()))
            if expected_length(found) < expected_length(whole):
                return further, found
    return stages, whole


def _in_stripes(stages: Stages, error: PlacementError | PlanError) -> Compiled:
    """Cut what does not fit because of `error`, as it was or after a change of the chip."""
    fitting = _fitting(stages, error)
    found = fitting.fitted() if fitting else None
    if found is None:
        raise error
    return found


def _fitting(stages: Stages, error: PlacementError | PlanError) -> Fitting[Compiled] | None:
    """Return the ways to cut a network that does not fit, None if nobody wants that."""
    asked = stages.options.requests.model
    if asked.tile == "never" or asked.cuts:
        return None
    stages = stages.rewritten
    network, soc, options = stages.network, stages.planning or stages.soc, stages.options
    ways = []
    for each in stages.ways:
        one = replace(stages, overlapping=(each,))
        overlaps = partial(overlaps_of, network=network, soc=soc, overlapping=each)
        ways.append(Way(replace(one, explains=False).cut, one.cut, overlaps))
    return Fitting(
        network=network,
        soc=soc,
        requests=options.requests,
        accelerators=options.accelerators,
        error=error,
        ways=ways,
        cost=expected_length,
    )
