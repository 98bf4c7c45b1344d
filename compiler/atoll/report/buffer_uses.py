# SPDX-License-Identifier: Apache-2.0
"""Which devices touch a buffer, when and how."""

from collections.abc import Iterable, Mapping

from atoll.ir.tir import AcceleratorWait, Entry
from atoll.reach.candidates import Needs
from atoll.records import dataclass
from atoll.resolve.soc import Access

CALLER_IN, CALLER_OUT = "caller, before the run", "caller, after the run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One device touches a buffer once.

    Attributes:
        step: number of the step, the one that starts it if another one waits for it; None for
            the caller.
        operator: name of the operator, or what the caller does.
        access: what the device needs; ``rw`` as soon as it writes.
    """

    step: int | None
    operator: str
    device: str
    access: Access

    def __str__(self) -> str:
        where = self.operator if self.step is None else f"step {self.step} {self.operator}"
        return f"{self.device} {_VERBS[self.access]} ({where})"

    def as_json(self) -> dict[str, object]:
        """Return the use for machines."""
        return {
            "step": self.step,
            "operator": self.operator,
            "device": self.device,
            "access": self.access.value,
        }


_VERBS = {Access.READ: "reads", Access.WRITE: "writes"}


def uses_of(entry: Entry, host: str) -> Mapping[str, tuple[Use, ...]]:
    """Return the uses of every buffer in the order of execution; `host` runs the caller."""
    uses: dict[str, list[Use]] = {name: [] for name in entry.sizes}
    for name in entry.inputs:
        uses[name].append(
            Use(step=None, operator=CALLER_IN, device=host, access=Access.WRITE),
        )
    for number, step in enumerate(entry.steps):
        if isinstance(step.action, AcceleratorWait):
            continue
        for device in step.masters:
            reads, writes = step.accesses_of(device)
            for name in dict.fromkeys((*reads, *writes)):
                access = Access.WRITE if name in writes else Access.READ
                use = Use(step=number, operator=step.operator, device=device, access=access)
                uses[entry.storage(name)].append(use)
    for name in entry.outputs:
        uses[name].append(
            Use(step=None, operator=CALLER_OUT, device=host, access=Access.READ),
        )
    return {name: tuple(found) for name, found in uses.items()}


def needs_of_uses(uses: Iterable[Use]) -> Needs:
    """Return what each device needs in all, in the order of their first use."""
    needs: dict[str, Access] = {}
    for use in uses:
        if needs.get(use.device) is not Access.WRITE:
            needs[use.device] = use.access
    return needs
