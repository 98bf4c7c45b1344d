# SPDX-License-Identifier: Apache-2.0
"""The compiler from top to bottom: a network becomes a plan, or an error says what it needs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from atoll.driver.compile import SPARE_STACK, STAGES
from atoll.driver.compiled import Compiled, expected, placed_graph, with_plan
from atoll.driver.refusal import refusal_of
from atoll.driver.search import Search, proposals
from atoll.driver.task import BuildOptions, Trace, prepare, unobserved
from atoll.driver.usual import streams_wanted, weigh
from atoll.frontend.registry import Source, load_network, read_source
from atoll.ir.graph import Graph
from atoll.lower.passes import Observer
from atoll.memory.build_problem import NOTHING
from atoll.place.requests import check_threads
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
from atoll.vela.memories import npu_of

__all__ = [
    "SPARE_STACK",
    "STAGES",
    "BuildOptions",
    "Compiled",
    "compile_file",
    "compile_graph",
    "expected",
    "placed_graph",
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
    options, observe = options or BuildOptions(), observe or unobserved
    if npu_of(soc) is None:
        check_threads(options.requests, network, soc)
    soc = on_threads(soc, options.requests)
    task = prepare(soc, network, source, options, observe, taken)
    search = Search(task)
    search.run(proposals(search))
    for stage, result in _stages(search):
        observe(stage, result)
    if search.plan is None:
        raise refusal_of(search)
    return _with_story(search.plan, search)


def _stages(search: Search) -> Iterator[tuple[str, object]]:
    """Yield the results of the stages of the plan, and before of the network as it is.

    Those of the network as it is come only where it has no plan.
    """
    before: Trace = []
    for trial in search.trials:
        if trial.plan or trial.candidate.is_changed:
            break
        yield from _new(trial.trace, before)
        before = trial.trace
    if search.best:
        yield from _new(search.best.trace, before)


def _new(trace: Trace, before: Trace) -> Iterator[tuple[str, object]]:
    """Yield what a trace has that the one before it has not: a placement may serve several."""
    known = {id(result) for _, result in before}
    return (each for each in trace if id(each[1]) not in known)


def _with_story(plan: Compiled, search: Search) -> Compiled:
    """Return the plan of a search with what else was tried, and what streams would save."""
    direct = search.best_of(lambda each: each.streams is None)
    streaming = plan.streaming
    if direct and direct.plan is plan and streams_wanted(search.task):
        streaming = replace(weigh(search.task, plan), chosen=())
    return replace(
        plan,
        streaming=replace(streaming, direct=direct.cycles if direct else None),
        candidates=search.stories(),
    )
