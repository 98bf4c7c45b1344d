# SPDX-License-Identifier: Apache-2.0
"""Work that threads share, and that an interruption ends at once."""

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from atoll.utils.children import end_all

Item = TypeVar("Item")
Result = TypeVar("Result")
PATIENCE = 0.05
"""Seconds between two attempts to end what threads run; one may just be starting a program."""


def side_by_side(
    act: Callable[[Item], Result], items: Iterable[Item], count: int
) -> Iterator[Result]:
    """Yield what `act` returns for each item, in their order; `count` threads share the work.

    After an error no further item is begun, and after Ctrl-C the programs that run are ended too.
    """
    with run_in_background(act, items, count) as results:
        yield from results


@contextmanager
def run_in_background(
    act: Callable[[Item], Result], items: Iterable[Item], count: int
) -> Iterator[Iterator[Result]]:
    """Let threads work as for `side_by_side` while the block runs; yield what they return."""
    workers = ThreadPoolExecutor(count)
    submitted = [workers.submit(act, item) for item in items]
    try:
        yield (each.result() for each in submitted)
    except KeyboardInterrupt:
        workers.shutdown(wait=False, cancel_futures=True)
        while not all(each.done() for each in submitted):
            end_all()
            time.sleep(PATIENCE)
        raise
    finally:
        workers.shutdown(cancel_futures=True)
