# SPDX-License-Identifier: Apache-2.0
"""How much longer devices take that ask the same memories at the same time.

A bank serves one access in a cycle, and whoever asks it takes turns (`atoll_memory.sv`,
`atoll_arbiter.sv`). With `p` the chance that a device asks a bank in a cycle, the bank serves
somebody with chance ``1 - product(1 - p)`` and each in proportion to its `p`. So an access takes
``sum(p) / (1 - product(1 - p))`` cycles instead of one: 1 without others, as many as there are
devices where all ask in every cycle. Devices that wait ask more often, up to always, so chances
and lengths are found together. Devices are taken to ask at random, each bank equally often.
"""

from collections.abc import Iterable, Sequence
from math import prod

from atoll.cost.bands import Band, Parts, Source
from atoll.cost.basis import MEASURED
from atoll.cost.engines import driver_cycles
from atoll.cost.spent import Spent, of_host
from atoll.cost.traffic import Traffic
from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll.utils.remember import remember

ROUNDS, NEAR = 100, 1e-4
"""Turns in which chances and lengths are found, fewer once no access changes more than this."""

STRETCHES_AT_HAND = 4096
"""What works at the same time, of which a process keeps how long that takes."""

Banks = tuple[tuple[str, int], ...]
"""Memories, and how many banks each has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What devices ask of memories that work on one operator, each on a part of it.

    Attributes:
        devices: how many.
        cycles: that each of them works alone, of the host.
        asks: memories, and in how many of these cycles each device asks them.
        hidden: so many cycles more it may wait before its work takes longer.
    """

    devices: int = 1
    cycles: int
    asks: tuple[tuple[str, float], ...] = ()
    hidden: float = 0.0

    def times(self, accesses: dict[str, float]) -> float:
        """Return how many times as long the work takes with accesses of so many cycles."""
        waits = sum(count * (accesses.get(name, 1.0) - 1) for name, count in self.asks)
        return 1 + max(0.0, waits - self.hidden) / self.cycles if self.cycles else 1.0


TURNS_BAND = Band(1.0, 1.0)
"""How far cycles may be off in which devices wait for each other: 0.5 to 1.4 times as many in
``benchmarks.estimate --chip narrows --branched 12``, of networks that wait a twentieth or more."""


def turns(waiting: int, graph: Graph, soc: ResolvedSoc) -> Parts:
    """Return the source of cycles in which devices wait for each other.

    What a core with a cache asks of memories nobody knows.
    """
    names = {name for op in graph.operators for name in op.devices}
    devices = (soc.device(name) for name in names)
    cached = any(isinstance(each, Cpu) and each.cache for each in devices)
    return {Source("turns", MEASURED, None if cached else TURNS_BAND): max(0, waiting)}


@dataclass(frozen=True, slots=True)
class Work:
    """What devices do for an operator.

    Attributes:
        lead: cycles of the host before they begin.
        demand: what they ask of memories from then on; what is left after it is the host's.
    """

    lead: int
    demand: Demand


def work_of(
    op: Operator, spent: Spent, moved: Iterable[Traffic], soc: ResolvedSoc, *, first: bool
) -> Work:
    """Return what the devices of an operator do for it.

    Args:
        op: the operator.
        spent: what it takes.
        moved: what it moves.
        soc: the chip.
        first: the host starts it; else its engine goes on with it by itself.
    """
    device = soc.device(op.device)
    if not (spent.busy and isinstance(device, Engine)):
        count = len(op.devices)
        asks = tuple((each.memory, each.cycles / count) for each in moved)
        return Work(0, Demand(devices=count, cycles=spent.cycles, asks=asks))
    lead = min(spent.cycles, driver_cycles(soc)[0]) if first else 0
    working = min(of_host(spent.busy.cycles, device, soc), spent.cycles - lead)
    asks = tuple((each.memory, _accesses(each, spent.busy, device, soc)) for each in moved)
    parts = spent.busy.parts
    computing = of_host(parts.get(Bound.COMPUTE, 0), device, soc) if len(parts) > 1 else 0
    hidden = max(0.0, computing - sum(count for _, count in asks))
    return Work(lead, Demand(cycles=working, asks=asks, hidden=hidden))


def _accesses(moved: Traffic, busy: Busy, engine: Engine, soc: ResolvedSoc) -> float:
    """Return how many accesses of a bank an engine makes, each of a beat of its port at most.

    An engine that says what it reads and writes may write less than a beat at a time.
    """
    width = soc.memory(moved.memory).width
    beat = min(width, engine.params.get("data_bytes", width))
    count = moved.cycles * width / beat
    if moved.written and Bound.READ in busy.parts:
        written = of_host(busy.parts[Bound.WRITE], engine, soc) - moved.written / beat
        count += max(0.0, written)
    return count


@remember(lambda *given: given, most=STRETCHES_AT_HAND)
def stretches(demands: tuple[Demand, ...], banks: Banks) -> tuple[float, ...]:
    """Return how many times as long as alone each takes while all of them work."""
    known, asking = dict(banks), dict[str, list[tuple[int, float]]]()
    for at, each in enumerate(demands):
        for name, count in each.asks if each.cycles else ():
            masters = asking.setdefault(name, [])
            masters += [(at, count / each.cycles)] * each.devices
    shared = {name: masters for name, masters in asking.items() if len(masters) > 1}
    accesses, times = dict.fromkeys(shared, 1.0), (1.0,) * len(demands)
    for _ in range(ROUNDS):
        before = accesses
        accesses = {
            name: cycles_of_access(
                [min(1.0, share * before[name] / times[at]) / known[name] for at, share in masters]
            )
            for name, masters in shared.items()
        }
        times = tuple(each.times(accesses) for each in demands)
        if all(abs(accesses[name] - before[name]) < NEAR for name in shared):
            break
    return times


def cycles_of_access(chances: Sequence[float]) -> float:
    """Return the cycles of an access to a bank that devices ask with these chances in a cycle."""
    served = 1 - prod(1 - each for each in chances)
    return max(1.0, sum(chances) / served) if served else 1.0
