# SPDX-License-Identifier: Apache-2.0
"""What is asked of buffers, by name, by operator, by region and by role, as pins of tensors."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from atoll.description.build import BuildRequests
from atoll.description.pins import Pin, PoolChoice, SetScope
from atoll.diagnostics.errors import Fault, PlacementError, SourceLoc
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.regions import between, operators_of, parts_of, results_of, whole_name
from atoll.reach.candidates import WORKSPACE_ROLES, by_preference, roles_of
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.storage_scope import GLOBAL, IN_WORKSPACE, pool_of


def matches(pattern: str, name: str) -> bool:
    """Tell whether a pattern is about a buffer; one without a dot is about none in a kernel."""
    return ("." in pattern or "." not in name) and fnmatchcase(name, pattern)


def means(pattern: str, name: str) -> bool:
    """Tell whether a pattern is about a buffer, or that of which a stripe makes some rows."""
    return matches(pattern, name) or matches(pattern, whole_name(name))


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What is asked of every buffer of a name.

    Attributes:
        name: the buffer, a pattern of names, or a role.
        pin: its pools; none where a scope is asked for.
        at: where what is asked was written.
        key_at: where the name was.
        scope: the scope, "" where pools are.
    """

    name: str
    pin: Pin
    at: SourceLoc | None = None
    key_at: SourceLoc | None = None
    scope: str = ""

    def matches(self, name: str) -> bool:
        """Tell whether it is about a buffer."""
        return matches(self.name, name)

    def means(self, name: str) -> bool:
        """Tell whether it is about a buffer, or about that of which a stripe makes some rows."""
        return means(self.name, name)

    @property
    def words(self) -> str:
        """What was asked, as it is written."""
        return f"{self.scope or self.pin.words}{_side(self.pin)}"

    def instead(self, pool: str) -> str:
        """Return what to write in its place for it to mean a pool."""
        return f"{f'{GLOBAL}.{pool}' if self.scope else pool}{_side(self.pin)}"


@dataclass(frozen=True, slots=True)
class PinRequest:
    """Pools that one tensor must be in, on one side or both.

    Attributes:
        scope: the storage scope that was asked for, "" where pools were.
        readers: the operators as whose input it counts, None for all.
        origin: who asks, for people, if not somebody who names the tensor.
        default: a role asks, which allows the copies that there are without it.
        source: who asks, as `explain --scopes` tells it: a key of the build options.
    """

    tensor: str
    pin: Pin
    at: SourceLoc | None = None
    scope: str = ""
    readers: frozenset[str] | None = None
    origin: str = ""
    default: bool = False
    source: str = ""

    @property
    def writes(self) -> bool:
        """Whether it says where the tensor is written."""
        return self.pin.applies != "in"

    @property
    def reads(self) -> bool:
        """Whether it says where operators read the tensor."""
        return self.pin.applies == "in" or (self.pin.applies == "both" and not self.default)

    @property
    def joint(self) -> bool:
        """Whether one pool has to serve all devices that touch the tensor."""
        return self.pin.applies == "both" and not self.default

    @property
    def plain(self) -> bool:
        """Whether one pool is asked for, of a tensor that is named or of an operator's result."""
        named = self.origin in ("", self.source)
        return not self.scope and named and len(self.pin.choices) == 1

    def concerns(self, reader: Operator) -> bool:
        """Tell whether it says where an operator reads the tensor."""
        return self.reads and (self.readers is None or reader.name in self.readers)

    @property
    def words(self) -> str:
        """What was asked, as it is written."""
        side = _side(self.pin)
        what = f"scope '{self.scope}{side}'" if self.scope else f"pin '{self.pin.words}{side}'"
        return what + (f" of {self.origin}" if self.origin else "")

    def instead(self, pool: str) -> str:
        """Return what to write in its place for it to mean a pool; keys of their own say sides."""
        named = self.source.startswith(("'pin", "'scopes"))
        return f"{f'{GLOBAL}.{pool}' if self.scope else pool}{_side(self.pin) if named else ''}"


def _side(pin: Pin) -> str:
    return "" if pin.applies == "both" else f":{pin.applies}"


def requests_of_tensors(
    asked: BuildRequests,
    graph: Graph,
    soc: ResolvedSoc,
    later: Sequence[Narrowing],
    roles: Mapping[str, Sequence[Narrowing]],
) -> Mapping[str, tuple[PinRequest, ...]]:
    """Return what is asked of the tensors of a network, by tensor.

    Raises:
        PlacementError: E207; no way leads through a region.
    """
    found: dict[str, list[PinRequest]] = {}
    stripes = parts_of(graph)
    for each in later:
        literal = [each.name] * (each.name in graph.by_name) + stripes.get(each.name, [])
        for name in literal or graph.by_name:
            if any(map(each.matches, filter(None, (name, graph.tensor(name).rows_of)))):
                origin = f"'{each.name}'" if name != each.name else ""
                source = f"'{'scopes' if each.scope else 'pin'}.{each.name}'"
                request = PinRequest(
                    name, each.pin, each.at, each.scope, origin=origin, source=source
                )
                found.setdefault(name, []).append(request)
    for name in graph.by_name if roles else ():
        role = role_of(name, graph, roles)
        if role and all(each.scope for each in found.get(name, ())):
            origin = f"role '{role}'"
            own = found.get(name, [])
            asked_of_role = (
                PinRequest(
                    name,
                    each.pin,
                    each.at,
                    origin=origin,
                    default=True,
                    source=f"'pin_roles.{role}'",
                )
                for each in roles[role]
            )
            found[name] = [*asked_of_role, *own]
    for index, region in enumerate(asked.model.set_scope):
        place = ("set_scope", str(index))
        if not operators_of(region, graph):
            raise PlacementError.all([_no_way(region, graph, asked.where.at(*place, "from"))])
        for request in _of_region(region, graph, asked.where.at(*place, "scope")):
            found.setdefault(request.tensor, []).append(request)
    return {
        name: tuple(
            narrowed
            for request in requests
            if (narrowed := _with_pools(request, graph.tensor(name), soc))
        )
        for name, requests in found.items()
    }


def role_of(name: str, graph: Graph, roles: Mapping[str, object]) -> str:
    """Return the role whose pins are those of a tensor, "" if none is."""
    tensor = graph.tensor(name)
    if tensor.initial is not None:
        return ""
    if tensor.data is not None:
        return "constants" if "constants" in roles else ""
    if name in graph.inputs and "inputs" in roles:
        return "inputs"
    if name in graph.outputs and "outputs" in roles:
        return "outputs"
    return "workspace" if "workspace" in roles else ""


def _with_pools(request: PinRequest, tensor: Tensor, soc: ResolvedSoc) -> PinRequest | None:
    """Return a request with the pools that its scope means, None if it narrows nothing."""
    if not request.scope:
        return request
    pools = scope_pools(request.scope, soc)
    if {pool.name for pool in soc.pools if pool.role in roles_of(tensor)} <= {*pools}:
        return None
    choices = tuple(PoolChoice(pool=pool) for pool in pools)
    return replace(request, pin=Pin(choices=choices, applies=request.pin.applies))


def scope_pools(scope: str, soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the pools that a scope allows, best first."""
    pools = by_preference(soc)
    if scope == GLOBAL:
        return tuple(pool.name for pool in pools)
    if scope == IN_WORKSPACE:
        roles = WORKSPACE_ROLES | {"state"}
        return tuple(pool.name for pool in pools if pool.role in roles)
    return (pool,) if (pool := pool_of(scope)) else ()


def _of_region(region: SetScope, graph: Graph, at: SourceLoc | None) -> Iterator[PinRequest]:
    operators = operators_of(region, graph)
    names = frozenset(op.name for op in operators)
    origin = f"'{region.whom}'"

    def request(tensor: str, side: Pin, readers: frozenset[str] | None) -> PinRequest:
        source = f"'set_scope' of {origin}"
        return PinRequest(tensor, side, at, region.scope, readers, origin, source=source)

    if region.applies != "in":
        for name in dict.fromkeys(name for op in operators for name in results_of(op, graph)):
            yield request(name, Pin(choices=(), applies="out"), None)
    if region.applies != "out":
        read = dict.fromkeys(name for op in operators for name in op.inputs if name)
        for name in read:
            if graph.tensor(name).data is None:
                yield request(name, Pin(choices=(), applies="in"), names)


def _no_way(region: SetScope, graph: Graph, at: SourceLoc | None) -> Fault:
    first, last = str(region.first), str(region.last)
    turned = any(between(graph, last, first))
    return Fault(
        code="E207",
        message=f"no way leads from operator '{first}' to '{last}', so there is no region "
        "between them",
        at=at,
        remedy=f"write 'from: {last}' and 'to: {first}'"
        if turned
        else f"write 'operators: {first}'",
    )
