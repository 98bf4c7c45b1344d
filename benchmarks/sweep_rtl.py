# SPDX-License-Identifier: Apache-2.0
"""How far estimates of 60 chips are from RTL, and how often a cluster builds each model for that.

Run as ``python -m benchmarks.sweep_rtl [--workers N]``. A sweep of 60 points
(engine, latency of the flash, a pool that is short or not, an operator on the core) runs all of
them in RTL, by workers that were started beforehand. Each has an empty cache of its own, as on
machines of their own, so models that two of them need come from the cluster. A hook in the workers
counts calls of Verilator. The status is 1 if there are more than models, or a run is not right.
"""

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table
from tests.counted_builds import CountedBuilds
from tests.slow_links import scheduler, worker

import atoll
from atoll.cli.output import as_command
from benchmarks.shown import console
from benchmarks.sweeps import DIGITS

NPU = "devices.npu.params"


def _engine(input_lanes: int, output_lanes: int, requantisers: int, port: int) -> dict[str, int]:
    """Return an engine whose port is as wide as its memory: so many bytes."""
    return {
        f"{NPU}.input_lanes": input_lanes,
        f"{NPU}.output_lanes": output_lanes,
        f"{NPU}.requantisers": requantisers,
        f"{NPU}.data_bytes": port,
        "memories.sram.width": port,
    }


AXES: Mapping[str, Any] = {
    "engine": {
        "settings": {
            "4x4": _engine(4, 4, 4, 8),
            "4x8": _engine(4, 8, 8, 8),
            "8x8": _engine(8, 8, 8, 8),
            "8x8, 2 requantisers": _engine(8, 8, 2, 8),
            "16x16": _engine(16, 16, 16, 16),
        }
    },
    "memories.flash.read_latency": [1, 4],
    "pools.shared.size": ["4 KiB", "64 KiB"],
    "placement": {
        "settings": {
            "usual": {"build.place": "{}"},
            "add on the core": {"build.place": "{add_3: cpu}"},
            "last layer on the core": {"build.place": "{fully_connected_8: cpu}"},
        }
    },
}
POINTS = 60


@dataclass(frozen=True, slots=True)
class Swept:
    """A sweep by a cluster.

    Attributes:
        rows: its points.
        builds: of each worker.
        models: that the caches of all workers have in the end.
    """

    rows: Sequence[Mapping[str, Any]]
    builds: Sequence[int]
    models: int


def sweep(workers: int, folder: Path) -> Swept:
    """Run all points in RTL."""
    asked = {
        "sweep": "rtl",
        "version": 1,
        "soc": "lagoon",
        "networks": [str(DIGITS)],
        "axes": AXES,
        "stages": {"plan": "all", "rtl": POINTS},
    }
    builds = CountedBuilds(folder / "watched")
    caches = [folder / f"cache{number}" for number in range(workers)]
    with scheduler() as (address, _), ExitStack() as ends:
        for cache in caches:
            cache.mkdir()
            environment = builds.environment(cache)
            ends.enter_context(worker(address, folder=cache, environment=environment))
        found = atoll.sweep(asked, folder / "out", scheduler=address)
    models = {path.parent.name for path in folder.glob("cache*/chips/*/complete.json")}
    return Swept(found.rows(), [*map(builds.caches().count, caches)], len(models))


def errors(rows: Iterable[Mapping[str, Any]]) -> list[float]:
    """Return how far estimates are off, in percent of the cycles in RTL."""
    return [100 * (row["cycles"] / row["rtl.cycles"] - 1) for row in rows]


def error_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return errors of estimates by engine, by placement, and of all."""
    groups = {"all": rows}
    for axis in ("engine", "placement"):
        for name in AXES[axis]["settings"]:
            groups[f"{axis} {name}"] = [row for row in rows if row[axis] == name]
    shown = Table("points", "number", "median error", "worst error")
    for name, group in groups.items():
        if off := errors(group):
            middle = median(map(abs, off))
            shown.add_row(name, str(len(off)), f"{middle:.2f} %", f"{max(off, key=abs):+.2f} %")
    return shown


def main(arguments: Sequence[str]) -> int:
    """Print builds, and errors of estimates; 1 if a model is built twice or a run is not right."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    asked = parser.parse_args(arguments)
    begin = time.monotonic()
    with TemporaryDirectory() as folder:
        swept = sweep(asked.workers, Path(folder))
    seconds = time.monotonic() - begin
    right = [row for row in swept.rows if row["rtl.status"] == "ok"]
    for row in swept.rows:
        if row not in right:
            print(f"point {row['point']}: {row['status']}, {row['rtl.status']}: {row['fault']}")
    if right:
        console().print(error_table(right))
    builds = f"{sum(swept.builds)} builds ({', '.join(map(str, swept.builds))} by each worker)"
    print(f"{len(right)} of {POINTS} points ran right, in {seconds:.0f} s")
    print(f"{swept.models} models, {builds}")
    return 0 if len(right) == POINTS and sum(swept.builds) <= swept.models else 1


if __name__ == "__main__":
    sys.exit(as_command(lambda: main(sys.argv[1:])))
