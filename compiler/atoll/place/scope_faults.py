# SPDX-License-Identifier: Apache-2.0
"""Say why what is asked of a buffer leaves no place for it (C2)."""

from collections.abc import Sequence

from atoll.cost.copies import touch_cycles
from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.diagnostics.units import format_size
from atoll.ir.graph import Tensor
from atoll.reach.candidates import Needs, roles_of, unmet_needs
from atoll.records import dataclass
from atoll.resolve.soc import Access, ResolvedSoc
from atoll.resolve.storage_scope import IN_WORKSPACE

_VERBS = {Access.WRITE: "writes", Access.READ: "reads"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeFault:
    """A request that leaves nothing.

    Attributes:
        asked: what was asked, such as ``scope 'global.stack'``.
        of: the buffer, with its kind.
        before: the places that can be asked for instead.
        rule: what emptied the set.
        remedy: an edit that has been tried.
    """

    asked: str
    of: str
    before: Sequence[str]
    rule: str
    remedy: str
    at: SourceLoc | None = None
    other: tuple[SourceLoc, str] | None = None


def leaves_nothing(found: ScopeFault) -> Fault:
    """Return the fault that says it."""
    places = [f"'{place}'" for place in found.before]
    listed = " and ".join(filter(None, (", ".join(places[:-1]), *places[-1:])))
    left = f"{listed} {'is' if len(places) == 1 else 'are'} left" if places else ""
    return Fault(
        code="E205",
        message=f"{found.asked} leaves {found.of} no place: without it, "
        f"{left or 'there is none either'}; "
        f"{found.rule}",
        at=found.at,
        other=found.other,
        remedy=found.remedy,
    )


def cheapest(pools: Sequence[str], size: int, soc: ResolvedSoc) -> str:
    """Return the pool that takes the fewest cycles to write and read, of equals the first."""
    return min(pools, key=lambda name: touch_cycles(soc.pool(name), size, soc))


def empty_rule(
    tensor: Tensor, pools: Sequence[str], scope: str, needs: Needs, soc: ResolvedSoc
) -> str:
    """Say which rule keeps a tensor out of every pool that was asked for."""
    what = "a constant" if tensor.data is not None else "an activation"
    what = what if tensor.initial is None else "a state"
    if not pools:
        if scope == IN_WORKSPACE:
            return f"{what} lies in no workspace (C3)"
        return f"{what} lies in a pool: steps share it, and a stack is its core's alone (C6)"
    reasons = []
    for pool in map(soc.pool, pools):
        if pool.role not in roles_of(tensor):
            reasons.append(f"'{pool.name}' has role '{pool.role}', and this is {what}")
        elif lacks := unmet_needs(pool, needs):
            reasons += [
                f"'{name}' {_VERBS[need]} it and has '{pool.reach[name]}' on '{pool.name}'"
                for name, need in lacks.items()
            ]
        else:
            reasons.append(
                f"'{pool.name}' has room for {format_size(pool.room)}, "
                f"not for {format_size(tensor.size)}"
            )
    return "; ".join(reasons) + " (C3)"
