# SPDX-License-Identifier: Apache-2.0
"""Which buffers take whole lines of data caches, so that no line has two owners."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from atoll.ir.tir import Entry
from atoll.resolve.soc import ResolvedSoc

Sized = tuple[str, int, int, tuple[str, ...]]
"""Name, size and alignment in bytes, and candidate pools of a buffer."""


def whole_lines(entry: Entry, soc: ResolvedSoc, buffers: Sequence[Sized]) -> Iterator[Sized]:
    """Yield `buffers` with size and alignment in whole lines where their bytes have two views.

    A line that a device writes back carries all its bytes. So a buffer has its lines for itself,
    unless only cores touch it that have the host's cache, or no cached pool can hold it: what they
    keep to themselves may share lines with its like, and with constants, which never change.
    """
    cached = soc.cached_devices
    if not cached:
        yield from buffers
        return
    line = max(each.cache.line for each in cached if each.cache)
    together = soc.sharing(soc.host) | {soc.host}
    pools = {pool.name for pool in soc.pools if any(soc.keeps(each, pool) for each in cached)}
    touching = _touching_devices(entry, soc)
    for name, size, alignment, candidates in buffers:
        if pools.intersection(candidates) and not (touching[name] and touching[name] <= together):
            yield name, -(-max(1, size) // line) * line, max(alignment, line), candidates
        else:
            yield name, size, alignment, candidates


def _touching_devices(entry: Entry, soc: ResolvedSoc) -> defaultdict[str, set[str]]:
    """Return the devices that touch each buffer; the caller runs on the host."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name in (*entry.filled, *entry.outputs):
        found[name].add(soc.host)
    for step in entry.steps:
        for name in (*step.reads, *step.writes):
            found[entry.storage(name)].add(step.device)
    return found
