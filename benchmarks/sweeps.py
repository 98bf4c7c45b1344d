# SPDX-License-Identifier: Apache-2.0
"""Points a second of a sweep by workers, and how much of a worker's work more of them keep.

Run as ``python -m benchmarks.sweeps [--models FOLDER] [--points N] [--workers N ...] [--stage S]
[--delay MS ...] [--namespaces] [--kill]``. Of a grid of 10,000 points (lanes, clock, size of a
pool, latency of the flash), so many are computed, drawn as a Latin hypercube where they are fewer:
for digits and, from ``--models``, two networks of MLPerf Tiny. With ``--delay``, scheduler, workers
and client are processes of their own, and what one sends to another takes so long. With
``--namespaces``, scheduler and workers also have a network namespace each (Linux, as root), and the
sweep is computed without any of this too. With ``--kill``, one of several workers that the sweep
starts itself is killed after half of the points. All tables must be the same bytes. Times are those
of the clock: measure on a machine that does nothing else.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.table import Table
from tests.namespaces import lack_of_namespaces
from tests.slow_links import Relay, slow_cluster

import atoll
from atoll.cli.output import as_command
from atoll_sweep import crew
from atoll_sweep.asker import Row
from benchmarks.shown import console

DIGITS = Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"
NETWORKS = ("kws_ref_model.tflite", "ad01_int8.tflite")
AXES = {
    "devices.npu.params.output_lanes": [4, 8],
    "pools.shared.size": {"from": "16 KiB", "to": "160 KiB", "step": "16 KiB"},
    "devices.npu.clock": {"from": "40 MHz", "to": "280 MHz", "step": "10 MHz"},
    "memories.flash.read_latency": {"from": 1, "to": 20, "step": 1},
}
POINTS = 10_000


def networks(models: Path | None) -> list[str]:
    """Return digits, and networks of MLPerf Tiny if there is a folder that has them."""
    return list(map(str, [DIGITS, *(models / name for name in NETWORKS if models)]))


def question(points: int, models: Path | None, stage: str) -> dict[str, Any]:
    """Return the sweep file of so many points."""
    search = {"method": "latin_hypercube", "points": points}
    return {
        "sweep": "benchmark",
        "version": 1,
        "soc": "lagoon",
        "networks": networks(models),
        "axes": AXES,
        "search": {"method": "grid"} if points >= POINTS else search,
        "stages": {stage: "all"},
    }


@dataclass(frozen=True, slots=True)
class Distance:
    """How far parts of a cluster are from each other.

    Attributes:
        delay: of each message, in milliseconds.
        apart: each is in a network namespace of its own.
    """

    delay: float
    apart: bool

    def __str__(self) -> str:
        return f"{self.delay:g} ms" + ", namespaces" * self.apart


def distances(delays: Sequence[float], *, apart: bool) -> list[Distance | None]:
    """Return where workers shall be; None is for those that the sweep starts itself."""
    if apart:
        return [None, *(Distance(delay, apart) for delay in delays or [0.0])]
    return [Distance(delay, apart) for delay in delays] or [None]


@contextmanager
def one_dies(after: int) -> Iterator[None]:
    """Have a worker of each sweep in the block killed when so many points are done."""
    real = crew.Cluster.ask

    def ask(self: crew.Cluster, points: Sequence[int], stage: str) -> Iterator[list[Row]]:
        first, *_ = self.client.run(os.getpid).values()
        done = 0
        for rows in real(self, points, stage):
            if done < after <= done + len(rows):
                os.kill(first, signal.SIGKILL)
            done += len(rows)
            yield rows
        assert done >= after, "it was not killed"

    crew.Cluster.ask = ask  # type: ignore[method-assign]
    try:
        yield
    finally:
        crew.Cluster.ask = real  # type: ignore[method-assign]


def measure(
    asked: dict[str, Any], workers: int, distance: Distance | None
) -> tuple[int, float, bytes]:
    """Return the points of a sweep, the seconds that it took, and the bytes of its table."""
    there: AbstractContextManager[Relay | None] = nullcontext()
    if distance:
        there = slow_cluster(workers, distance.delay / 1000, apart=distance.apart)
    with TemporaryDirectory() as folder, there as way:
        address = None if way is None else way.address
        begin = time.monotonic()
        found = atoll.sweep(asked, Path(folder) / "out", workers=workers, scheduler=address)
        seconds = time.monotonic() - begin
        return found.computed, seconds, (Path(folder) / "out" / "results.parquet").read_bytes()


def main(arguments: Sequence[str]) -> int:
    """Print points a second for each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", type=Path, metavar="FOLDER")
    parser.add_argument("--points", type=int, default=POINTS, metavar="N")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument(
        "--delay", type=float, nargs="+", default=[], metavar="MS", help="of each message"
    )
    parser.add_argument("--namespaces", action="store_true", help="of the network, for each part")
    parser.add_argument("--kill", action="store_true", help="a worker after half of the points")
    parser.add_argument("--stage", choices=["plan", "estimate"], default="plan")
    asked = parser.parse_args(arguments)
    if asked.namespaces and (why := lack_of_namespaces()):
        parser.error(f"no network namespace can be made: {why}")
    shown = Table("workers", "delay", "points", "seconds", "points a second", "efficiency")
    first: tuple[int, float, bytes] | None = None
    ways = distances(asked.delay, apart=asked.namespaces)
    for workers, distance in product(asked.workers, ways):
        asks = question(asked.points, asked.models, asked.stage)
        dies = asked.kill and workers > 1 and distance is None
        with one_dies(asked.points // 2) if dies else nullcontext():
            points, seconds, table = measure(asks, workers, distance)
        if first is None:
            first = workers, points / seconds, table
        assert table == first[2], "the table of other workers has other bytes"
        share = points / seconds / first[1] * first[0] / workers
        cells = f"{points:,}", f"{seconds:.1f}", f"{points / seconds:.1f}", f"{share:.2f}"
        shown.add_row(str(workers), str(distance or ""), *cells)
    console().print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(as_command(lambda: main(sys.argv[1:])))
