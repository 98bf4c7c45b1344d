# SPDX-License-Identifier: Apache-2.0
"""Faults in the windows of the firewalls."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from atoll_sim.chip.chip_parts import Master
from atoll_sim.chip.memory_map import NOTHING
from atoll_sim.chip.plan import plan_chip
from atoll_sim.mutate import plan
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.protocol.records import AccessKind

KINDS = {
    "readable": (AccessKind.READ, AccessKind.FETCH),
    "writable": (AccessKind.WRITE,),
}
STEPS = (-4096, -256, -16, -4, -1, 1, 4, 16, 256, 4096)
EVERYTHING = (0, 0xFFFF_FFFF)


def shrink_window(right: Right, random: Random) -> Mutant | None:
    """Cut a window so that it lacks some byte that the run touches."""
    found = _choose(right, random)
    if found is None:
        return None
    master, kind, index, window = found
    touched = [span for span in accessed_ranges(right, master, kind) if _inside(span, window)]
    if not touched:
        return None
    byte = random.choice(random.choice(touched))
    first, last = random.choice(((window.start, byte - 1), (byte + 1, window.stop - 1)))
    what = f"{_title(master, kind, window)} is {first:#010x}..{last:#010x}"
    return _mutant(right, master, kind, index, (first, last), what)


def move_window(right: Right, random: Random) -> Mutant | None:
    """Move a window a little."""
    found = _choose(right, random)
    if found is None:
        return None
    master, kind, index, window = found
    by = random.choice(STEPS)
    if window.start + by < 0 or window.stop + by > 2**32:
        return None
    span = (window.start + by, window.stop - 1 + by)
    what = f"{_title(master, kind, window)} is moved by {by} B"
    return _mutant(right, master, kind, index, span, what)


def close_window(right: Right, random: Random) -> Mutant | None:
    """Close a window."""
    found = _choose(right, random)
    if found is None:
        return None
    master, kind, index, window = found
    what = f"{_title(master, kind, window)} is closed"
    return _mutant(right, master, kind, index, NOTHING, what)


def open_firewalls(right: Right, random: Random) -> Mutant | None:
    """Open all firewalls of a chip on which a buffer is in a wrong pool."""
    wrong = plan.wrong_pool(right, random)
    if wrong is None:
        return None
    windows = {
        (_signal(master, kind), 0): EVERYTHING
        for master in plan_chip(right.compiled.soc).masters
        for kind in KINDS
    }
    return replace(wrong, windows=windows, sentence=f"{wrong.sentence}; the firewalls are open")


def accessed_ranges(right: Right, master: Master, kind: str) -> Sequence[range]:
    """Return the addresses that a device reads, or writes, in the right run."""
    return [span for each in KINDS[kind] for span in right.touched.get((master.name, each), ())]


def firewall_windows(right: Right) -> Iterator[tuple[Master, str, int, range]]:
    """Yield every window: whose, for what, its index and its span."""
    for master in plan_chip(right.compiled.soc).masters:
        for kind in KINDS:
            for index, window in enumerate(getattr(master, kind)):
                yield master, kind, index, window


def _choose(right: Right, random: Random) -> tuple[Master, str, int, range] | None:
    """Draw a window of a device that the run needs; registers are not recorded, so not theirs."""
    memories = right.compiled.soc.memories
    found = [
        each
        for each in firewall_windows(right)
        if any(m.origin <= each[3].start < m.end for m in memories)
        and accessed_ranges(right, each[0], each[1])
    ]
    return random.choice(found) if found else None


def _inside(span: range, window: range) -> bool:
    return window.start <= span.start and span.stop <= window.stop


def _title(master: Master, kind: str, window: range) -> str:
    return f"{kind} window {window.start:#010x}..{window.stop - 1:#010x} of {master.name}"


def _signal(master: Master, kind: str) -> str:
    return f"{master.signal}_{kind}"


def _mutant(
    right: Right, master: Master, kind: str, index: int, span: tuple[int, int], what: str
) -> Mutant:
    return Mutant(
        subject=master.name,
        sentence=what,
        built=right.compiled,
        judged=right.compiled,
        image=right.segments,
        windows={(_signal(master, kind), index): span},
    )
