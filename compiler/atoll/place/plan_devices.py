# SPDX-License-Identifier: Apache-2.0
"""Plan devices: decide where operators run, hold the user's pins, copy where nothing else helps."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import permutations

from atoll.cost.core_costs import alike
from atoll.description.build import BuildRequests
from atoll.diagnostics.errors import Fault, PlacementError, Refusal, attempt, attempt_edit
from atoll.ir.graph import Graph
from atoll.place.constraints import Constraint, ScopeLog, memory_scope
from atoll.place.openings import find_opening
from atoll.place.partition import NO_DEVICES, decide
from atoll.place.passes import DEVICE_PASSES, Observer, Placing, ignore_result, run_passes
from atoll.place.requests import Requests, check_requests
from atoll.place.shared_pins import may_share
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import timeless
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

REQUESTS_AT_HAND = 64
"""Checked requests that a process keeps."""

NOTHING_ASKED = BuildRequests()


def may_spread(asked: BuildRequests, soc: ResolvedSoc) -> bool:
    """Tell whether cores may share operators: there are two of a kind, and nobody forbids it.

    Nor does anybody who wants the least memory, since results of several cores lie apart.
    """
    wanted = asked.model.spread and asked.model.overlap != "all"
    return wanted and any(alike(one, two, soc) for one, two in permutations(soc.cpus, 2))


def plan_devices(
    graph: Graph,
    soc: ResolvedSoc,
    asked: BuildRequests = NOTHING_ASKED,
    *,
    accelerators: bool = True,
    spread: bool = False,
    unlike: bool = False,
    devices: Mapping[str, str] = NO_DEVICES,
    explains: bool = False,
    observe: Observer = ignore_result,
) -> Placing:
    """Return `graph` with a device for every operator and a pool in reach for every tensor.

    With it come the decisions, what was asked of its tensors, and all that the passes of storage
    need. Planning the result again changes nothing, since it carries what was asked for; nor does
    asking again, if the network had no copies of its own. With `spread`, cores of one kind are
    weighed together against accelerators. With `unlike`, operators go to any core that is surely
    faster. Operators in `devices` run there unless somebody asks for another one. With `explains`,
    decisions say of every other device why an operator is not there. `observe` is told the results
    of the passes.

    Raises:
        PlacementError: a name is unknown, wishes contradict each other or the chip, or no copy
            makes a tensor reachable.
    """
    requests = _check_requests(asked, graph, soc)

    def plan(chip: ResolvedSoc, wanted: Requests = requests) -> Placing:
        seen: list[tuple[str, object]] = []
        found = attempt(partial(place, chip, wanted, seen))
        if not isinstance(found, Placing) and may_share(graph, chip, wanted):
            again: list[tuple[str, object]] = []
            shared = attempt(partial(place, chip, wanted, again, shared=True))
            if isinstance(shared, Placing):
                found, seen = shared, again
        for each in seen if chip is soc and wanted is requests else ():
            observe(*each)
        if isinstance(found, Placing):
            return found
        raise found

    def place(
        chip: ResolvedSoc,
        wanted: Requests,
        seen: list[tuple[str, object]],
        *,
        shared: bool = False,
    ) -> Placing:
        usual = chip is soc and wanted is requests
        decisions = decide(
            graph,
            chip,
            wanted,
            accelerators=accelerators,
            spread=spread,
            unlike=unlike,
            devices=devices,
            explains=explains and usual,
            shared=shared,
        )
        placing = Placing(
            graph=graph,
            soc=chip,
            decisions=decisions,
            requests=wanted,
            asked=asked,
            log=_log_of(graph),
            accelerators=accelerators,
            placed=lambda others: plan_devices(graph, chip, others).graph,
            holds=holds if usual else None,
        )
        seeing = ignore_result if observe is ignore_result else lambda *result: seen.append(result)
        return run_passes(placing, DEVICE_PASSES, seeing)

    def holds(others: Requests) -> bool:
        return isinstance(attempt(partial(plan, soc, others)), Placing)

    found = attempt(partial(plan, soc))
    if isinstance(found, Placing):
        return found
    if any(fault.code != "E060" for fault in found.faults):
        raise found
    find = partial(_explain_faults, found, graph, soc, plan)
    raise PlacementError.later("E060", "a tensor has no pool", find) from found


def _requests_key(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> Alike | None:
    if len(graph.operators) > MOST_OPERATORS:
        return None
    sign = soc.shape_sign, graph.name, len(graph.operators)
    return Alike(sign, asked.model, asked.where, graph, timeless(soc))


@remember(_requests_key, most=REQUESTS_AT_HAND)
def _check_requests(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> Requests:
    return check_requests(asked, graph, soc)


def _explain_faults(
    error: Refusal,
    graph: Graph,
    soc: ResolvedSoc,
    plan: Callable[[ResolvedSoc], Placing],
) -> Iterator[Fault]:
    """Yield the faults of a placement with edits that were tried."""

    def works(chip: ResolvedSoc) -> bool:
        return isinstance(attempt_edit(partial(plan, chip)), Placing)

    edits = find_opening(graph, soc, works)
    for fault in error.faults:
        message = fault.message.replace(
            "no copy helps", "no copy helps, nor does another choice of devices"
        )
        yield replace(fault, message=message, remedy=edits or fault.remedy)


def _log_of(graph: Graph) -> ScopeLog:
    """Return a log that knows the pools that the graph itself asks for."""
    log = ScopeLog()
    for tensor in graph.tensors:
        if tensor.pools:
            scope = memory_scope(tensor.pools)
            log.ask(tensor.name, Constraint(scope, "", "set in the graph", said="the network"))
    return log
