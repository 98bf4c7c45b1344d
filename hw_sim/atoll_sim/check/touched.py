# SPDX-License-Identifier: Apache-2.0
"""Which bytes of the pools devices touched, and how often: what a run saw on its buses."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from atoll.report.result import TouchedRange
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import Phase

_ROW = {AccessKind.READ: 0, AccessKind.WRITE: 1}


def touched_ranges(soc: ResolvedSoc, phases: Iterable[Phase]) -> tuple[TouchedRange, ...] | None:
    """Return the ranges of each pool that the first sample touched; None if nobody watched.

    In a range, each byte was read in as many phases as its neighbours, and written likewise.
    """
    during = [phase for phase in phases if phase.sample == 0]
    if not any(touch.accesses for phase in during for touch in phase.touched):
        return None
    return tuple(each for pool in soc.pools for each in _of_pool(pool, during))


def _of_pool(pool: Pool, phases: Iterable[Phase]) -> Iterator[TouchedRange]:
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for phase in phases:
        for touch in phase.touched:
            row = _ROW.get(touch.kind)
            for span in touch.spans if row is not None else ():
                begin, end = max(span.start, pool.region.origin), min(span.stop, pool.region.end)
                if begin < end:
                    assert row is not None
                    changes[begin][row] += 1
                    changes[end][row] -= 1
    reads = writes = first = 0
    for address in sorted(each for each, change in changes.items() if any(change)):
        if reads or writes:
            yield TouchedRange(
                pool=pool.name,
                first_address=first,
                size_bytes=address - first,
                phases_read=reads,
                phases_written=writes,
            )
        first = address
        reads, writes = reads + changes[address][0], writes + changes[address][1]
