# SPDX-License-Identifier: Apache-2.0
"""Write a command file of Surfer.

Its commands are those of Surfer's prompt: https://docs.surfer-project.org/book/commands/
A format is set for the focused item; `item_focus` takes the item's number, written with the
letters a to p as hexadecimal digits, and its name.
"""

from collections.abc import Iterable, Iterator, Sequence

from atoll_sim.waves.marks import Mark
from atoll_sim.waves.signals import Group, Shown, Signal

FORMATS = {Shown.DECIMAL: "Unsigned", Shown.TEXT: "ASCII"}
MARKERS = 254


def surfer_text(groups: Iterable[Group], marks: Sequence[Mark]) -> str:
    """Return commands that show `groups` under dividers, and set the first marks as markers.

    Args:
        groups: what to show, from top to bottom.
        marks: in order, in picoseconds; their names have no spaces.
    """
    lines = ["# Written by Atoll"]
    items = 0
    for group in groups:
        lines.append(f"divider_add {group.title.replace(' ', '_')}")
        items += 1
        for signal in group.signals:
            lines.append(f"variable_add {signal.path}")
            items += 1
            lines += _format_commands(signal, items)
    lines += (f"marker_set {mark.name} {mark.time}" for mark in marks[:MARKERS])
    lines.append("zoom_fit")
    return "".join(f"{line}\n" for line in lines)


def _format_commands(signal: Signal, items: int) -> Iterator[str]:
    """Yield the commands that set the format of the last of `items` items."""
    if signal.shown in FORMATS:
        yield f"item_focus {letters(items - 1, items)}_{signal.path}"
        yield f"item_set_format {FORMATS[signal.shown]}"
        yield "item_unfocus"


def letters(index: int, count: int) -> str:
    """Write the number of one of `count` items as Surfer does, ``bd`` for 19 of 30."""
    width = (count.bit_length() + 3) // 4
    return "".join(chr(ord("a") + int(digit, 16)) for digit in f"{index:0{width}x}")
