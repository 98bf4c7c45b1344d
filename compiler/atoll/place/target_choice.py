# SPDX-License-Identifier: Apache-2.0
"""Choose the target of an operator that nobody chose: by what was measured, and by nothing else."""

from collections.abc import Iterator, Mapping

from atoll.cost.core_costs import CoreCost
from atoll.cost.measured_targets import Times, times_of
from atoll.ir.graph import Graph, Operator
from atoll.isa.code_target import OWN
from atoll.ops.registry import COPY
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc

CLEARLY = 0.02
"""By what share a target has to be faster in the middle, and may be slower at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetChoice:
    """What the code of an operator is made for, and why.

    Attributes:
        operator: its name.
        device: the core that runs it.
        target: "" for the core's own code.
        reason: for people.
        measured: how many times as long it takes as the code that others are held against, for each
            target of the core that was measured for operators of its kind, `OWN` included.
    """

    operator: str
    device: str
    target: str
    reason: str
    measured: Mapping[str, Times]

    def as_json(self) -> dict[str, object]:
        """Return the same for machines."""
        return {
            "operator": self.operator,
            "device": self.device,
            "target": self.target or OWN,
            "reason": self.reason,
            "measured": {
                name: {"least": t.least, "greatest": t.greatest, "operators": t.operators}
                for name, t in self.measured.items()
            },
        }


def choose_by_cost(op: Operator, graph: Graph, soc: ResolvedSoc) -> TargetChoice | None:
    """Return the target with which an operator is clearly faster than with its core's own code.

    It is, if operators of its kind that were measured took less by more than `CLEARLY` in the
    middle, and none took more by as much. None if the operator runs on no core with targets.
    """
    core = soc.device(op.device)
    if not isinstance(core, Cpu) or not core.targets or op.kind == COPY:
        return None
    names = [each.name for each in core.targets]
    found = {name or OWN: times_of(core, name, op.kind, soc) for name in ("", *names)}
    measured = {name: each for name, each in found.items() if each}
    reason, target = "", ""
    if OWN not in measured or len(measured) == 1:
        reason = (
            f"nobody measured {op.kind} with {_missing_text(found, measured)} on '{core.spec.name}'"
        )
    elif CoreCost(core, soc).helpers(op, graph):
        reason = "it may be spread over cores of one kind, which only their own code can be"
    else:
        others = {n: t.over(measured[OWN]) for n, t in measured.items() if n != OWN}
        best = min(others, key=lambda name: others[name].middle)
        if others[best].middle < 1 - CLEARLY and others[best].greatest < 1 + CLEARLY:
            counted = f"{others[best].operators} operators of its kind"
            target, reason = best, f"took {_range(others[best])} times as long in {counted}"
        else:
            figures = ", ".join(f"{name} {_range(each)}" for name, each in others.items())
            reason = f"none was measured to be clearly faster: {figures} times as long"
            if missing := [name for name in names if name not in measured]:
                reason += f"; not measured: {', '.join(missing)}"
    return TargetChoice(
        operator=op.name, device=core.name, target=target, reason=reason, measured=measured
    )


def _missing_text(found: Mapping[str, Times | None], measured: Mapping[str, Times]) -> str:
    missing = [name for name in found if name not in measured]
    return "own code" if OWN in missing else f"target {', '.join(missing)}"


def _range(times: Times) -> str:
    low, high = (f"{each:.2f}" for each in (times.least, times.greatest))
    return low if low == high else f"{low} to {high}"


def choices_of(graph: Graph, asked: Mapping[str, str], soc: ResolvedSoc) -> Iterator[TargetChoice]:
    """Yield why each operator on a core with targets has its target.

    `asked` says who asked, by operator.
    """
    for op in graph.operators:
        if (choice := choose_by_cost(op, graph, soc)) is None:
            continue
        if by := asked.get(op.name):
            yield TargetChoice(
                operator=op.name,
                device=op.device,
                target=op.target,
                reason=by,
                measured=choice.measured,
            )
        else:
            yield choice
