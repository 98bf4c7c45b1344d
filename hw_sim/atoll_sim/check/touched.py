# SPDX-License-Identifier: Apache-2.0
"""How many bytes devices moved where in the pools: what a run saw on its buses."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.report.result import TouchedRange
from atoll.resolve.soc import Pool, Region, ResolvedSoc
from atoll_sim.protocol.records import HEAT_BYTES


def touched_ranges(
    soc: ResolvedSoc, heat: Mapping[int, tuple[int, int]]
) -> tuple[TouchedRange, ...]:
    """Return the ranges of each pool in which bytes were moved; neighbours that are alike are one.

    How many of these were a pool's is not known where another region has part of the 64 bytes.

    Args:
        soc: the chip.
        heat: see `atoll_sim.trace.simulation.SimResult`.
    """
    regions = [pool.region for pool in soc.pools]
    for cpu in soc.cpus:
        regions += (*cpu.stacks, *cpu.code_regions, cpu.data)
    return tuple(
        each
        for pool in soc.pools
        for each in _of_pool(pool, heat, [other for other in regions if other != pool.region])
    )


def _of_pool(
    pool: Pool, heat: Mapping[int, tuple[int, int]], others: Sequence[Region]
) -> Iterator[TouchedRange]:
    known = {
        at: None if any(_overlaps(other, at) for other in others) else moved
        for at, moved in sorted(heat.items())
        if _overlaps(pool.region, at)
    }
    ranges: list[list[int]] = []
    for at in known:
        if ranges and ranges[-1][-1] + HEAT_BYTES == at and known[ranges[-1][0]] == known[at]:
            ranges[-1].append(at)
        else:
            ranges.append([at])
    for each in ranges:
        moved, first = known[each[0]], max(each[0], pool.region.origin)
        yield TouchedRange(
            pool=pool.name,
            first_address=first,
            size_bytes=min(each[-1] + HEAT_BYTES, pool.region.end) - first,
            read_bytes=moved and moved[0] * len(each),
            written_bytes=moved and moved[1] * len(each),
        )


def _overlaps(region: Region, address: int) -> bool:
    return region.origin < address + HEAT_BYTES and address < region.end
