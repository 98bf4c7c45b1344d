# SPDX-License-Identifier: Apache-2.0
"""How many bytes devices moved where in the pools: what a run saw on its buses."""

from collections.abc import Iterator, Mapping

from atoll.report.result import TouchedRange
from atoll.resolve.soc import Pool, ResolvedSoc
from atoll_sim.protocol.records import HEAT_BYTES


def touched_ranges(
    soc: ResolvedSoc, heat: Mapping[int, tuple[int, int]]
) -> tuple[TouchedRange, ...]:
    """Return the ranges of each pool in which bytes were moved; neighbours that are alike are one.

    Args:
        soc: the chip.
        heat: see `atoll_sim.trace.simulation.SimResult`.
    """
    return tuple(each for pool in soc.pools for each in _of_pool(pool, heat))


def _of_pool(pool: Pool, heat: Mapping[int, tuple[int, int]]) -> Iterator[TouchedRange]:
    addresses = (at for at in sorted(heat) if _overlaps(pool, at))
    ranges: list[list[int]] = []
    for at in addresses:
        if ranges and ranges[-1][-1] + HEAT_BYTES == at and heat[ranges[-1][0]] == heat[at]:
            ranges[-1].append(at)
        else:
            ranges.append([at])
    for each in ranges:
        read, written = heat[each[0]]
        first = max(each[0], pool.region.origin)
        yield TouchedRange(
            pool=pool.name,
            first_address=first,
            size_bytes=min(each[-1] + HEAT_BYTES, pool.region.end) - first,
            read_bytes=read * len(each),
            written_bytes=written * len(each),
        )


def _overlaps(pool: Pool, address: int) -> bool:
    return pool.region.origin < address + HEAT_BYTES and address < pool.region.end
