# SPDX-License-Identifier: Apache-2.0
"""The cuts that a user asks for."""

from collections.abc import Iterator

from atoll.description.build import BuildRequests
from atoll.description.faults import nearest
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.ir.graph import Graph
from atoll.tile.cut import Cut, Tiling
from atoll.tile.stripes import Chain, stripes_of


def requested_tiling(network: Graph, requests: BuildRequests) -> Tiling:
    """Return the cuts of `requests`, which lists some.

    Raises:
        PlacementError: E025, there is no such operator; E159, a chain cannot be cut so, or has an
            operator of another one.
    """
    numbers = {op.name: number for number, op in enumerate(network.operators)}
    cuts: list[Cut] = []
    faults: list[Fault] = []
    for position, asked in enumerate(requests.model.cuts):
        at = requests.where.at("cuts", str(position))
        unknown = [name for name in (asked.first, asked.last) if name not in numbers]
        for name in unknown:
            message = f"build options cut operator '{name}', which does not exist"
            faults.append(Fault(code="E025", message=message, at=at, remedy=nearest(name, numbers)))
        if unknown:
            continue
        cut = Cut(begin=numbers[asked.first], end=numbers[asked.last] + 1, stripes=asked.stripes)
        for why in _objections(network, cut, cuts):
            message = f"'{asked.first}' to '{asked.last}' cannot be cut into {cut.stripes} stripes"
            remedy = "end the chain before it, or ask for fewer stripes"
            faults.append(Fault(code="E159", message=f"{message}: {why}", at=at, remedy=remedy))
        cuts.append(cut)
    if faults:
        raise PlacementError.all(faults)
    return Tiling(cuts=tuple(sorted(cuts, key=lambda cut: cut.begin)))


def _objections(network: Graph, cut: Cut, others: list[Cut]) -> Iterator[str]:
    if cut.begin >= cut.end:
        yield "the last comes before the first"
        return
    if any(cut.begin < each.end and each.begin < cut.end for each in others):
        yield "another chain has one of its operators"
    chain = Chain(network, cut.begin, cut.end)
    if stripes_of(chain, cut.stripes) is None:
        yield f"'{_last_whole(chain, cut.stripes)}' does not work by rows there"


def _last_whole(chain: Chain, count: int) -> str:
    """Return the last operator that keeps a chain from being cut."""
    for begin in reversed(range(chain.begin, chain.end)):
        if stripes_of(Chain(chain.network, begin, chain.end), count) is None:
            return chain.network.operators[begin].name
    return ""
