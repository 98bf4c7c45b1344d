# SPDX-License-Identifier: Apache-2.0
"""How long an input may take, and how much memory: what fuzzing holds."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

SECONDS = 10.0
"""Processor time that one input may take, compilation included."""
MOST_KIB = 2 * 2**20


class OverLimitError(AssertionError):
    """An input took too long or too much memory."""


@contextmanager
def within_limits(clock: Callable[[], float] = process_time) -> Iterator[None]:
    """Hold what the block does to the limits; what this process took before does not count.

    Raises:
        OverLimitError: it took longer, or more.
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    held, begin = memory("VmRSS"), clock()
    yield
    if (took := clock() - begin) > SECONDS:
        raise OverLimitError(f"it took {took:.0f} s")
    if (more := memory("VmHWM") - held) > MOST_KIB:
        raise OverLimitError(f"it took {more / 2**20:.1f} GiB")


def memory(field: str) -> int:
    """Return what Linux says of this process, KiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(f"{field}:"))
    return int(found.split()[1])
