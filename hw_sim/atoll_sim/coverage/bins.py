# SPDX-License-Identifier: Apache-2.0
"""What the description lets devices do, and how often runs did it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product

from atoll.driver.pipeline import Compiled
from atoll.resolve.register_steps import line_name
from atoll.resolve.soc import Access, Device, Engine, Pool, ResolvedSoc
from atoll_sim.coverage.points import add_counts
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import SimResult, Touched

Hits = Mapping[str, int]
"""How often each thing was done, by its name; 0 of what can be done and was not."""


class Group(StrEnum):
    """What is counted."""

    ACCESSES = "accesses"
    OPERATORS = "operators"
    LIMITS = "limits"
    INTERRUPTS = "interrupts"
    RULES = "rules"


def count_run(
    soc: ResolvedSoc, models: Sequence[Compiled], in_rtl: frozenset[str], result: SimResult
) -> Mapping[Group, Hits]:
    """Return what there is to do on a chip, and how often a run did it.

    Args:
        soc: the chip.
        models: the networks that ran in turn.
        in_rtl: engines of which hardware ran.
        result: what the run did.
    """
    engines = [engine for engine in soc.engines if engine.name in in_rtl]
    return {
        Group.ACCESSES: _accesses(soc, result),
        Group.OPERATORS: _operators(engines, models, result),
        Group.INTERRUPTS: _interrupts(result),
        Group.RULES: _rules(engines, result),
    }


def add_hits(one: Mapping[Group, Hits], other: Mapping[Group, Hits]) -> Mapping[Group, Hits]:
    """Return the sums of two runs."""
    groups = [group for group in Group if group in one or group in other]
    return {group: add_counts(one.get(group, {}), other.get(group, {})) for group in groups}


def _accesses(soc: ResolvedSoc, result: SimResult) -> Hits:
    """Count the phases in which a device touched a pool, and its first and last byte."""
    found = {
        name: 0 for device in soc.devices for pool in soc.pools for name in _ways(device, pool)
    }
    every = (touched for phase in result.phases for touched in phase.touched)
    for touched, pool in product(every, soc.pools):
        for name in _touches(pool, touched):
            if name in found:
                found[name] += 1
    return found


def _ways(device: Device, pool: Pool) -> Iterator[str]:
    """Yield what a device may do with a pool."""
    access = pool.reach[device.name]
    for kind, least in ((AccessKind.READ, Access.READ), (AccessKind.WRITE, Access.WRITE)):
        if access in (least, Access.WRITE):
            yield from _names(pool, device.name, kind)


def _names(pool: Pool, master: str, kind: AccessKind) -> tuple[str, str, str]:
    name = f"{master} {kind}s {pool.name}"
    return name, f"{name}: first byte", f"{name}: last byte"


def _touches(pool: Pool, touched: Touched) -> Iterator[str]:
    region, spans = pool.region, touched.spans
    some, first, last = _names(pool, touched.master, touched.kind)
    if any(span.start < region.end and region.origin < span.stop for span in spans):
        yield some
    if any(region.origin in span for span in spans):
        yield first
    if any(region.end - 1 in span for span in spans):
        yield last


def _operators(engines: Iterable[Engine], models: Sequence[Compiled], result: SimResult) -> Hits:
    """Count the operators that each engine ran of each kind that its description has."""
    found = Counter(
        {f"{each.name} runs {op.kind}": 0 for each in engines for op in each.spec.operators}
    )
    ran = {
        (phase.sample, number)
        for phase in result.phases
        if phase.sample is not None
        for number in phase.operators
    }
    for sample, number in ran:
        op = models[sample % len(models)].graph.operators[number]
        found[f"{op.device} runs {op.kind}"] += 1
    return dict(found)


def _interrupts(result: SimResult) -> Hits:
    """Count how often each line rose."""
    return {
        f"{line.source} interrupts {line.core}, {line_name(line.number)}": len(line.pulses)
        for line in result.lines or ()
    }


def _rules(engines: Iterable[Engine], result: SimResult) -> Hits:
    """Count the occasions to break each rule that is watched."""
    names = {engine.name for engine in engines}
    return {
        f"{name} could break A{rule}": count
        for (name, rule), count in result.occasions.items()
        if name in names
    }
