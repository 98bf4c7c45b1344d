# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse the plans of networks that share one firmware.

Shares no code with what places them: it looks at nothing but where each buffer ended up.
"""

from collections.abc import Iterator, Mapping

from atoll.contract.contract import Contract, Span
from atoll.diagnostics.errors import Fault, PlanError
from atoll.memory.problem import MemoryPlan
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc

REPORT = "this is a bug in Atoll: report it with the chip and the networks"


@dataclass(frozen=True, slots=True)
class _Owned:
    """Bytes of one network."""

    span: Span
    network: str
    constant: bool
    state: bool = False

    @property
    def always(self) -> bool:
        """The bytes are there while other networks run."""
        return self.constant or self.state

    def __str__(self) -> str:
        what = "constant " * self.constant + "state " * self.state
        return f"{what}'{self.span.buffer}' of '{self.network}'"


def check_image(
    soc: ResolvedSoc, plans: Mapping[str, MemoryPlan], contracts: Mapping[str, Contract]
) -> None:
    """Accept networks that run one at a time, and whose constants are all there all the time.

    Args:
        soc: the chip.
        plans: by network.
        contracts: of the same networks.

    Raises:
        PlanError: E063, a constant or a state of one network shares bytes with a buffer or a
            constant of another one; E064, a workspace does not begin where its pool begins, so that
            the pool would have to be larger than its largest user needs.
    """
    faults = (*_check_shared_bytes(contracts), *_check_moved_pools(soc, plans, contracts))
    if faults:
        raise PlanError.all(faults)


def _check_shared_bytes(contracts: Mapping[str, Contract]) -> Iterator[Fault]:
    """Yield for each two networks the first bytes that they may not share."""
    told: set[frozenset[str]] = set()
    under_way: list[_Owned] = []
    for new in sorted(_owned_bytes(contracts), key=lambda each: (each.span.address, each.span.end)):
        under_way = [old for old in under_way if old.span.end > new.span.address]
        for old in under_way:
            pair = frozenset((old.network, new.network))
            if len(pair) == 2 and (old.always or new.always) and pair not in told:
                told.add(pair)
                yield _clash(old, new)
        under_way.append(new)


def _owned_bytes(contracts: Mapping[str, Contract]) -> Iterator[_Owned]:
    for network, contract in contracts.items():
        states = {span.buffer for span in contract.states}
        for life in contract.lifetimes:
            yield _Owned(life.span, network, life.constant, life.span.buffer in states)


def _clash(low: _Owned, high: _Owned) -> Fault:
    size = min(low.span.end, high.span.end) - high.span.address
    return Fault(
        code="E063",
        message=f"{low} and {high} share {size} B at {high.span.address:#010x} "
        f"in pool '{high.span.pool}'",
        remedy=REPORT,
    )


def _check_moved_pools(
    soc: ResolvedSoc, plans: Mapping[str, MemoryPlan], contracts: Mapping[str, Contract]
) -> Iterator[Fault]:
    kept = {span.pool for contract in contracts.values() for span in contract.states}
    origins = {
        pool.name: pool.region.origin
        for pool in soc.pools
        if pool.role == "workspace" and pool.name not in kept
    }
    for network, plan in plans.items():
        for space in plan.problem.pools:
            if space.origin != origins.get(space.name, space.origin):
                yield Fault(
                    code="E064",
                    message=f"the workspace of '{network}' in pool '{space.name}' begins at "
                    f"{space.origin:#010x}, not with the pool at {origins[space.name]:#010x}",
                    remedy=REPORT,
                )
