"""The addresses that a built chip takes when its simulation begins."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from atoll.resolve.soc import ResolvedSoc
from atoll_sim.chip.plan import plan_chip

MAP = "map.txt"
NOTHING = (1, 0)
"""First and last byte of a window in which there is none."""

Window = tuple[int, int]


def write_map(
    soc: ResolvedSoc, folder: Path, windows: Mapping[tuple[str, int], Window] | None = None
) -> tuple[str, ...]:
    """Write the memory map of `soc`; return what the model wants to be told on its command line.

    Args:
        soc: the chip.
        folder: takes the file `MAP`.
        windows: first and last byte of windows that are wrong on purpose, by strap and number.
    """
    lines = map_lines(soc, windows or {})
    (folder / MAP).write_text("".join(f"{line}\n" for line in lines))
    return ("--map", str((folder / MAP).absolute()))


def map_lines(soc: ResolvedSoc, windows: Mapping[tuple[str, int], Window]) -> Iterable[str]:
    """Yield the lines of the file; model/memory_map.h has their form."""
    chip = plan_chip(soc)
    yield f"half_period {chip.half_period}"
    for strap in chip.straps:
        spans = [(span.start, span.stop - 1) if span else NOTHING for span in strap.spans]
        spans += [NOTHING] * (strap.count - len(spans))
        for number, right in enumerate(spans):
            first, last = windows.get((strap.signal, number), right)
            yield f"{strap.signal} {number} {first:x} {last:x}"
