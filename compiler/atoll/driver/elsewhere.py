# SPDX-License-Identifier: Apache-2.0
"""Other devices than those that are fastest by themselves."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.driver.candidate import Candidate
from atoll.driver.search import Search
from atoll.place.other_devices import other_devices
from atoll.place.partition import runners_of
from atoll.place.requests import check_requests


def on_one_accelerator(search: Search) -> Iterator[Candidate]:
    """Propose the best so far with all on one of several accelerators that it can run of them.

    What it saves to start one less, and the host to copy between them, only a whole plan shows.
    """
    task, best = search.task, search.best
    if len(task.soc.npus) < 2 or not (best and best.plan) or best.candidate.tiling is not None:
        return
    npus = [each.name for each in task.soc.npus]
    where = {op.name: op.device for op in best.plan.graph.operators if op.device in npus}
    if not where:
        return
    network = task.fused if best.candidate.fused else task.network
    requests = check_requests(task.options.requests, network, task.soc)
    runners = runners_of(network, task.soc, requests, accelerators=True)
    for npu in npus:
        able = (name for name in where if npu in runners.get(name, ()))
        devices = {**where, **dict.fromkeys(able, npu)}
        if devices != where:
            yield replace(best.candidate, devices=tuple(devices.items()))


def on_other_devices(search: Search, base: Candidate) -> Iterator[Candidate]:
    """Propose a candidate that was refused with other devices, until one fits.

    Each choice is tried with the overlaps that save most, then with those that cost no time.
    Nothing is proposed unless it was refused for want of room.
    """
    task, refused = search.task, search.refusal_of(base)
    if refused is None or not (refused.crowded or refused.lacks):
        return
    requests = check_requests(task.options.requests, task.network, task.soc)
    choices = other_devices(
        task.network, task.soc, requests, accelerators=task.options.accelerators
    )
    search.all_devices = False  # as it stays if the search ends before
    for devices in choices.listed:
        yield replace(base, devices=devices, overlap=task.overlaps[-1])
        if search.last.plan:
            faster = (replace(search.last.candidate, overlap=each) for each in task.overlaps[:-1])
            yield from search.until_one_fits(faster)
            return
    search.all_devices = choices.complete
