# SPDX-License-Identifier: Apache-2.0
"""What entries of `on_device` mean for a network on a chip: scopes, and whose they are."""

from collections.abc import Collection, Iterable, Iterator
from functools import partial

from atoll.description.build import BuildRequests
from atoll.description.faults import Faults, in_order, nearest
from atoll.description.identifiers import identifier
from atoll.description.on_device import OnDevice
from atoll.description.pins import Pin
from atoll.diagnostics.errors import PlacementError, SourceLoc, attempt
from atoll.ir.graph import Graph
from atoll.place.regions import operators_of, results_of
from atoll.records import dataclass
from atoll.resolve.se_scope import (
    FREE,
    ScopeTable,
    SEScope,
    Target,
    device_type_name,
    join,
    target_of,
)
from atoll.resolve.soc import ResolvedSoc

POOL_SCOPE = "global."
"""What a memory scope that is a pool begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """The scope that one entry asks for.

    Attributes:
        scope: fields that nobody names are free; the memory scope is of the results.
        device: the device that is named, "" if none is.
        operators: names of the operators that it is asked for.
        pool: of the results; "" for any.
        copies: whether results may be copied for who does not reach `pool`.
        source: what asks, for people.
        pool_at: where the pool was written.
    """

    scope: SEScope
    device: str
    operators: frozenset[str]
    pool: str
    copies: bool
    source: str
    at: SourceLoc | None
    pool_at: SourceLoc | None = None

    def pin(self) -> Pin:
        """Return what it asks of the results."""
        return Pin.to(self.pool, applies="out" if self.copies else "both")


def annotated_operators(asked: BuildRequests, graph: Graph) -> frozenset[str]:
    """Return the operators that some entry names."""
    entries = asked.model.on_device
    return frozenset(op.name for entry in entries for op in operators_of(entry, graph))


def annotations_of(asked: BuildRequests, graph: Graph, soc: ResolvedSoc) -> tuple[Annotation, ...]:
    """Return what `on_device` means.

    Raises:
        PlacementError: E210, an entry names no operator; E021, E027, E047, E211, a field names
            what the chip does not have.
    """
    faults = Faults()
    reader = _Reader(asked, graph, soc, ScopeTable(soc), faults)
    made = tuple(map(reader.read, range(len(asked.model.on_device))))
    if faults.found:
        raise PlacementError.all(in_order(faults.found))
    return made


@dataclass(frozen=True, slots=True)
class _Reader:
    asked: BuildRequests
    graph: Graph
    soc: ResolvedSoc
    scopes: ScopeTable
    faults: Faults

    def read(self, index: int) -> Annotation:
        entry = self.asked.model.on_device[index]
        key = ("on_device", str(index))
        at = self.asked.where.at(*key)
        operators = frozenset(op.name for op in operators_of(entry, self.graph))
        if not operators:
            self._no_operator(entry, at)
        scope = self._scope(entry, key)
        pool = scope.memory_scope.removeprefix(POOL_SCOPE)
        if not (pool or entry.copies):
            self.faults.add(
                "E210",
                f"'on_device' forbids copies of what '{entry.whom}' makes, and does not say where "
                "it lies",
                at=at,
                remedy="add 'memory_scope' to its scope, or leave 'copies' out",
            )
        return Annotation(
            scope=scope,
            device=identifier(entry.device or ""),
            operators=operators,
            pool=pool,
            copies=entry.copies,
            source=f"'on_device' of '{entry.whom}'",
            at=at,
            pool_at=self.asked.where.at(*key, "scope", "memory_scope"),
        )

    def _no_operator(self, entry: OnDevice, at: SourceLoc | None) -> None:
        known = [op.name for op in self.graph.operators]
        ends = [name for name in (entry.first, entry.last) if name and name not in known]
        if entry.operators is None and not ends:
            message = f"no operator lies on a way from '{entry.first}' to '{entry.last}'"
            remedy = "let 'from' name the operator that runs first"
        else:
            wrong = entry.operators or ends[0]
            message = f"'on_device' names operator '{wrong}', which does not exist"
            remedy = nearest(wrong, known)
        self.faults.add("E210", message, at=at, remedy=remedy)

    def _scope(self, entry: OnDevice, key: tuple[str, ...]) -> SEScope:
        where, fields = self.asked.where, entry.scope
        devices = [device.name for device in self.soc.devices]
        device = identifier(entry.device or "")
        if device and device not in devices:
            self._unknown("E021", "device", device, devices, where.at(*key, "device"))
        parts = (
            self._device_type(fields.device_type, where.at(*key, "scope", "device_type")),
            FREE if fields.virtual_device_id is None else fields.virtual_device_id,
            self._target(fields.target, where.at(*key, "scope", "target")),
            self._memory_scope(fields.memory_scope, where.at(*key, "scope", "memory_scope")),
        )
        asked = attempt(partial(SEScope, *parts))
        if not isinstance(asked, SEScope):
            (fault,) = asked.faults
            at = where.at(*key, "scope", "target")
            self.faults.add(fault.code, fault.message, at=at, remedy=fault.remedy)
            return SEScope()
        if device not in devices:
            return asked
        of_device = self.scopes.of(device)
        joined = join(of_device, asked)
        if joined is None:
            self.faults.add(
                "E211",
                f"'on_device' of '{entry.whom}' names device '{device}', which is "
                f"{of_device}, and asks for {asked}",
                at=where.at(*key),
                remedy="leave 'device' or 'scope' out",
            )
        return joined or asked

    def _device_type(self, asked: int | str | None, at: SourceLoc | None) -> int:
        if asked is None:
            return FREE
        known = {str(device.device_type): device.device_type for device in self.soc.devices}
        known |= {device_type_name(each): each for each in known.values()}
        known |= {device.kind: device.device_type for device in self.soc.devices}
        if str(asked) not in known:
            self._unknown("E211", "device type", str(asked), known, at)
        return known.get(str(asked), FREE)

    def _target(self, asked: str | None, at: SourceLoc | None) -> Target | None:
        if asked is None:
            return None
        targets = dict.fromkeys(filter(None, map(target_of, self.soc.devices)))
        fitting = [each for each in targets if asked in (str(each), each.kind)]
        exact = [each for each in fitting if asked == str(each)]
        if len(exact or fitting) == 1:
            return (exact or fitting)[0]
        if fitting:
            choices = " or ".join(f"'{each}'" for each in fitting)
            message = f"'on_device' asks for target '{asked}', of which the chip has several"
            self.faults.add("E211", message, at=at, remedy=f"write {choices}")
        else:
            self._unknown("E211", "target", asked, list(map(str, targets)), at)
        return None

    def _memory_scope(self, asked: str | None, at: SourceLoc | None) -> str:
        if not asked:
            return ""
        pool = identifier(asked.removeprefix(POOL_SCOPE))
        known = [each.name for each in self.soc.pools]
        if pool not in known:
            self._unknown("E027", "pool", pool, known, at)
            return ""
        return f"{POOL_SCOPE}{pool}"

    def _unknown(
        self, code: str, what: str, name: str, known: Collection[str], at: SourceLoc | None
    ) -> None:
        message = f"'on_device' asks for {what} '{name}', which does not exist"
        self.faults.add(code, message, at=at, remedy=nearest(name, list(known)))


def pins_of(annotations: Iterable[Annotation], graph: Graph) -> Iterator[tuple[str, Annotation]]:
    """Yield each result for which an annotation names a pool, with that annotation."""
    for each in annotations:
        for op in graph.operators if each.pool else ():
            if op.name in each.operators:
                yield from ((name, each) for name in results_of(op, graph))
