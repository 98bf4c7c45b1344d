# SPDX-License-Identifier: Apache-2.0
"""Other devices for the operators of a network whose usual ones have pools that are too small."""

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

from atoll.ir.graph import Graph, Operator
from atoll.place.partition import runners_of
from atoll.place.requests import Requests
from atoll.place.weighing import Weighing
from atoll.reach.candidates import homes_of
from atoll.records import dataclass
from atoll.resolve.soc import Access, ResolvedSoc

WORK = 4000
"""Choices are all tried if they are so many or fewer times the operators; of more, only some."""
SOME = 32

Choice = tuple[tuple[str, str], ...]
"""A device for every operator, by name."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Some choices.

    Attributes:
        listed: the choices, those of fewest cycles first.
        complete: there are no others.
    """

    listed: tuple[Choice, ...]
    complete: bool


def other_devices(
    graph: Graph, soc: ResolvedSoc, requests: Requests, *, accelerators: bool
) -> Choices:
    """Return choices of devices between which every tensor gets.

    Of few choices all come. Where there are more, devices that reach the same pools count as one,
    the fastest; if there are still more, `SOME` come in which operators have their fastest device
    but for one, or all that can are on one device or off it.
    """
    most = WORK // max(1, len(graph.operators))
    runners = runners_of(graph, soc, requests, accelerators=accelerators)
    able = {op.name: _roomy(op, runners[op.name], graph, soc) for op in graph.operators}
    weighing = Weighing(graph, soc, spread=False)
    complete = prod(map(len, able.values())) <= most
    if not complete:
        able = {op.name: _unlike(op, able[op.name], weighing) for op in graph.operators}
    few = prod(map(len, able.values())) <= most
    choices = list(_every(able) if few else _some(able, weighing, soc))
    costs = {
        choice: weighing.total(graph.operators, dict(choice))
        for choice in dict.fromkeys(choices)
        if weighing.feasible(graph.operators, dict(choice))
    }
    cheapest = sorted(costs, key=lambda choice: costs[choice])[: most if few else SOME]
    return Choices(tuple(cheapest), complete)


def _roomy(
    op: Operator, devices: tuple[str, ...], graph: Graph, soc: ResolvedSoc
) -> tuple[str, ...]:
    """Return the devices that reach, for each activation of an operator, a pool that holds it."""
    needs = {graph.storage(name): Access.READ for name in op.inputs if name}
    needs |= {graph.storage(name): Access.WRITE for name in op.outputs}
    return tuple(
        device
        for device in devices
        if all(
            homes_of(soc, {device: need}, graph.tensor(name))
            for name, need in needs.items()
            if graph.tensor(name).data is None
        )
    )


def _unlike(op: Operator, devices: tuple[str, ...], weighing: Weighing) -> tuple[str, ...]:
    """Return the fastest of those devices that reach the same pools."""
    best: dict[tuple[Access, ...], str] = {}
    for device in sorted(devices, key=lambda each: weighing.cost_alone(op, each)):
        best.setdefault(tuple(pool.reach[device] for pool in weighing.soc.pools), device)
    return tuple(best.values())


def _every(able: Mapping[str, tuple[str, ...]]) -> Iterator[Choice]:
    for devices in product(*able.values()):
        yield tuple(zip(able, devices, strict=True))


def _some(
    able: Mapping[str, tuple[str, ...]], weighing: Weighing, soc: ResolvedSoc
) -> Iterator[Choice]:
    operators = {op.name: op for op in weighing.graph.operators}

    def fastest(name: str, but: str = "") -> str:
        devices = [each for each in able[name] if each != but] or list(able[name])
        return min(devices, key=lambda each: weighing.cost_alone(operators[name], each))

    usual = {name: fastest(name) for name in able} if all(able.values()) else {}
    for device in soc.devices if usual else ():
        on = {name: device.name for name in able if device.name in able[name]}
        yield tuple({**usual, **on}.items())
        yield tuple((name, fastest(name, but=device.name)) for name in able)
    for name in usual:
        for device_name in able[name]:
            yield tuple({**usual, name: device_name}.items())
