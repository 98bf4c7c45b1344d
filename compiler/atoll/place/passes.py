# SPDX-License-Identifier: Apache-2.0
"""The passes that make a placed graph of a network, in their order.

What is run, verified and offered by ``--dump-after`` and ``atoll opt`` is this one list.
"""

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from atoll.description.build import BuildRequests
from atoll.ir.graph import Graph
from atoll.ops.verify_graph import verify_graph
from atoll.place.capabilities import with_roundings
from atoll.place.code_targets import Placed, with_targets
from atoll.place.constraints import ScopeLog
from atoll.place.copy_engines import assign_copies
from atoll.place.decision import Decision
from atoll.place.device_copies import insert_copies
from atoll.place.elide_copies import ElideCopies
from atoll.place.layouts import with_layouts
from atoll.place.partition import assign
from atoll.place.pin_trials import Holds
from atoll.place.pins import apply_pins
from atoll.place.private_constants import with_private_constants
from atoll.place.requests import Requests
from atoll.place.views import with_views
from atoll.reach.rooms import Answers
from atoll.records import dataclass
from atoll.resolve.engine_parts import code_of
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import sizeless
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

GRAPHS_AT_HAND = 128
"""Placed graphs that a process keeps."""

Observer = Callable[[str, object], None]
"""Called with the name of a pass and its result."""


def ignore_result(name: str, result: object) -> None:
    """Look at no result of a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placing:
    """A network on its way through the passes.

    Attributes:
        soc: the chip as placement sees it.
        decisions: why each operator runs where it runs.
        requests: what is asked of the network, with every name checked.
        asked: the same as the user wrote it.
        log: what was asked of its tensors.
        accelerators: whether DMA engines may copy.
        placed: places the network as other requests have it, for remedies.
        holds: tells whether the network can be placed with other requests, likewise.
    """

    graph: Graph
    soc: ResolvedSoc
    decisions: tuple[Decision, ...] = ()
    requests: Requests = field(default_factory=Requests)
    asked: BuildRequests = field(default_factory=BuildRequests)
    log: ScopeLog = field(default_factory=ScopeLog)
    accelerators: bool = True
    placed: Placed | None = None
    holds: Holds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacePass:
    """One step, whose result is verified.

    Attributes:
        name: as ``--dump-after`` takes it.
        summary: what it does, in one line.
        run: the step.
    """

    name: str
    summary: str
    run: Callable[[Placing], Placing]


def run_passes(placing: Placing, passes: Sequence[PlacePass], observe: Observer) -> Placing:
    """Run passes and verify the result of each."""
    found = _graphs(placing, passes, observe)
    made = found.find(placing.soc, lambda soc: _run(replace(placing, soc=soc), passes, observe))
    return replace(placing, graph=made.graph, log=made.log)


def _pass_key(placing: Placing, passes: Sequence[PlacePass], observe: Observer) -> Alike | None:
    """Return what placed graphs depend on beside sizes, None where passes weigh pins or targets."""
    graph, soc = placing.graph, placing.soc
    weighs = placing.requests.pins or any(core.targets for core in soc.cpus)
    if weighs or observe is not ignore_result or len(graph.operators) > MOST_OPERATORS:
        return None
    devices = tuple(each.device for each in placing.decisions)
    names = tuple(each.name for each in passes)
    sign = soc.name, graph.name, devices, placing.accelerators, names
    log = tuple((name, *constraints) for name, constraints in placing.log.asked.items())
    asked = placing.requests, placing.asked, log
    return Alike(sign, graph, sizeless(soc), *asked, code_of(*soc.engines))


@remember(_pass_key, most=GRAPHS_AT_HAND)
def _graphs(placing: Placing, passes: Sequence[PlacePass], observe: Observer) -> Answers[Placing]:
    """Return placed graphs for pools of some sizes, to be added to."""
    return Answers()


def _run(placing: Placing, passes: Sequence[PlacePass], observe: Observer) -> Placing:
    for each in passes:
        before = placing.graph
        placing = each.run(placing)
        if placing.graph is not before:
            verify_graph(placing.graph, before)
        observe(each.name, placing.graph)
    return placing


def _assign_devices(placing: Placing) -> Placing:
    return replace(placing, graph=assign(placing.graph, placing.decisions))


def _round_as_devices(placing: Placing) -> Placing:
    return replace(placing, graph=with_roundings(placing.graph, placing.soc))


def _apply_pins(placing: Placing) -> Placing:
    pinned = apply_pins(placing.graph, placing.soc, placing.requests, placing.log, placing.holds)
    return replace(placing, graph=pinned)


def _change_layouts(placing: Placing) -> Placing:
    return replace(placing, graph=with_layouts(placing.graph, placing.soc))


def _private_constants(placing: Placing) -> Placing:
    return replace(placing, graph=with_private_constants(placing.graph, placing.soc))


def _elide_copies(placing: Placing) -> Placing:
    return replace(placing, graph=ElideCopies(placing.soc, placing.log).run(placing.graph))


def _insert_copies(placing: Placing) -> Placing:
    return replace(placing, graph=insert_copies(placing.graph, placing.soc))


def _choose_targets(placing: Placing) -> Placing:
    graph = with_targets(placing.graph, placing.asked, placing.soc, placing.placed)
    return replace(placing, graph=graph)


def _assign_copies(placing: Placing) -> Placing:
    if not placing.accelerators:
        return placing
    return replace(placing, graph=assign_copies(placing.graph, placing.soc))


def _make_views(placing: Placing) -> Placing:
    return replace(placing, graph=with_views(placing.graph, placing.soc))


DEVICE_PASSES = (
    PlacePass(
        name="assign-devices",
        summary="Give each operator the device that was decided for it",
        run=_assign_devices,
    ),
    PlacePass(
        name="round-as-devices",
        summary="Let placed operators round as their devices do",
        run=_round_as_devices,
    ),
    PlacePass(
        name="apply-pins",
        summary="Keep pinned tensors in their pools, and copy where that is not enough",
        run=_apply_pins,
    ),
    PlacePass(
        name="change-layouts",
        summary="Give accelerators operands in the layouts that they want",
        run=_change_layouts,
    ),
    PlacePass(
        name="private-constants",
        summary="Copy packed constants to the private memory of their accelerator",
        run=_private_constants,
    ),
    PlacePass(
        name="elide-copies",
        summary="Drop copies over pools that both sides share, and second copies of a kind",
        run=_elide_copies,
    ),
    PlacePass(
        name="insert-copies",
        summary="Copy each tensor that no pool in reach of all its devices can hold",
        run=_insert_copies,
    ),
    PlacePass(
        name="elide-inserted-copies",
        summary="Drop such copies again, now that each tensor has a pool in reach",
        run=_elide_copies,
    ),
)
"""From a network to one whose every tensor is in reach of the devices that touch it."""

STORAGE_PASSES = (
    PlacePass(
        name="choose-targets",
        summary="Make the code of operators for targets that are asked for, or clearly faster",
        run=_choose_targets,
    ),
    PlacePass(
        name="assign-copies",
        summary="Give copies of the host to DMA engines that can move them",
        run=_assign_copies,
    ),
    PlacePass(
        name="make-views",
        summary="Make reshapes, rows and joins views of one tensor where one pool serves",
        run=_make_views,
    ),
    PlacePass(
        name="assign-copies-of-views",
        summary="Give copies to DMA engines that can move them only since views were made",
        run=_assign_copies,
    ),
)
"""From there to one whose copies are on the engines that make them."""
