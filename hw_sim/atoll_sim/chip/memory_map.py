# SPDX-License-Identifier: Apache-2.0
"""The addresses that a built chip takes when its simulation begins."""

from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path

from atoll.resolve.soc import ResolvedSoc
from atoll_sim.chip.chip_parts import Chip
from atoll_sim.chip.plan import plan_chip

MAP = "map.txt"
NOTHING = (1, 0)
"""First and last byte of a window in which there is none."""

Windows = Mapping[tuple[str, int], tuple[int, int]]
"""First and last byte of windows, by strap and number."""


def write_map(soc: ResolvedSoc, folder: Path, wrong: Windows | None = None) -> tuple[str, ...]:
    """Write the memory map of `soc`; return what the model wants to be told on its command line.

    Args:
        soc: the chip.
        folder: takes the file `MAP`, whose form model/memory_map.h describes.
        wrong: windows that are not those of `soc` on purpose.
    """
    chip = plan_chip(soc)
    windows = {**_windows(chip), **(wrong or {})}
    lines = [f"{clock.signal} {clock.half_period}" for clock in chip.clocks]
    lines += [f"{name} {n} {first:x} {last:x}" for (name, n), (first, last) in windows.items()]
    (folder / MAP).write_text("".join(f"{line}\n" for line in lines))
    return ("--map", str((folder / MAP).absolute()))


def windows_of(soc: ResolvedSoc) -> Windows:
    """Return all windows of a chip."""
    return _windows(plan_chip(soc))


def _windows(chip: Chip) -> Windows:
    return {
        (strap.signal, number): (span.start, span.stop - 1) if span else NOTHING
        for strap in chip.straps
        for number, span in zip_longest(range(strap.count), strap.spans)
    }
