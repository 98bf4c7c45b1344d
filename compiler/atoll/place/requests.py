# SPDX-License-Identifier: Apache-2.0
"""What the user asked of placement, with every name checked and the place of every word."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from types import MappingProxyType

from atoll.description.build import BuildRequests
from atoll.description.faults import in_order
from atoll.description.identifiers import identifier
from atoll.description.pins import ROLES, Pin
from atoll.diagnostics.errors import PlacementError, Refusal, SourceLoc, attempt
from atoll.ir.graph import Graph
from atoll.ops.registry import COPY
from atoll.place.annotations import Annotation, annotations_of, pins_of
from atoll.place.asked_scopes import Narrowing, PinRequest, requests_of_tensors
from atoll.place.regions import parts_of
from atoll.place.request_names import check_names, with_canonical_scopes
from atoll.records import dataclass
from atoll.resolve.run_threads import on_threads
from atoll.resolve.soc import ResolvedSoc

__all__ = ["Narrowing", "PinRequest", "Requests", "check_requests"]


@dataclass(frozen=True, slots=True)
class Requests:
    """Checked build options.

    Attributes:
        place: device by operator.
        pins: by tensor, in the order in which they were given.
        free: tensors that may be copied although they are pinned.
        places: where each device of `place` was written, if in a file.
        annotations: scopes of operators.
        later: what is asked of buffers by name, some of which only lowering makes.
        roles: what is asked of all buffers of a role.
        tensors: the names of the network's tensors.
        robust: devices are chosen by the high ends of bands.
    """

    place: Mapping[str, str] = field(default_factory=dict)
    pins: Mapping[str, tuple[PinRequest, ...]] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    places: Mapping[str, SourceLoc | None] = field(default_factory=dict)
    annotations: tuple[Annotation, ...] = ()
    later: tuple[Narrowing, ...] = ()
    roles: Mapping[str, tuple[Narrowing, ...]] = field(default_factory=dict)
    tensors: frozenset[str] = frozenset()
    robust: bool = False

    @property
    def pools(self) -> Mapping[str, frozenset[str]]:
        """The pools that all requests of a tensor allow, by tensor of which somebody asks some."""
        asked = {
            name: [frozenset(each.pin.pools) for each in requests if each.pin.pools]
            for name, requests in self.pins.items()
        }
        return {name: frozenset.intersection(*each) for name, each in asked.items() if each}

    def of_role(self, name: str, graph: Graph, *, constant: bool) -> tuple[Narrowing, ...]:
        """Return what a role asks of a buffer that placement or lowering made.

        Nothing of a copy whose pools are known, or that the user allows.
        """
        if constant:
            return self.roles.get("constants", ())
        tensor = graph.by_name.get(name)
        if tensor and (tensor.pools or tensor.initial is not None):
            return ()
        copied = {op.outputs[0]: op.inputs[0] for op in graph.operators if op.kind == COPY}
        return () if copied.get(name) in self.free else self.roles.get("workspace", ())


def check_requests(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> Requests:
    """Return what `asked` means for a network on a chip.

    Raises:
        PlacementError: E021, E025, E026, E027, E029, E210, E211, E217; names that neither of them
            has, all at once; E207, a region without a way through it.
    """
    asked = with_canonical_scopes(asked, soc)
    model, where = asked.model, asked.where
    annotations = _annotations(asked, graph, soc)
    later = tuple(_later(asked))
    roles = {
        role: tuple(Narrowing(role, pin, where.at("pin_roles", role)) for pin in pins)
        for role in ROLES
        if (pins := getattr(model.pin_roles, role))
    }
    stripes = parts_of(graph)
    pins = dict(requests_of_tensors(asked, graph, soc, later, roles))
    for name, each in pins_of(annotations, graph):
        request = PinRequest(name, each.pin(), each.pool_at, origin=each.source, source=each.source)
        pins[name] = (*pins.get(name, ()), request)
    return Requests(
        place=MappingProxyType({name: identifier(to) for name, to in model.place.items()}),
        pins=pins,
        free=frozenset(model.free).union(*(stripes.get(name, ()) for name in model.free)),
        places={name: where.at("place", name) for name in model.place},
        annotations=annotations,
        later=later,
        roles=roles,
        tensors=frozenset(graph.by_name),
        robust=model.robust,
    )


def _annotations(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> tuple[Annotation, ...]:
    """Return what `on_device` means; gather what it names wrongly with all other names."""
    named = attempt(partial(check_names, asked, graph, soc))
    annotations = attempt(partial(annotations_of, asked, graph, soc))
    refused = [each for each in (named, annotations) if isinstance(each, Refusal)]
    if isinstance(annotations, Refusal) or refused:
        raise PlacementError.all(in_order([fault for each in refused for fault in each.faults]))
    return annotations


def check_threads(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> None:
    """Accept threads that are there; of others tell with all names that are not there either.

    Raises:
        PlacementError: E200, and what `check_requests` says.
    """
    threads = attempt(partial(on_threads, soc, asked))
    if isinstance(threads, Refusal):
        named = attempt(partial(_annotations, with_canonical_scopes(asked, soc), graph, soc))
        more = named.faults if isinstance(named, Refusal) else ()
        raise PlacementError.all(in_order([*threads.faults, *more]))


def _later(asked: BuildRequests) -> Iterator[Narrowing]:
    model, where = asked.model, asked.where
    for name, pins in model.pin.items():
        at, key_at = where.at("pin", name), where.key_at("pin", name)
        yield from (Narrowing(name, pin, at, key_at) for pin in pins)
    for name, scopes in model.scopes.items():
        at, key_at = where.at("scopes", name), where.key_at("scopes", name)
        for each in scopes:
            yield Narrowing(name, Pin(choices=(), applies=each.applies), at, key_at, each.scope)
