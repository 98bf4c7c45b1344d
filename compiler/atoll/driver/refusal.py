# SPDX-License-Identifier: Apache-2.0
"""Say all that a network needs which does not fit, as it is or cut."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from atoll.description.build import Build
from atoll.diagnostics.errors import AtollError, Refusal, attempt
from atoll.diagnostics.units import format_size
from atoll.driver.candidate import Candidate, Infeasible
from atoll.driver.search import Search
from atoll.driver.stages import compile_candidate
from atoll.driver.stripes import STEPS, Cuts, cuts_of, in_stripes
from atoll.driver.task import Task
from atoll.driver.usual import as_it_is
from atoll.resolve.remedy.whole_need import with_whole_need
from atoll.resolve.soc import Pool, ResolvedSoc

_NO_ROOM = ("E060", "E061", "E062")


def refusal_of(search: Search) -> AtollError:
    """Return an error that names all that a network needs, and which devices were tried."""
    error = _refusal_of(search)
    if search.all_devices is None:
        return error
    tried = max(1, len({each.candidate.devices for each in search.trials} - {()}))
    some = f"; of the assignments of operators to devices, {tried} were tried, not all"
    return type(error).all(
        replace(
            fault,
            message=fault.message + some * (not search.all_devices),
            tried=(tried, search.all_devices),
        )
        if fault.code in _NO_ROOM
        else fault
        for fault in error.faults
    )


def _refusal_of(search: Search) -> AtollError:
    """Return an error that names all that a network needs, as it is or cut."""
    task = search.task
    plain = Candidate(overlap=task.overlaps[0], tiling=task.tiling)
    results = (each.result for each in search.trials)
    any_refused = next(each for each in results if isinstance(each, Infeasible))
    refused = search.refusal_of(plain) or any_refused
    whole = with_whole_need(refused.error, task.soc, partial(_bytes_used, task, plain, None))
    smaller = _with_smallest(search, plain, refused, whole)
    if smaller is None:
        return _with_uncut_reason(whole, task.asked)
    return with_whole_need(smaller, task.soc, partial(_bytes_used, task, plain, refused))


def _bytes_used(
    task: Task, plain: Candidate, refused: Infeasible | None, chip: ResolvedSoc
) -> Mapping[str, int] | Refusal:
    """Return the bytes that a network uses of each pool of a chip, or why it does not fit.

    As it is, or in stripes because it was refused elsewhere. That counts other models' constants
    and the heap.
    """
    there = attempt(partial(task.on, chip))
    if not isinstance(there, Task):
        return there
    search = Search(there)
    whole = as_it_is(search, plain, spreads=(False,))
    search.run(in_stripes(search, plain, refused) if refused else whole)
    if search.plan:
        plan = search.plan.plan
        pools = plan.problem.pools
        return {f"pools.{each.name}.size": plan.use[each.name].used + each.beside for each in pools}
    found = refused or search.refusal_of(plain)
    assert found is not None
    return found.error


def _with_uncut_reason(error: AtollError, asked: Build) -> AtollError:
    """Return an error that also says what keeps a network that does not fit from being cut."""
    request = "'tile: never'" if asked.tile == "never" else "'cuts'" if asked.cuts else ""
    if not request or not any(fault.wants for fault in error.faults):
        return error
    why = f"; {request} of the build options keeps it from being cut{' further' * bool(asked.cuts)}"
    return type(error).all(
        replace(fault, message=fault.message + why) if fault.wants else fault
        for fault in error.faults
    )


def _with_smallest(
    search: Search, plain: Candidate, refused: Infeasible, whole: AtollError
) -> Refusal | None:
    """Return an error that names the smallest pool with which a network fits if it is cut.

    None if it needs no less then than as a `whole`.
    """
    cuts = cuts_of(search.task, plain, refused)
    if cuts is None:
        return None
    key = f"pools.{cuts.pool.name}.size"
    size = min(filter(None, _needs(search, cuts, key)), default=None)
    if size is None or size >= whole.wants.get(key, 0):
        return None
    made = type(refused.error).all(
        replace(
            fault,
            message=f"{fault.message}; cut into stripes of rows, it needs {format_size(size)}",
            wants=((key, size),),
        )
        for fault in refused.error.faults
    )
    assert isinstance(made, Refusal)
    return made


def _needs(search: Search, cuts: Cuts, key: str) -> Iterator[int]:
    """Yield the bytes of the pool that cuts need which were refused, 0 where nobody knows."""
    for cut, room in cuts.smallest():
        trial = search.trial_of(cut)
        result = trial.result if trial else compile_candidate(search.task, cut)
        if isinstance(result, Infeasible):
            yield _need(result, key) or _need_of(search.task, cuts, cut, room, key)


def _need(refused: Infeasible, key: str) -> int:
    """Return the bytes of the pool with which all would fit, 0 if that is not known."""
    faults = (fault for fault in refused.error.faults if fault.code == "E062")
    wants = [want for fault in faults for want in fault.wants]
    return wants[0][1] if len(wants) == 1 and wants[0][0] == key else 0


def _need_of(task: Task, cuts: Cuts, cut: Candidate, room: int, key: str) -> int:
    """Return the bytes of the pool that some cuts need which have tensors larger than that."""
    pool = cuts.pool
    for step in STEPS:
        size = max(1, int(room * step) - cuts.others()) + pool.region.size - pool.room
        chip = _with_size(cut.chip(task.soc), pool, size)
        result = compile_candidate(replace(task, soc=chip), cut)
        if not isinstance(result, Infeasible):
            return size
        if need := _need(result, key):
            return need
    return 0


def _with_size(soc: ResolvedSoc, pool: Pool, size: int) -> ResolvedSoc:
    resized = replace(pool, region=replace(pool.region, size=size))
    pools = (resized if each.name == pool.name else each for each in soc.pools)
    return replace(soc, pools=tuple(pools))
