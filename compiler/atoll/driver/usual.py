# SPDX-License-Identifier: Apache-2.0
"""The order in which the compiler tries candidates.

1. The network as it is: with patterns fused and operators spread before without, each first with
   overlaps that cost no time and then with those that do. The first that fits ends this.
2. If none fits, or only with overlaps that cost time: in stripes, the cheapest by estimates first.
3. If accelerators of the best so far touch slow memory: the same with rows copied from there.
4. If a core of another kind is surely faster: with operators there, the stripes that fit, else all
   this again.
5. The best, uncut, with all on one of several accelerators that this one can run of them.
6. The best with constants streamed, if a DMA engine brings them; if nothing fits, the network with
   all constants streamed.
7. If nothing fits, operators on other devices, whose pools may have room.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from atoll.driver.candidate import Candidate, StreamPolicy
from atoll.driver.compiled import Compiled
from atoll.driver.elsewhere import on_one_accelerator, on_other_devices
from atoll.driver.search import Search
from atoll.driver.stripes import in_stripes
from atoll.driver.task import Task
from atoll.lower.overlapping import Overlapping
from atoll.place.faster_cores import has_unlike_cores
from atoll.stream.choose import Streaming
from atoll.stream.streams import may_stream
from atoll.tile.far_pools import far_pools

SHARES = (1.0, 0.75, 0.5, 0.35)
"""Of a pool's room, what streams may take besides operands; each is tried until a plan is found."""


def propose(search: Search) -> Iterator[Candidate]:
    """Propose candidates in the order that this module states."""
    task = search.task
    first = Candidate(overlap=task.overlaps[0], tiling=task.tiling)
    yield from _near(search, first)
    if has_unlike_cores(task.soc) and search.moves_operators():
        yield from _on_unlike_cores(search, replace(first, unlike=True))
    yield from on_one_accelerator(search)
    if streams_wanted(task):
        yield from _propose_streams(search, first)
    if search.plan is None:
        yield from on_other_devices(search, first)


def _on_unlike_cores(search: Search, base: Candidate) -> Iterator[Candidate]:
    """Propose stripes that fit with operators on other cores, else all that is tried without."""
    if search.best and search.best.candidate.tiling is not base.tiling:
        yield replace(search.best.candidate, unlike=True)
        if search.last.plan:
            return
    yield from _near(search, base)


def _near(search: Search, base: Candidate) -> Iterator[Candidate]:
    """Propose a candidate, then what keeps accelerators to near memory."""
    yield from _propose_fitting(search, base)
    best = search.best_of(lambda each: each.unlike == base.unlike)
    if best and best.plan and search.task.may_cut and (far := _far_pools(best.plan)):
        yield from _propose_fitting(search, replace(base, spared=far))


def _propose_fitting(search: Search, base: Candidate) -> Iterator[Candidate]:
    """Propose the network as it is, then in stripes if that fits only at a price or not at all."""
    free = search.task.overlaps[0]
    yield from as_it_is(search, base)
    if search.last.plan and search.last.candidate.overlap != free:
        yield from as_it_is(search, base, overlaps=(free,))
    if refused := search.any_refusal_of(base):
        yield from in_stripes(search, base, refused)


def as_it_is(
    search: Search,
    base: Candidate,
    *,
    overlaps: Sequence[Overlapping] = (),
    spreads: Sequence[bool] = (True, False),
) -> Iterator[Candidate]:
    """Propose the variants of a candidate, the one that is liked best first, until one fits."""
    task, whole = search.task, base.tiling is None
    fusions = (True, False) if whole and task.fused is not task.network else (False,)
    spreads = spreads if whole and task.may_spread else (False,)
    for fused, spread in product(fusions, spreads):
        for overlap in overlaps or task.overlaps:
            yield replace(base, fused=fused, spread=spread, overlap=overlap)
            result = search.last.result
            if isinstance(result, Compiled):
                return
            if not result.crowded:
                break


def _propose_streams(search: Search, first: Candidate) -> Iterator[Candidate]:
    """Propose the best with streams; without a best, the network with all that can be streamed."""
    best, plan = search.best, search.plan
    if plan and not weigh(search.task, plan).chosen:
        return
    for share in SHARES:
        streams = _policy(search.task, plan, share)
        yield from as_it_is(search, replace(best.candidate if best else first, streams=streams))
        if search.last.plan:
            return


def weigh(task: Task, plan: Compiled) -> Streaming:
    """Return what had better be streamed of a network with a plan."""
    return _policy(task, plan, SHARES[0]).choose(plan.graph, task.soc)


def _policy(task: Task, plan: Compiled | None, share: float) -> StreamPolicy:
    """Return how constants are streamed of a network with a plan, or of one that has none."""
    pools = plan.homes if plan else {}
    every = task.asked.stream == "always" or not pools
    return StreamPolicy(share=share, pools=pools, every=every, needed=plan is None)


def streams_wanted(task: Task) -> bool:
    """Tell whether constants may be streamed, and a DMA engine brings some."""
    return task.asked.stream != "never" and task.options.accelerators and may_stream(task.soc)


def _far_pools(plan: Compiled) -> frozenset[str]:
    """Return the slow pools in which accelerators touch activations."""
    places, module = plan.plan.placements, plan.module
    touched = (
        (step.device, places[name].pool)
        for step in module.entry.steps
        for name in map(module.entry.storage, (*step.reads, *step.writes))
        if name in places
    )
    return far_pools(touched, plan.soc)
