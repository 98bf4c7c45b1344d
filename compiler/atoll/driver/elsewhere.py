# SPDX-License-Identifier: Apache-2.0
"""Other devices for a network that has no room on those that are fastest."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.driver.candidate import Candidate
from atoll.driver.search import Search
from atoll.place.other_devices import other_devices
from atoll.place.requests import check_requests


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
