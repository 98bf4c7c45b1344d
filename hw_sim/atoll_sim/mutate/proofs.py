# SPDX-License-Identifier: Apache-2.0
"""Proofs that a mutant which nobody noticed is no fault: its run cannot differ from the right one.

A simulation is deterministic. Two runs are the same as long as every master gets the same answers,
so a byte that no master reads, and a window that decides no request otherwise, change nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.codegen.commands import link_lists
from atoll.codegen.pool_images import pool_images
from atoll.contract.program_check import program_faults
from atoll.driver.pipeline import Compiled
from atoll.ir.tir import Step
from atoll.resolve.soc import Memory
from atoll_sim.mutate.firewall import accessed_ranges, firewall_windows
from atoll_sim.mutate.linker import POOL
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.plan import placement_faults
from atoll_sim.protocol.records import ERASED_ROM, UNWRITTEN_RAM, AccessKind
from atoll_sim.simulate.firmware import Segment
from atoll_sim.trace.contents import contents_of


def proof(right: Right, mutant: Mutant, segments: Sequence[Segment]) -> str | None:
    """Say why `mutant`, whose image loads `segments`, runs as the right build; None if unknown."""
    if mutant.judged.plan.placements != right.compiled.plan.placements:
        if only_equal_constants(right, mutant):
            return "constants share bytes, and all hold what was compiled"
        return "no byte is overwritten before it is read" if keeps_values(right, mutant) else None
    if not same_decisions(right, mutant):
        return None
    different = differing_ranges(right, segments)
    if not different:
        return "the image is the same" if not mutant.windows else "no request is decided otherwise"
    if not any(_meet(one, other) for one in different for other in _read(right.touched)):
        return f"no device reads the {sum(map(len, different))} bytes that differ"
    if only_copied(right, different):
        return (
            f"the {sum(map(len, different))} bytes that differ are copied at start and never read"
        )
    if pool := empty_pool(right, mutant):
        return f"nothing lies in pool '{pool}'"
    if mutant.swapped and independent(right.compiled, *mutant.swapped):
        return "the exchanged steps share no byte that either writes"
    return None


def empty_pool(right: Right, mutant: Mutant) -> str:
    """Return the pool that the linker takes to be elsewhere, if it has no byte; else "".

    Its begin and its end are in code that copies its constants at start: none.
    """
    compiled, name = right.compiled, mutant.subject.removeprefix(POOL)
    if not mutant.script or name == mutant.subject or compiled.soc.pool(name).heap:
        return ""
    held = (each.pool for each in compiled.plan.placements.values())
    return "" if name in held else name


def only_equal_constants(right: Right, mutant: Mutant) -> bool:
    """Tell whether nothing is wrong with the plan but constants on the same bytes, which agree."""
    built = mutant.built
    now, was = built.plan.placements, right.compiled.plan.placements
    contents = contents_of(built)
    commands = link_lists(built.commands, built.module, built.plan, built.soc)
    images = pool_images(built.module, built.plan, commands)

    def holds(name: str) -> bool:
        offset = now[name].offset
        return images[now[name].pool][offset : offset + len(contents[name])] == contents[name]

    alone = all(built.soc.pool(now[name].pool).role == "constants" for name in contents)
    moved = [name for name in now if now[name] != was[name]]
    return (
        not any(placement_faults(built.plan))
        and alone
        and all(name in contents for name in moved)
        and all(map(holds, contents))
    )


def keeps_values(right: Right, mutant: Mutant) -> bool:
    """Tell whether a program runs as it is on another plan that keeps each value while needed."""
    built, soc = mutant.built, mutant.built.soc
    same = built.module.functions == right.compiled.module.functions
    mapped = soc.interface.map_inputs
    return (
        same
        and _without_counts(built) == _without_counts(right.compiled)
        and mutant.judged is built
        and not any(placement_faults(built.plan))
        and not any(program_faults(built.module, built.plan, mapped_inputs=mapped))
    )


def _without_counts(compiled: Compiled) -> Sequence[tuple[object, ...]]:
    """Return the steps, whatever number of commands they take."""
    return [
        (step.operator, step.number, step.device, step.reads, step.writes, type(step.action))
        for step in compiled.module.entry.steps
    ]


def same_decisions(right: Right, mutant: Mutant) -> bool:
    """Tell whether the firewalls let through all that they let through in the right run."""
    open_: dict[tuple[str, str], list[range]] = {}
    needed: dict[tuple[str, str], Sequence[range]] = {}
    for master, kind, index, window in firewall_windows(right):
        now = mutant.windows.get((f"{master.signal}_{kind}", index))
        span = range(now[0], now[1] + 1) if now else window
        open_.setdefault((master.name, kind), []).append(span)
        needed[master.name, kind] = accessed_ranges(right, master, kind)
    return all(
        any(window.start <= span.start and span.stop <= window.stop for window in open_[key])
        for key, spans in needed.items()
        for span in spans
    )


def differing_ranges(right: Right, segments: Sequence[Segment]) -> Sequence[range]:
    """Return the addresses whose bytes differ from the right image before the first cycle."""
    found: list[range] = []
    for memory in right.compiled.soc.memories:
        wrong = _load(memory, segments) != _load(memory, right.segments)
        edges = np.flatnonzero(np.diff(wrong.astype(np.int8), prepend=0, append=0))
        found += [
            range(memory.low.start + int(first), memory.low.start + int(end))
            for first, end in edges.reshape(-1, 2)
        ]
    return found


def only_copied(right: Right, different: Sequence[range]) -> bool:
    """Tell whether the start-up code copies all that differs, and nobody reads the copies."""
    copies: list[range] = []
    for one in different:
        homes = [(load, to) for load, to in right.copied if one.start in load and one[-1] in load]
        if not homes:
            return False
        load, to = homes[0]
        copies.append(range(to + one.start - load.start, to + one.stop - load.start))
    in_runs = [*_read(right.in_runs)]
    return not any(_meet(one, span) for one in different for span in in_runs) and not any(
        _meet(copy, span) for copy in copies for span in _read(right.touched)
    )


def independent(compiled: Compiled, first: int, second: int) -> bool:
    """Tell whether two steps may change places: neither writes a byte that the other touches."""
    steps = compiled.module.entry.steps
    one, two = steps[first], steps[second]
    writes = (tuple(_spans(compiled, one, one.writes)), tuple(_spans(compiled, two, two.writes)))
    touches = tuple(
        tuple(_spans(compiled, step, (*step.reads, *step.writes))) for step in (one, two)
    )
    clash = any(_meet(w, t) for w in writes[0] for t in touches[1]) or any(
        _meet(w, t) for w in writes[1] for t in touches[0]
    )
    return not clash


def _read(touched: Mapping[tuple[str, AccessKind], Sequence[range]]) -> Iterator[range]:
    for (_, kind), spans in touched.items():
        yield from spans if kind is not AccessKind.WRITE else ()


def _spans(compiled: Compiled, step: Step, names: Sequence[str]) -> Iterator[range]:
    sizes = compiled.module.entry.sizes
    for name in names:
        origin = compiled.plan.address(name)
        yield range(origin, origin + sizes[name])
    heaps = compiled.contract.phases[step.number].heaps
    yield from (range(heap.address, heap.end) for heap in heaps)


def _load(memory: Memory, segments: Sequence[Segment]) -> NDArray[np.uint8]:
    fill = ERASED_ROM if memory.kind == "rom" else UNWRITTEN_RAM
    data = np.full(len(memory.low), fill, dtype=np.uint8)
    for segment in segments:
        if segment.address in memory.low:
            at = segment.address - memory.low.start
            data[at : at + len(segment.data)] = np.frombuffer(segment.data, dtype=np.uint8)
    return data


def _meet(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop
