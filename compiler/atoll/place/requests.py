"""What the user asked of placement, with every name checked and the place of every word."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType

from atoll.description.build import BuildRequests, Pin
from atoll.description.faults import Faults, in_order, nearest
from atoll.description.identifiers import identifier
from atoll.errors import PlacementError, SourceLoc
from atoll.ir.graph import Graph
from atoll.place.annotations import STRIPE, Annotation, annotations_of, pins_of
from atoll.resolve.soc import ResolvedSoc

MAX_CHOICES = 20

Container = Mapping[str, object] | set[str]


@dataclass(frozen=True, slots=True)
class PinRequest:
    """A pool that one tensor must be in, on one side or both.

    Attributes:
        source: what asks, for people.
    """

    tensor: str
    pin: Pin
    at: SourceLoc | None = None
    source: str = ""

    @property
    def writes(self) -> bool:
        """Whether it says where the tensor is written."""
        return self.pin.applies != "in"

    @property
    def reads(self) -> bool:
        """Whether it says where operators read the tensor."""
        return self.pin.applies != "out"


@dataclass(frozen=True, slots=True)
class Requests:
    """Checked build options.

    Attributes:
        place: device by operator.
        pins: by tensor, in the order in which they were given.
        free: tensors that may be copied although they are pinned.
        places: where each device of `place` was written, if in a file.
        annotations: scopes of operators.
    """

    place: Mapping[str, str] = field(default_factory=dict)
    pins: Mapping[str, tuple[PinRequest, ...]] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    places: Mapping[str, SourceLoc | None] = field(default_factory=dict)
    annotations: tuple[Annotation, ...] = ()


def check_requests(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> Requests:
    """Return what `asked` means for a network on a chip.

    Raises:
        PlacementError: E021, E025, E026, E027; a name that neither of them has.
    """
    model, where = asked.model, asked.where
    _check_names(asked, graph, soc)
    annotations = annotations_of(asked, graph, soc)
    pinned = {
        name: tuple(PinRequest(name, pin, where.at("pin", name), f"'pin.{name}'") for pin in pins)
        for name, pins in model.pin.items()
    }
    for name, each in pins_of(annotations, graph):
        pinned[name] = (*pinned.get(name, ()), PinRequest(name, each.pin(), each.at, each.source))
    return Requests(
        place=MappingProxyType({name: identifier(to) for name, to in model.place.items()}),
        pins=pinned,
        free=frozenset(model.free),
        places={name: where.at("place", name) for name in model.place},
        annotations=annotations,
    )


def _check_names(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> None:
    model, where, faults = asked.model, asked.where, Faults()
    operators = {op.name for op in graph.operators}
    operators |= {name.rpartition(STRIPE)[0] for name in operators if STRIPE in name}
    devices = {device.name for device in soc.devices}
    pools = {pool.name for pool in soc.pools}

    def check(code: str, what: str, name: str, known: Container, at: SourceLoc | None) -> None:
        if name not in known:
            message = f"build options name {what} '{name}', which is not there"
            faults.add(code, message, at=at, remedy=_nearest(name, known))

    for name, device in model.place.items():
        check("E025", "operator", name, operators, where.key_at("place", name))
        check("E021", "device", identifier(device), devices, where.at("place", name))
    for name, pins in model.pin.items():
        check("E026", "tensor", name, graph.by_name, where.key_at("pin", name))
        for pin in pins:
            check("E027", "pool", pin.pool, pools, where.at("pin", name))
    for index, name in enumerate(model.free):
        check("E026", "tensor", name, graph.by_name, where.at("free", str(index)))
    if faults.found:
        raise PlacementError.all(in_order(faults.found))


def _nearest(name: str, known: Container) -> str:
    """Return a remedy; of very many choices only the most similar one is worth showing."""
    if len(known) <= MAX_CHOICES:
        return nearest(name, known)
    return nearest(name, get_close_matches(name, known, n=1, cutoff=0.0))
