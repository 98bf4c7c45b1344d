# SPDX-License-Identifier: Apache-2.0
"""The compiler from top to bottom: a network becomes a plan, or an error says what it needs."""

from collections.abc import Mapping
from pathlib import Path

from atoll.compiled import BuildOptions, Compiled, expected, placed_graph, with_plan
from atoll.driver.compile import SPARE_STACK, STAGES
from atoll.driver.refusal import refusal_of
from atoll.driver.search import Search
from atoll.driver.strategies import proposals
from atoll.driver.task import prepare, unobserved
from atoll.driver.told import finished, stages
from atoll.frontend.registry import Source, load_network, read_source
from atoll.ir.graph import Graph
from atoll.lower.passes import Observer
from atoll.memory.build_problem import NOTHING
from atoll.place.requests import check_threads
from atoll.report.explanation import cautions, explanation, notes, unsure
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
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
    "notes",
    "placed_graph",
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
    options, observe = options or BuildOptions(), observe or unobserved
    if npu_of(soc) is None:
        check_threads(options.requests, network, soc)
    soc = on_threads(soc, options.requests)
    task = prepare(soc, network, source, options, observe, taken)
    search = Search(task)
    search.run(proposals(search))
    for stage, result in stages(search):
        observe(stage, result)
    if search.best is None or search.best.plan is None:
        raise refusal_of(search)
    return finished(search, search.best.plan)
