# SPDX-License-Identifier: Apache-2.0
"""What people are told of a compiled network: where buffers are, what is slow, what is unsure."""

from collections.abc import Mapping

from atoll.cost.basis import basis_of
from atoll.driver.compiled import Compiled, expected_cycles, expected_length
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.place.code_targets import target_choices, target_requests
from atoll.place.slower import slower_than_elsewhere
from atoll.report.coverage import coverage_of
from atoll.report.explain_buffers import buffer_stories
from atoll.report.explain_cuts import cut_stories
from atoll.report.explain_streams import StreamingStory
from atoll.report.explain_text import Explanation
from atoll.report.scopes import scopes_of
from atoll.stack.stack_bound import doubts, stack_bounds
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

GRAPHS_AT_HAND = 32
"""Networks of which a process keeps in what other runtimes differ."""


def notes(compiled: Compiled) -> tuple[str, ...]:
    """Return sentences about operators that a request made many times slower, or no NPU took."""
    slower = slower_than_elsewhere(compiled.network, compiled.decisions, compiled.soc)
    return (*slower, *filter(None, [compiled.offloading]))


def unsure(compiled: Compiled) -> tuple[str, ...]:
    """Return sentences about stacks of which only the linked image tells that they suffice."""
    return tuple(doubts(stack_bounds(compiled.module, compiled.soc)))


def cautions(compiled: Compiled) -> tuple[str, ...]:
    """Return sentences about operators that other runtimes make another result of."""
    return _cautions(compiled.network)


def _graph_key(graph: Graph) -> Alike | None:
    count = len(graph.operators)
    return None if count > MOST_OPERATORS else Alike((graph.name, count), graph)


@remember(_graph_key, most=GRAPHS_AT_HAND)
def _cautions(graph: Graph) -> tuple[str, ...]:
    told = ((op.name, kind_of(op).caution(op, graph)) for op in graph.operators)
    return tuple(f"'{name}' {what}" for name, what in told if what)


def explanation(compiled: Compiled) -> Explanation:
    """Return where every buffer of the compiled network is, and why (C5)."""
    soc, graph = compiled.soc, compiled.graph
    stories = buffer_stories(
        soc,
        graph,
        compiled.module,
        compiled.plan,
        compiled.requests,
        compiled.log,
        _constant_sources(compiled),
    )
    decisions = compiled.decisions
    cycles = {name: each.cycles for name, each in expected_cycles(compiled).items()}
    cuts = cut_stories(compiled.network, compiled.tiling, graph, soc, cycles)
    streaming = compiled.streaming
    movers = (each.stream.mover for each in streaming.possible)
    devices = {soc.host, *movers, *(name for op in graph.operators for name in op.devices)}
    return Explanation(
        soc=soc.name,
        model=graph.name,
        model_sha256=compiled.source.sha256,
        buffers=stories,
        decisions=decisions,
        cuts=cuts,
        notes=notes(compiled),
        left_out=compiled.left_out,
        coverage=coverage_of(graph, cycles, soc),
        targets=target_choices(graph, compiled.options.requests, soc),
        scopes=scopes_of(
            graph,
            decisions,
            compiled.log,
            {name: place.pool for name, place in compiled.plan.placements.items()},
            {story.name: story.rule for story in stories},
            soc,
            stories,
            target_requests(graph, compiled.options.requests, soc),
        ),
        streaming=StreamingStory(
            streaming=streaming,
            cycles=expected_length(compiled),
            basis=basis_of(soc, devices),
        )
        if streaming.possible
        else None,
    )


def _constant_sources(compiled: Compiled) -> Mapping[str, tuple[str, ...]]:
    """Return which of the network's constants each constant of an accelerator is made of."""
    graph, found = compiled.graph, dict[str, tuple[str, ...]]()
    for op in graph.operators:
        if job := compiled.jobs.get(op.name):
            sources = (each for each in graph.operands(op) if each and each.data is not None)
            names = tuple(each.name for each in sources)
            for each in job.constants:
                found[each.name] = (*found.get(each.name, ()), *names)
    return found
