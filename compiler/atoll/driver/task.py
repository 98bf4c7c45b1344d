# SPDX-License-Identifier: Apache-2.0
"""What is compiled: a network, rewritten once, for a chip, with what its user asks."""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from atoll.description.build import Build, BuildRequests
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph
from atoll.lower.overlapping import OVERLAPPING, Overlapping
from atoll.memory.algorithms import DEFAULT
from atoll.memory.build_problem import NOTHING
from atoll.memory.effort import Effort
from atoll.place.capabilities import runners
from atoll.place.passes import Observer, ignore_result
from atoll.place.patterns import with_patterns
from atoll.place.plan_devices import may_spread
from atoll.records import dataclass
from atoll.resolve.engine_parts import code_of
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import sizeless
from atoll.rewrite.edit import Given
from atoll.rewrite.passes import Rewritten, rewrite
from atoll.tile.asked import requested_tiling
from atoll.tile.cut import Tiling
from atoll.utils.remember import MOST_OPERATORS, Alike, remember
from atoll.vela.memories import npu_of

if TYPE_CHECKING:
    from atoll.vela.subgraphs import Offloaded

NETWORKS_AT_HAND = 32
"""Rewritten networks that a process keeps, each for chips that differ in speeds and sizes."""

Trace = tuple[tuple[str, object], ...]
"""The results of stages, each by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a user may choose.

    Attributes:
        accelerators: False compiles every operator for the cores.
        requests: where operators and tensors shall be.
        algorithm: name of the memory planner.
        effort: what it may spend.
    """

    accelerators: bool = True
    requests: BuildRequests = field(default_factory=BuildRequests)
    algorithm: str = DEFAULT
    effort: Effort = field(default_factory=Effort)


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every candidate of a search is made from; `prepare` makes it.

    Attributes:
        soc: the chip as the network finds it.
        options: what the user chose.
        source: what the network was made from.
        model: the network as a front end made it.
        network: what other compilers make of it, made smaller.
        left_out: operators of the model that are not in the network, and why.
        offloaded: what another compiler made of the network, and what it could not.
        reserved: bytes at the start of pools that hold other models' constants.
        records: results keep those of the stages that made them.
    """

    soc: ResolvedSoc
    options: BuildOptions
    source: Source
    model: Graph
    network: Graph
    left_out: Mapping[str, str] = field(default_factory=dict)
    offloaded: "Offloaded | None" = None
    reserved: Mapping[str, int] = field(default_factory=dict)
    records: bool = False

    @property
    def asked(self) -> Build:
        """What the user asks of the network."""
        return self.options.requests.model

    @property
    def overlaps(self) -> tuple[Overlapping, ...]:
        """Where results may lie over operands, the fastest first."""
        return OVERLAPPING[self.asked.overlap]

    @cached_property
    def tiling(self) -> Tiling | None:
        """The cuts that the user asks for, None without.

        Raises:
            PlacementError: as `asked_tiling`.
        """
        return requested_tiling(self.network, self.options.requests) if self.asked.cuts else None

    @property
    def may_cut(self) -> bool:
        """Whether the compiler may cut the network into stripes."""
        return self.asked.tile != "never" and not self.asked.cuts

    @cached_property
    def fused(self) -> Graph:
        """The network with patterns of accelerators as one operator each; itself without any."""
        if not self.options.accelerators or self.asked.cuts:
            return self.network
        return with_patterns(self.network, self.soc, self.options.requests)

    @property
    def may_spread(self) -> bool:
        """Whether operators may be spread over cores."""
        return not self.asked.cuts and may_spread(self.options.requests, self.soc)

    def recorder(self, trace: list[tuple[str, object]]) -> Observer:
        """Return what adds the results of stages to a list, if they are recorded."""
        return (lambda *result: trace.append(result)) if self.records else ignore_result

    def on(self, soc: ResolvedSoc) -> "Task":
        """Return the same for another chip, for which the network is rewritten again.

        Raises:
            AtollError: as `prepare`.
        """
        soc = on_threads(soc, self.options.requests)
        made = prepare(soc, self.model, self.source, self.options)
        return replace(made, reserved=self.reserved)


def prepare(
    soc: ResolvedSoc,
    model: Graph,
    source: Source,
    options: BuildOptions,
    observe: Observer = ignore_result,
    reserved: Mapping[str, int] = NOTHING,
) -> Task:
    """Rewrite a network for a chip; other compilers take their parts of it first.

    Raises:
        PlacementError: another compiler's part has no room.
    """
    observe("frontend", model)
    asked = options.requests.model
    offloaded, graph = None, model
    if options.accelerators and npu_of(soc):
        from atoll.vela.subgraphs import with_subgraphs  # few chips have an Ethos-U

        offloaded = with_subgraphs(model, source, soc, asked.place)
        graph = offloaded.graph
    left_out: Mapping[str, str] = {}
    if asked.rewrite:
        made = _rewrite(graph, soc, options, observe)
        graph, left_out = made.graph, made.left_out
    return Task(
        soc=soc,
        options=options,
        source=source,
        model=model,
        network=graph,
        left_out=left_out,
        offloaded=offloaded,
        reserved=reserved,
        records=observe is not ignore_result,
    )


def _rewrite_key(
    graph: Graph, soc: ResolvedSoc, options: BuildOptions, observe: Observer
) -> Alike | None:
    if observe is not ignore_result or len(graph.operators) > MOST_OPERATORS:
        return None
    given = _rewrite_limits(soc, options)
    sign = soc.name, graph.name, options.accelerators, given.named, given.patterned
    return Alike(sign, graph, sizeless(soc), code_of(*soc.engines))


@remember(_rewrite_key, most=NETWORKS_AT_HAND)
def _rewrite(graph: Graph, soc: ResolvedSoc, options: BuildOptions, observe: Observer) -> Rewritten:
    return rewrite(graph, _rewrite_limits(soc, options), observe)


def _rewrite_limits(soc: ResolvedSoc, options: BuildOptions) -> Given:
    """Return what rewriting must leave as it is: what is named, and what accelerators run."""
    asked = options.requests.model
    cuts = (name for cut in asked.cuts for name in (cut.first, cut.last))
    npus = soc.npus if options.accelerators else ()
    steps = (step for npu in npus for each in npu.spec.operators for step in each.pattern)
    return Given(
        named=asked.named.union(cuts, *(each.names for each in asked.on_device)),
        runs=partial(runners, among=npus, soc=soc),
        patterned=frozenset(step.kind for step in steps),
    )
