# SPDX-License-Identifier: Apache-2.0
"""What a test of an engine does, step by step, and how bytes come to a pool and back."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from atoll.codegen.commands import encode
from atoll.lower.jobs import prepare
from atoll.reach.candidates import WORKSPACE_ROLES
from atoll.records import dataclass
from atoll.resolve.soc import Access, Dma, Engine, Pool, ResolvedSoc
from atoll_selftest.constants import Constants
from atoll_selftest.places import address_from
from atoll_selftest.sample_operators import Answer, copy_of

ALIGNMENT = 64
"""Of all data that engines read and write."""


class Action(StrEnum):
    """What a step does."""

    FILL = "fill"
    RUN = "run"
    CHECK = "check"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step of a test.

    Attributes:
        address: FILL and CHECK: of the bytes, as the host sees them. RUN: of the commands, as the
            engine sees them.
        data: FILL: what the host writes. CHECK: what it must read.
        engine: RUN: who runs.
        count: RUN: how many commands.
        judged: RUN: addresses, as the engine sees them, that the test is about: a refusal there
            is its result. A refusal elsewhere, or none of these, is the failure of a means.
    """

    action: Action
    address: int
    data: bytes = b""
    engine: str = ""
    count: int = 0
    judged: range = range(0)


def block(parts: Mapping[str, bytes]) -> tuple[bytes, Mapping[str, int]]:
    """Lay buffers one behind the other; return the bytes, and where each begins."""
    held, offsets = bytearray(), {}
    for name, data in parts.items():
        held += bytes(-len(held) % ALIGNMENT)
        offsets[name] = len(held)
        held += data
    return bytes(held), offsets


class Runner:
    """Makes the commands of an engine for an operator, wherever its buffers are."""

    def __init__(self, soc: ResolvedSoc, engine: Engine, answer: Answer, constants: Constants):
        pool = constants.pool_for(engine)
        assert pool is not None, f"'{engine.name}' reads no constants"
        self.soc, self.engine, self.answer = soc, engine, answer
        self._constants, self._pool = constants, pool
        self._job = prepare(answer.operator, answer.graph, engine, 1)
        as_they_are = [t for t in answer.graph.tensors if t.data and t.name in self._job.reads]
        self._made = {
            each.name: constants.put(pool, each.data or b"", self._job.alignment)
            for each in (*as_they_are, *self._job.constants)
        }

    def run(self, buffers: Mapping[str, int], judged: range = range(0)) -> Step:
        """Return the step that runs the operator.

        Args:
            buffers: addresses on the bus, by name.
            judged: those that the test is about.
        """
        soc, engine, job, answer = self.soc, self.engine, self._job, self.answer
        places = {**buffers, **self._made}

        def address(name: str) -> int:
            return address_from(soc, engine, places[name])

        data = encode(answer.operator, answer.graph, engine, job, address, 1)
        at = self._constants.put(self._pool, data, max(job.commands_alignment, ALIGNMENT))
        count = len(data) * job.commands_count // job.commands_size
        return Step(
            action=Action.RUN,
            address=address_from(soc, engine, at),
            engine=engine.name,
            count=count,
            judged=range(
                address_from(soc, engine, judged.start),
                address_from(soc, engine, judged.stop - 1) + 1,
            )
            if judged
            else judged,
        )


class Routes:
    """How the host brings bytes to a pool, and sees what is in one."""

    def __init__(self, soc: ResolvedSoc, constants: Constants, begins: Mapping[str, int]):
        self._soc, self._constants, self._begins = soc, constants, begins

    def spot(self, pool: Pool, offset: int, size: int) -> int | None:
        """Return an address in the part of a pool that no constants take; None if it is small."""
        begin = -(-(pool.region.origin + self._begins.get(pool.name, 0)) // ALIGNMENT) * ALIGNMENT
        return begin + offset if begin + offset + size <= pool.region.end else None

    def fill(self, pool: Pool, address: int, data: bytes) -> tuple[Step, ...] | None:
        """Return the steps that bring bytes to an address in a pool; None if nobody can."""
        host = self._soc.host_cpu
        if pool.reach[host.name] is Access.WRITE:
            return (
                Step(action=Action.FILL, address=address_from(self._soc, host, address), data=data),
            )
        for dma, between, at in self._carriers(pool, len(data), inward=True):
            first = self.fill(between, at, data) if self._is_hosts(between, Access.WRITE) else None
            if first:
                return (*first, self._copy_step(dma, at, address, len(data)))
        return None

    def check(self, pool: Pool, address: int, data: bytes) -> tuple[Step, ...]:
        """Return the steps that hold bytes against what they must be; none if nobody can."""
        host = self._soc.host_cpu
        if pool.reach[host.name] is not Access.NONE:
            return (
                Step(
                    action=Action.CHECK, address=address_from(self._soc, host, address), data=data
                ),
            )
        for dma, between, at in self._carriers(pool, len(data), inward=False):
            if self._is_hosts(between, Access.READ):
                copied = self._copy_step(dma, address, at, len(data))
                return (copied, *self.check(between, at, data))
        return ()

    def _is_hosts(self, pool: Pool, need: Access) -> bool:
        return pool.reach[self._soc.host] in (Access.WRITE, need)

    def _carriers(self, pool: Pool, size: int, *, inward: bool) -> Iterator[tuple[Dma, Pool, int]]:
        """Yield engines that move between `pool` and another one, and a spot there."""
        need = (Access.READ, Access.WRITE) if inward else (Access.WRITE, Access.READ)
        for dma in self._soc.dmas:
            for other in workspaces(self._soc, dma):
                pair = (other.region.memory, pool.region.memory)
                at = self.spot(other, 0, size)
                reached = _may(other, dma, need[0]) and _may(pool, dma, need[1])
                moves = (pair if inward else pair[::-1]) in dma.moves
                if other is not pool and at is not None and reached and moves:
                    yield dma, other, at

    def _copy_step(self, dma: Dma, source: int, target: int, size: int) -> Step:
        runner = Runner(self._soc, dma, copy_of(size), self._constants)
        return runner.run({"x": source, "y": target})


def workspaces(soc: ResolvedSoc, engine: Engine) -> tuple[Pool, ...]:
    """Return the workspace pools that an engine reaches, the first that the host reads in front."""
    pools = [
        pool
        for pool in soc.pools
        if pool.role in WORKSPACE_ROLES
        and pool.reach[engine.name] is not Access.NONE
        and soc.memory(pool.region.memory).kind == "ram"
    ]
    return tuple(sorted(pools, key=lambda pool: pool.reach[soc.host] is Access.NONE))


def _may(pool: Pool, engine: Engine, need: Access) -> bool:
    return pool.reach[engine.name] in (Access.WRITE, need)
