"""Plan devices: decide where operators run, hold the user's pins, copy where nothing else helps."""

from dataclasses import dataclass

from atoll.description.build import BuildRequests
from atoll.ir.graph import Graph
from atoll.place.device_copies import insert_copies
from atoll.place.elide_copies import ElideCopies
from atoll.place.partition import Decision, assigned, decide
from atoll.place.pins import apply_pins
from atoll.place.requests import check_requests
from atoll.resolve.soc import ResolvedSoc

NOTHING_ASKED = BuildRequests()


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """A placed graph.

    Attributes:
        decisions: why each operator of the network runs where it runs.
        graph: the network with devices, pins and copies.
    """

    decisions: tuple[Decision, ...]
    graph: Graph


def plan_devices(
    graph: Graph,
    soc: ResolvedSoc,
    asked: BuildRequests = NOTHING_ASKED,
    *,
    accelerators: bool = True,
) -> DevicePlan:
    """Return `graph` with a device for every operator and a pool in reach for every tensor.

    Planning the result again changes nothing, since it carries what was asked for; nor does
    asking again, if the network had no copies of its own.

    Raises:
        PlacementError: a name is unknown, wishes contradict each other or the chip, or no copy
            makes a tensor reachable.
    """
    requests = check_requests(asked, graph, soc)
    decisions = decide(graph, soc, requests, accelerators=accelerators)
    pinned = apply_pins(assigned(graph, decisions), soc, requests)
    elide = ElideCopies(soc)
    return DevicePlan(decisions=decisions, graph=elide.run(insert_copies(elide.run(pinned), soc)))
