# SPDX-License-Identifier: Apache-2.0
"""Where an operator runs, and why: the reasons are found once somebody reads them."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property, partial

from atoll.cost.basis import MEASURED
from atoll.cost.operators import Cost
from atoll.place.constraints import Joined
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why an operator runs where it runs.

    Attributes:
        reason: for people.
        rejected: each other device that was weighed and why it was not taken, in canonical order.
        basis: what the figures in `reason` and `rejected` rest on.
        turns_to: the device that would be chosen if each core whose cycles rest on another one
            were `FASTER` times as fast; "" if it is the same.
        within: further devices that may be faster, with every estimate within its band.
        costs: what it takes where it runs and where else it was weighed, by device.
    """

    reason: str
    rejected: tuple[tuple[str, str], ...] = ()
    basis: str = MEASURED
    turns_to: str = ""
    within: tuple[str, ...] = ()
    costs: Mapping[str, Cost] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """Where an operator runs.

    Attributes:
        operator: its name.
        device: where it runs.
        find: finds out why, from values that never change: most who compile never ask.
        asked: somebody named the device.
        pinned: devices that nothing but pins kept it off.
        joined: the scope that was asked for, and who asked.
    """

    operator: str
    device: str
    find: Callable[[], Why] = field(repr=False)
    asked: bool = False
    pinned: tuple[str, ...] = ()
    joined: Joined = field(default_factory=Joined)

    @cached_property
    def why(self) -> Why:
        """Why it runs there."""
        return self.find()

    @property
    def reason(self) -> str:
        """Why there, for people."""
        return self.why.reason

    @property
    def rejected(self) -> tuple[tuple[str, str], ...]:
        """Why not elsewhere, by device."""
        return self.why.rejected

    def with_reasons(self, change: Callable[[Why], Why]) -> "Decision":
        """Return the same decision with other reasons."""
        return Decision(
            operator=self.operator,
            device=self.device,
            find=partial(self._find_changed, change),
            asked=self.asked,
            pinned=self.pinned,
            joined=self.joined,
        )

    def _find_changed(self, change: Callable[[Why], Why]) -> Why:
        return change(self.why)

    def __eq__(self, other: object) -> bool:
        """Compare what was decided, and why."""
        return isinstance(other, Decision) and self._values() == other._values()

    __hash__ = None  # type: ignore[assignment]

    def _values(self) -> tuple[object, ...]:
        return self.operator, self.device, self.asked, self.pinned, self.joined, self.why

    def __str__(self) -> str:
        others = "".join(f"; not {device}: {why}" for device, why in self.rejected)
        return f"{self.operator} on {self.device}: {self.reason}{others}"


def because(
    decisions: tuple[Decision, ...], device: str, reasons: Mapping[str, str]
) -> tuple[Decision, ...]:
    """Return `decisions` with what is known of why `device` does not run operators, by name."""

    def amend(decision: Decision) -> Decision:
        def change(why: Why) -> Why:
            known = {device: reasons.get(decision.operator, dict(why.rejected).get(device, ""))}
            return replace(why, rejected=tuple((n, known.get(n, w)) for n, w in why.rejected))

        return decision.with_reasons(change)

    return tuple(map(amend, decisions))
