# SPDX-License-Identifier: Apache-2.0
"""Write a save file of GTKWave.

A line ``@FLAGS`` holds for the traces after it; a bit of the flags is a format or the begin or end
of a group, whose title follows a ``-``. The line that begins with ``*`` has the zoom, the cursor
and the 26 named markers. GTKWave's own documentation: https://gtkwave.github.io/gtkwave/
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from atoll.diagnostics.shown import printable
from atoll_sim.waves.marks import Mark
from atoll_sim.waves.signals import Group, Shown, Signal

RIGHT, BLANK, GROUP_BEGIN, GROUP_END = 0x20, 0x200, 0x800000, 0x1000000
FORMATS = {Shown.BIT: 0x8, Shown.HEX: 0x2, Shown.DECIMAL: 0x4, Shown.TEXT: 0x800}
MARKERS = 26
WINDOW = 1000
"""Pixels of the window's waveforms, about."""


def gtkwave_text(
    dump: Path, groups: Iterable[Group], marks: Sequence[Mark], times: tuple[int, int]
) -> str:
    """Return a save file that shows `groups`, with the first 26 marks as named markers.

    Args:
        dump: the waveform; only its name is used, so that the files can move together.
        groups: what to show, from top to bottom.
        marks: in order.
        times: first and last picosecond to show.
    """
    named = marks[:MARKERS]
    places = [mark.time for mark in named] + [-1] * (MARKERS - len(named))
    zoom = -math.log2(max(times[1] - times[0], WINDOW) / WINDOW)
    lines = [
        "[*] Written by Atoll",
        f'[dumpfile] "{printable(dump.name)}"',
        f"[timestart] {times[0]}",
        f"*{zoom:.6f} -1 {' '.join(map(str, places))}",
        *(f"[markername] {chr(ord('A') + index)}{mark.name}" for index, mark in enumerate(named)),
        "[signals_width] 240",
    ]
    for group in groups:
        lines += [f"@{GROUP_BEGIN | BLANK:x}", f"-{group.title}"]
        lines += [line for signal in group.signals for line in _trace(signal)]
        lines += [f"@{GROUP_END | BLANK:x}", f"-{group.title}"]
    return "".join(f"{line}\n" for line in lines)


def _trace(signal: Signal) -> Iterator[str]:
    yield f"@{FORMATS[signal.shown] | RIGHT:x}"
    yield f"+{{{signal.label}}} {signal.indexed}" if signal.label else signal.indexed
