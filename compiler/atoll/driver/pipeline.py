# SPDX-License-Identifier: Apache-2.0
"""The compiler from top to bottom: networks become plans, or an error says what they need.

Networks of one firmware share workspaces, and their constants lie side by side; one network is the
usual case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.codegen.pool_images import MODEL_ALIGNMENT
from atoll.contract.image_check import check_image
from atoll.diagnostics.errors import PlacementError, PlanError, ToolchainError
from atoll.driver.compiled import Compiled, expected_cycles, placed_graph, with_plan
from atoll.driver.refusal import refusal_of
from atoll.driver.search import STRATEGIES, Search, proposals
from atoll.driver.stages import SPARE_STACK, STAGES
from atoll.driver.task import BuildOptions, Trace, prepare
from atoll.driver.usual import streams_wanted, weigh
from atoll.frontend.network_names import network_name
from atoll.frontend.registry import Source, load_source
from atoll.ir.graph import Graph
from atoll.memory.algorithms import PLANNERS
from atoll.memory.build_problem import NOTHING
from atoll.place.passes import Observer, ignore_result
from atoll.place.requests import check_threads
from atoll.plugins.loading import is_own
from atoll.resolve.engine_parts import code_of
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.remember import MOST_OPERATORS, Alike, remember
from atoll.vela.memories import npu_of

__all__ = [
    "SPARE_STACK",
    "STAGES",
    "BuildOptions",
    "Compiled",
    "compile_file",
    "compile_graph",
    "compile_models",
    "compile_networks",
    "expected_cycles",
    "names_of",
    "placed_graph",
    "with_plan",
]

NETWORKS_AT_HAND = 32
"""Compiled networks that a process keeps, each for a chip."""

Loaded = tuple[Graph, Source]
"""A network that a front end has made, and what it was made from."""


def compile_models(
    soc: ResolvedSoc,
    models: Sequence[Path],
    options: Sequence[BuildOptions] = (),
    observe: Observer | None = None,
) -> tuple[Compiled, ...]:
    """Compile the networks of one or more files for one firmware; the rest as `compile_networks`.

    Raises:
        ToolchainError: E075; two networks have one name.
        AtollError: as `load_network`.
    """
    names_of(models)
    networks = [*map(load_source, models)]
    return compile_networks(soc, networks, options, observe)


def compile_networks(
    soc: ResolvedSoc,
    networks: Sequence[Loaded],
    options: Sequence[BuildOptions] = (),
    observe: Observer | None = None,
) -> tuple[Compiled, ...]:
    """Compile one or more networks for one firmware.

    They run one at a time: their workspaces share the pools' first bytes, as large as the largest
    needs, and their constants lie one behind the other. So does all that is in a pool in which one
    of several networks keeps states.

    Args:
        soc: the chip.
        networks: what front ends made of them.
        options: of each of them; the usual ones if there are none.
        observe: told the result of every stage of every network.

    Raises:
        ToolchainError: E075; two networks have one name.
        AtollError: as `compile_graph`.
    """
    _require_different([graph.name for graph, _ in networks])
    chosen = options or [BuildOptions()] * len(networks)
    apart: frozenset[str] = frozenset()
    compiled = _compile_networks(soc, networks, chosen, observe, apart)
    while len(networks) > 1 and not apart.issuperset(kept := {*_pools_of_states(compiled)}):
        apart |= kept
        compiled = _compile_networks(soc, networks, chosen, observe, apart)
    check_image(
        soc,
        {each.graph.name: each.plan for each in compiled},
        {each.graph.name: each.contract for each in compiled},
    )
    return compiled


def _compile_networks(
    soc: ResolvedSoc,
    networks: Sequence[Loaded],
    options: Sequence[BuildOptions],
    observe: Observer | None,
    apart: frozenset[str],
) -> tuple[Compiled, ...]:
    """Compile networks that do not share the bytes of pools `apart`."""
    taken: dict[str, int] = {}
    compiled: list[Compiled] = []
    for (graph, source), wanted in zip(networks, options, strict=True):
        try:
            one = compile_graph(soc, graph, source, wanted, observe, taken=dict(taken))
        except (PlacementError, PlanError) as error:
            if len(networks) == 1:
                raise
            raise error.about(f"network '{graph.name}'") from error
        compiled.append(one)
        for pool in soc.pools:
            used = one.plan.use[pool.name].used
            if used and (pool.holds_constants or pool.name in apart):
                step = max(pool.alignment, MODEL_ALIGNMENT)
                taken[pool.name] = -(-(taken.get(pool.name, 0) + used) // step) * step
    return tuple(compiled)


def _pools_of_states(compiled: Sequence[Compiled]) -> Iterator[str]:
    for each in compiled:
        yield from (each.plan.placements[name].pool for name in each.module.entry.states)


def names_of(models: Sequence[Path]) -> tuple[str, ...]:
    """Return what the networks of these files are called.

    Raises:
        ToolchainError: E075; two of them have one name.
    """
    names = tuple(map(network_name, models))
    _require_different(names)
    return names


def _require_different(names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ToolchainError(
            "E075",
            f"two models are called {', '.join(map(repr, repeated))}",
            remedy="rename one of the files",
        )


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
    network, source = load_source(model)
    return compile_graph(soc, network, source, options, observe, taken)


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
    return _compile(
        soc, network, source, options or BuildOptions(), observe or ignore_result, taken
    )


def _compile_key(
    soc: ResolvedSoc,
    network: Graph,
    source: Source,
    options: BuildOptions,
    observe: Observer,
    taken: Mapping[str, int],
) -> Alike | None:
    """Return all that a network becomes depends on, None where code of others has a say."""
    if observe is not ignore_result or len(network.operators) > MOST_OPERATORS:
        return None
    own = options.requests.model.strategy in STRATEGIES.own and options.algorithm in PLANNERS.own
    if not own or npu_of(soc) or not all(is_own(each.spec.emitter) for each in soc.engines):
        return None
    sign = soc.sign, network.name, tuple(taken.items())
    return Alike(sign, soc, soc.told, network, source, options, code_of(*soc.engines))


@remember(_compile_key, most=NETWORKS_AT_HAND)
def _compile(
    soc: ResolvedSoc,
    network: Graph,
    source: Source,
    options: BuildOptions,
    observe: Observer,
    taken: Mapping[str, int],
) -> Compiled:
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
    before: Trace = ()
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
