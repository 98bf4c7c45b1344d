"""Unify what several sources ask of one operator: `SEScope.join` over their scopes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atoll.description.faults import note
from atoll.errors import Fault, SourceLoc
from atoll.ir.graph import Operator
from atoll.place.requests import Requests
from atoll.resolve.se_scope import ScopeTable, SEScope, join


@dataclass(frozen=True, slots=True)
class Wish:
    """A scope that one source asks for.

    Attributes:
        device: the device whose scope it is.
        source: who asked, for people; the same wherever it was written.
        at: where it was written, if in a file.
    """

    scope: SEScope
    device: str
    source: str
    at: SourceLoc | None = None


def wishes_for(op: Operator, scopes: ScopeTable, requests: Requests) -> Iterator[Wish]:
    """Yield what the graph and the user ask for `op`."""
    if op.device:
        yield Wish(scopes.of(op.device), op.device, "set in the graph")
    if asked := requests.place.get(op.name):
        at = requests.places.get(op.name)
        yield Wish(scopes.of(asked), asked, f"asked for by 'place.{op.name}'", at)


def unify(op: Operator, wishes: Iterator[Wish]) -> Wish | Fault | None:
    """Return the wish that satisfies all, None if there are none, a fault if they contradict."""
    held: Wish | None = None
    for wish in wishes:
        if held is None:
            held = wish
        elif join(held.scope, wish.scope) is None:
            return _clash(op, held, wish)
    return held


def _clash(op: Operator, first: Wish, second: Wish) -> Fault:
    results = ", ".join(f"'{name}'" for name in op.outputs)
    return Fault(
        code="E049",
        message=f"operator '{op.name}', which makes tensor {results}, cannot run on both "
        f"'{first.device}' ({first.source}) and '{second.device}' ({second.source})",
        at=second.at,
        other=note(first.at, f"'{first.device}' is asked for here"),
        remedy=f"ask for one of '{first.device}' and '{second.device}'",
    )


def merged_pools(first: Sequence[str], second: Sequence[str]) -> tuple[str, ...] | None:
    """Return the pools that satisfy two pins (() asks for none), None where there are none."""
    if not first or not second:
        return tuple(first or second)
    return tuple(pool for pool in first if pool in second) or None
