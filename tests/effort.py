"""How many cases random campaigns draw: all of them, or a tenth in `make quick`.

`make quick` sets ATOLL_QUICK=1. Shares that a test asserts are of the cases that it draws.
"""

import os

QUICK = os.environ.get("ATOLL_QUICK") == "1"
_PART = 10


def cases(count: int, least: int = 1) -> int:
    """Return how many of `count` cases a campaign draws, at least `least`."""
    return max(least, count // _PART) if QUICK else count
