# SPDX-License-Identifier: Apache-2.0
"""How near the front that a search finds in a large space is to one that is known.

Run as ``python -m benchmarks.sweep_fronts [--models FOLDER] [--method M ...] [--trials N]
[--seeds N ...] [--workers N]``. `SPACE` has more than a million variants of lagoon, and `SUBSPACE`,
about 20,000 of them, which are all computed. It spans each axis that trades cycles for area, and
includes the best value of all others, so its front is near to that of the whole space. Each method
then searches the whole space, in so many trials.

Compared are hypervolumes: the area that the points dominate in the plane of the two objectives, up
to a reference point. This lies beyond the worst cycles and the worst area of the front of the
subspace, by a tenth of what lies between its ends. It is the same for all. A search may find points
outside the subspace, and so have a share above 1; the last share is of all points found by anybody,
and never above 1. As many random points show what the methods are worth. The status is 1 if a
method has less than 97 % of the hypervolume of the subspace.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rich.table import Table

import atoll
from atoll.cli.output import as_command
from benchmarks.shown import console
from benchmarks.sweeps import networks

OBJECTIVES = ("cycles", "logic_um2")
NPU = "devices.npu.params"
SPACE: Mapping[str, Sequence[Any]] = {
    f"{NPU}.input_lanes": [4, 8],
    f"{NPU}.output_lanes": [4, 8, 16],
    f"{NPU}.data_bytes": [8, 16],
    f"{NPU}.vector": [1, 2],
    f"{NPU}.requantisers": [1, 2, 4, 8, 16],
    f"{NPU}.weight_rows": [16, 32, 64, 128, 256, 512, 1024],
    f"{NPU}.line_columns": [0, 16, 32, 64, 128, 256],
    "memories.sram.banks": [1, 2, 4],
    "memories.flash.width": [4, 8],
    "pools.shared.size": ["4 KiB", "8 KiB", "16 KiB", "32 KiB", "64 KiB"],
    "memories.flash.read_latency": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
}
SUBSPACE: Mapping[str, Sequence[Any]] = {
    **SPACE,
    f"{NPU}.requantisers": [1, 2, 4, 8],
    f"{NPU}.weight_rows": [16, 256, 1024],
    f"{NPU}.line_columns": [0, 16, 64, 256],
    "memories.sram.banks": [1, 4],
    "pools.shared.size": ["64 KiB"],
    "memories.flash.read_latency": [1, 2, 3, 4],
}
NEAR = 0.97
"""The least share of a known hypervolume that a search must reach."""

_BEYOND = 0.1
"""How far beyond the ends of a front the reference point lies, as a share of what is between."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Found:
    """What one sweep found.

    Attributes:
        points: how many were computed.
        space: how many there are.
        front: the objectives of those that no other one beats.
        seconds: that it took.
    """

    points: int
    space: int
    front: Sequence[Point]
    seconds: float


def sweep(
    axes: Mapping[str, Any], search: Mapping[str, Any], models: Path | None, workers: int | None
) -> Found:
    """Estimate the points that a search asks for."""
    asked = {
        "sweep": "fronts",
        "version": 1,
        "soc": "lagoon",
        "networks": networks(models),
        "axes": axes,
        "objectives": list(OBJECTIVES),
        "search": search,
        "stages": {"estimate": "all"},
    }
    begin = time.monotonic()
    found = atoll.sweep(asked, workers=workers)
    front = [(row[OBJECTIVES[0]], row[OBJECTIVES[1]]) for row in found.front()]
    return Found(found.computed, found.space, front, time.monotonic() - begin)


def reference_of(front: Sequence[Point]) -> Point:
    """Return the point up to which dominated areas count."""
    first, second = (
        max(values) + _BEYOND * (max(values) - min(values)) for values in zip(*front, strict=True)
    )
    return first, second


def hypervolume(points: Iterable[Point], reference: Point) -> float:
    """Return the area in which something is beaten by one of the points, up to a reference point.

    Less is better in both objectives. Points may beat each other; what lies beyond the reference
    point adds nothing.
    """
    area, lowest = 0.0, reference[1]
    for first, second in sorted(points):
        if first < reference[0] and second < lowest:
            area += (reference[0] - first) * (lowest - second)
            lowest = second
    return area


def main(arguments: Sequence[str]) -> int:
    """Print which share of a known hypervolume each search finds; 1 if it is too little."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="of MLPerf Tiny")
    parser.add_argument("--method", nargs="+", choices=["nsga2", "tpe"], default=["nsga2", "tpe"])
    parser.add_argument("--trials", type=int, default=2000, metavar="N")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1], metavar="N")
    parser.add_argument("--workers", type=int, metavar="N", help="0: in this process")
    asked = parser.parse_args(arguments)
    known = sweep(SUBSPACE, {"method": "grid"}, asked.models, asked.workers)
    searches = {
        (method, seed): sweep(
            SPACE,
            {"method": method, "points": asked.trials, "seed": seed},
            asked.models,
            asked.workers,
        )
        for method, seed in product((*asked.method, "random"), asked.seeds)
    }
    reference = reference_of(known.front)
    whole = hypervolume(known.front, reference)
    fronts = [known.front, *(found.front for found in searches.values())]
    best = hypervolume((point for front in fronts for point in front), reference)
    heads = ("space", "computed", "front", "of subspace", "of all found", "seconds")
    shown = Table("search", "seed", *heads)
    near = True
    for (method, seed), found in {("all points", None): known, **searches}.items():
        volume = hypervolume(found.front, reference)
        near &= method == "random" or volume >= NEAR * whole
        shares = f"{volume / whole:.4f}", f"{volume / best:.4f}"
        counts = f"{found.space:,}", f"{found.points:,}", str(len(found.front))
        name = "" if seed is None else str(seed)
        shown.add_row(method, name, *counts, *shares, f"{found.seconds:.0f}")
    console().print(shown)
    return 0 if near else 1


if __name__ == "__main__":
    sys.exit(as_command(lambda: main(sys.argv[1:])))
