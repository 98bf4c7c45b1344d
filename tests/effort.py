# SPDX-License-Identifier: Apache-2.0
"""How much `make test` tries of what `make test-all` tries: campaigns draw a tenth of the cases.

The target sets ATOLL_EFFORT, which is ``gate`` where nothing is said. Equal seeds draw equal cases
whatever the share is. Shares that a test asserts are of the cases that it draws.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

_EFFORT = os.environ.get("ATOLL_EFFORT", "gate")
PART = {"quick": 10, "gate": 10, "all": 1}[_EFFORT]
QUICK = _EFFORT == "quick"
COUNTS = pytest.StashKey[Counter[str]]()
"""Where pytest counts the cases of operators; without it, they are tried."""
_SHARE = 20
_QUICK = 5
_FEW, _MANY = 10, 50


def cases(count: int, least: int = 1) -> int:
    """Return how many of `count` cases a campaign draws, at least `least`."""
    return min(count, max(least, count // PART))


def seeded(count: int, first: int = 0) -> Callable[[Callable[..., None]], Any]:
    """Run a test with each of `count` seeds, in `make test` with the first twentieth of them.

    There are `first` of them, if that is given. Some are tried in turn, since a test of its own for
    each takes longer.
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
        if QUICK:
            few = max(1, few // _QUICK)
        return pytest.mark.parametrize("seed", _groups(count, few))(each)

    return decorated


def in_gate(values: Iterable[Any], *places: int) -> list[Any]:
    """Return values to parametrize with, of which `make test` runs those at `places` only.

    The others repeat the point of these with another chip, tool or size.
    """
    given = list(values)
    kept = {range(len(given))[place] for place in places}
    return [each if at in kept else _as_slow(each) for at, each in enumerate(given)]


def _as_slow(value: Any) -> Any:
    if isinstance(value, type(pytest.param())):
        return value._replace(marks=(*value.marks, pytest.mark.slow))
    values = value if isinstance(value, tuple) else (value,)
    return pytest.param(*values, marks=pytest.mark.slow)


def _groups(count: int, first: int) -> list[Any]:
    few = [_group(start, min(start + _FEW, first, count)) for start in range(0, first, _FEW)]
    slow = pytest.mark.slow
    rest = range(first, count, _MANY)
    return [*few, *(_group(start, min(start + _MANY, count), slow) for start in rest)]


def _group(start: int, end: int, *marks: pytest.MarkDecorator) -> Any:
    return pytest.param(range(start, end), id=f"{start}-{end - 1}", marks=marks)


def outcomes_of(trial: Callable[..., str], seeds: range, *given: Any) -> Counter[str]:
    """Count what comes of a trial with each of some seeds; a fault notes its seed."""
    outcomes: Counter[str] = Counter()
    for seed in seeds:
        try:
            outcomes[trial(seed, *given)] += 1
        except BaseException as fault:
            fault.add_note(f"seed {seed}")
            raise
    return outcomes
