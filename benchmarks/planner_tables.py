# SPDX-License-Identifier: Apache-2.0
"""What the planner's benchmark measures, and the tables of it for a terminal."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """One instance packed into its capacity.

    Attributes:
        used: bytes, None if no plan was found.
        seconds: of processor time, compiling apart.
        peer_used, peer_seconds: of minimalloc at the same capacity, None without it.
    """

    name: str
    buffers: int
    capacity: int
    bound: int
    used: int | None
    seconds: float
    peer_used: int | None = None
    peer_seconds: float | None = None

    @property
    def ratio(self) -> float | None:
        """Return peer's time / ours."""
        return None if self.peer_seconds is None else self.peer_seconds / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Bytes used / optimum of one algorithm on random cuts, median and worst over the seeds."""

    buffers: int
    pinwheels: float
    algorithm: str
    median: float
    worst: float


def instance_table(instances: Sequence[Instance]) -> Table:
    """Lay the instances out for a terminal."""
    table = Table(title="instances at their capacity", title_justify="left", box=None)
    headings = ("buffers", "bound", "used", "CPU s", "minimalloc used", "CPU s", "ratio")
    for heading in ("instance", *headings):
        table.add_column(heading, justify="left" if heading == "instance" else "right")
    for each in instances:
        peer = ("", "")
        if each.peer_seconds is not None:
            peer = (_bytes(each.peer_used), f"{each.peer_seconds:.2f}")
        table.add_row(
            each.name,
            str(each.buffers),
            f"{each.bound:,}",
            _bytes(each.used),
            f"{each.seconds:.2f}",
            *peer,
            "" if each.ratio is None else f"{each.ratio:.1f}",
        )
    ours = sum(each.seconds for each in instances)
    theirs = sum(each.peer_seconds or 0.0 for each in instances)
    ratio = ("", f"{theirs:.2f}", f"{theirs / ours:.1f}") if theirs else ()
    table.add_row("all", "", "", "", f"{ours:.2f}", *ratio)
    return table


def _bytes(used: int | None) -> str:
    return "none" if used is None else f"{used:,}"


def gap_table(found: Sequence[Gap]) -> Table:
    """Lay the gaps out for a terminal: median and worst of used / optimum."""
    title = "random cuts (buffers, pinwheels): used / optimum, median to worst of 5"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("cuts")
    names = tuple(dict.fromkeys(gap.algorithm for gap in found))
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    cells = {(gap.buffers, gap.pinwheels, gap.algorithm): gap for gap in found}
    for buffers, pinwheels in dict.fromkeys((gap.buffers, gap.pinwheels) for gap in found):
        row = [cells[buffers, pinwheels, name] for name in names]
        shown = (f"{gap.median:.2f}-{gap.worst:.2f}" for gap in row)
        table.add_row(f"{buffers}, {pinwheels:.0%}", *shown)
    return table
