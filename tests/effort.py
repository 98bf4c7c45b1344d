"""How many cases random campaigns draw: all of them, or a tenth in `make quick`.

`make quick` sets ATOLL_QUICK=1. Shares that a test asserts are of the cases that it draws.
"""

import os
from typing import Any

import pytest

QUICK = os.environ.get("ATOLL_QUICK") == "1"
_PART = 10


def cases(count: int, least: int = 1) -> int:
    """Return how many of `count` cases a campaign draws, at least `least`."""
    return max(least, count // _PART) if QUICK else count


def drawn(count: int, first: int = 60) -> list[Any]:
    """Return seeds of `count` cases: `make test` tries the first ones, `make test-all` the rest."""
    return [
        seed if seed < first else pytest.param(seed, marks=pytest.mark.slow)
        for seed in range(cases(count))
    ]
