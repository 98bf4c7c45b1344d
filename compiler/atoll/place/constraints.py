# SPDX-License-Identifier: Apache-2.0
"""Unify what several sources ask of one operator: `SEScope.join` over their scopes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from atoll.description.faults import note
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.ir.graph import Graph, Operator
from atoll.place.annotations import POOL_SCOPE
from atoll.place.regions import whole_name
from atoll.place.requests import Requests
from atoll.records import dataclass
from atoll.resolve.se_scope import ScopeTable, SEScope, join

COMMAND_LINE = "command line"
"""The place of what no file asks for."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A scope that one source asks for.

    Attributes:
        device: the device whose scope it is; "" if it names none.
        source: who asked, for people; the same wherever it was written.
        at: where it was written, if in a file.
        place: where it was said, for people: a line of a file, or what else says so.
    """

    scope: SEScope
    device: str
    source: str
    at: SourceLoc | None = None
    said: str = ""

    @property
    def place(self) -> str:
        """Where it was said."""
        return str(self.at) if self.at else self.said or COMMAND_LINE

    @property
    def words(self) -> str:
        """What it asks for."""
        return f"'{self.device}'" if self.device else str(self.scope)


@dataclass(frozen=True, slots=True)
class Joined:
    """What all constraints of one operator are together.

    Attributes:
        devices: those that satisfy all.
    """

    scope: SEScope = field(default_factory=SEScope)
    constraints: tuple[Constraint, ...] = ()
    devices: tuple[str, ...] = ()

    @property
    def device(self) -> str:
        """The only device that satisfies all, "" if there are several."""
        return self.devices[0] if self.constraints and len(self.devices) == 1 else ""

    @property
    def source(self) -> str:
        """Who asked."""
        return " and ".join(dict.fromkeys(each.source for each in self.constraints))

    @property
    def at(self) -> SourceLoc | None:
        """Where the first of them was written."""
        return next((each.at for each in self.constraints if each.at), None)


def constraints_of(op: Operator, scopes: ScopeTable, requests: Requests) -> Iterator[Constraint]:
    """Yield what the graph and the user ask for `op`."""
    if op.device:
        yield Constraint(scopes.of(op.device), op.device, "set in the graph", said="the network")
    name = op.name if op.name in requests.place else whole_name(op.name)
    if asked := requests.place.get(name):
        at = requests.places.get(name)
        yield Constraint(scopes.of(asked), asked, f"asked for by 'place.{name}'", at)
    for each in requests.annotations:
        if op.name in each.operators:
            yield Constraint(each.scope, each.device, f"asked for by {each.source}", each.at)


def unify(op: Operator, constraints: Iterable[Constraint], scopes: ScopeTable) -> Joined | Fault:
    """Return what satisfies all constraints, a fault if they contradict each other or the chip."""
    made = tuple(constraints)
    known = scopes.devices()
    joined = Joined(devices=tuple(known))
    for each in made:
        scope = join(joined.scope, each.scope)
        if scope is None:
            clashing = (one for one in made if join(one.scope, each.scope) is None)
            return _clash(op, next(clashing), each)
        devices = tuple(name for name in joined.devices if join(scope, known[name]))
        held = (*joined.constraints, each)
        if not devices:
            return _nowhere(op, held, scope, joined.devices)
        joined = replace(joined, scope=scope, constraints=held, devices=devices)
    return joined


def _clash(op: Operator, first: Constraint, second: Constraint) -> Fault:
    asked = f"{first.words} ({first.source}) and {second.words} ({second.source})"
    return Fault(
        code="E049",
        message=f"operator '{op.name}', which makes tensor {_results(op)}, cannot run on both "
        f"{asked}",
        at=second.at or first.at,
        other=note(first.at, f"{first.words} is asked for here") if second.at else None,
        remedy=f"ask for one of {first.words} and {second.words}",
    )


def _nowhere(
    op: Operator, constraints: tuple[Constraint, ...], scope: SEScope, left: tuple[str, ...]
) -> Fault:
    *others, last = constraints
    sources = " and ".join(dict.fromkeys(each.source for each in constraints))
    return Fault(
        code="E212",
        message=f"operator '{op.name}', which makes tensor {_results(op)}, is to run where "
        f"{scope} says ({sources}), and the chip has no such device",
        at=last.at,
        other=next((note(e.at, f"{e.words} is asked for here") for e in others if e.at), None),
        remedy=f"write 'device: {left[0]}' in the place of the last scope, or leave it out",
    )


def _results(op: Operator) -> str:
    return ", ".join(f"'{name}'" for name in op.outputs)


def intersect_pools(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...] | None:
    """Return the pools that satisfy two pins (() asks for none), None where there are none."""
    if not first or not second:
        return tuple(first or second)
    return tuple(pool for pool in first if pool in second) or None


def memory_scope(pools: Sequence[str]) -> SEScope:
    """Return the scope of what is in one of `pools`: its memory is free while there are several."""
    return SEScope(memory_scope=f"{POOL_SCOPE}{pools[0]}") if len(pools) == 1 else SEScope()


@dataclass(slots=True)
class ScopeLog:
    """What was asked of tensors while devices were planned, by the tensor that it is asked of."""

    asked: dict[str, list[Constraint]] = field(default_factory=dict)

    def ask(self, tensor: str, constraint: Constraint) -> None:
        """Note a constraint that holds for a tensor."""
        self.asked.setdefault(tensor, []).append(constraint)

    def merge(self, result: str, target: str) -> None:
        """Note that a tensor has become another one."""
        if found := self.asked.pop(result, []):
            held = self.asked.setdefault(target, [])
            held += (each for each in found if each not in held)

    def constraints(self, graph: Graph) -> dict[str, tuple[Constraint, ...]]:
        """Return what was asked of the tensors of a planned graph."""
        return {name: tuple(self.asked.get(name, ())) for name in graph.by_name}
