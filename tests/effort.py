# SPDX-License-Identifier: Apache-2.0
"""How many cases random campaigns draw: all of them, or a tenth in `make quick`.

`make quick` sets ATOLL_QUICK=1. Shares that a test asserts are of the cases that it draws.
"""

import os
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest

QUICK = os.environ.get("ATOLL_QUICK") == "1"
COUNTS = pytest.StashKey[Counter[str]]()
"""Where pytest counts the cases of operators; without it, they are tried."""
_PART = 10
_SHARE = 5
_FEW, _MANY = 10, 50


def cases(count: int, least: int = 1) -> int:
    """Return how many of `count` cases a campaign draws, at least `least`."""
    return max(least, count // _PART) if QUICK else count


def seeded(count: int, first: int = 0) -> Callable[[Callable[..., None]], Any]:
    """Run a test with each of `count` seeds, in `make test` with the `first` fifth only.

    Some are tried in turn, since a test of its own for each takes longer.
    """

    def decorated(test: Callable[..., None]) -> Any:
        @wraps(test)
        def each(seed: range, **given: Any) -> None:
            for number in seed:
                try:
                    test(seed=number, **given)
                except BaseException as fault:
                    fault.add_note(f"seed {number}")
                    raise

        few = first or -(-count // _SHARE)
        return pytest.mark.parametrize("seed", _groups(cases(count), cases(few)))(each)

    return decorated


def _groups(count: int, first: int) -> list[Any]:
    few = [_group(start, min(start + _FEW, first, count)) for start in range(0, first, _FEW)]
    slow = pytest.mark.slow
    rest = range(first, count, _MANY)
    return [*few, *(_group(start, min(start + _MANY, count), slow) for start in rest)]


def _group(start: int, end: int, *marks: pytest.MarkDecorator) -> Any:
    return pytest.param(range(start, end), id=f"{start}-{end - 1}", marks=marks)
