# SPDX-License-Identifier: Apache-2.0
"""Measure the memory planner: instances beside minimalloc, and gaps on random problems.

Run as ``python -m benchmarks.planner``; `make bench` does. Processor times of both planners
are taken in one run, one after the other.
"""

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from random import Random
from statistics import median

from atoll.cli.output import as_command
from atoll.diagnostics.errors import ToolchainError
from atoll.interchange.instance import POOL, load_instance
from atoll.memory.algorithms import PLANNERS
from atoll.memory.effort import Effort
from atoll.memory.problem import MemoryPlan
from atoll.memory.search_native import machine_code
from atoll.memory.solve import solve
from atoll.utils.children import start
from atoll.utils.scratch import temporary_folder
from benchmarks.planner_tables import Gap, Instance, gap_table, instance_table
from benchmarks.random_cuts import random_cuts
from benchmarks.shown import console

HEIGHT = 1 << 20
COUNTS = (25, 50, 100, 200, 400)
PINWHEELS = (0.0, 0.5, 1.0)
SEEDS = range(5)
NODES = 2_000_000
CUTS_EFFORT = Effort(nodes=100_000)
PEER_SECONDS = 120
MADE = (60, 80, 100, 120)
"""Buffers of the instances that are made where none are given."""
MADE_SLACK = 0.01


def main() -> int:
    """Measure and print tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--instances", type=Path, help="folder of NAME.CAPACITY.csv files; default: random cuts"
    )
    parser.add_argument("--minimalloc", type=Path, help="executable to run beside the planner")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    began = time.process_time()
    compiled = machine_code() is not None
    loading = time.process_time() - began
    with temporary_folder() as made:
        folder = arguments.instances or write_instances(made)
        paths = sorted(folder.glob("*.*.csv"))
        instances = [measure(path, arguments.minimalloc) for path in paths]
    found = list(gaps())
    if arguments.json:
        rows = {
            "instances": [asdict(each) for each in instances],
            "gaps": [asdict(each) for each in found],
        }
        print(
            json.dumps(
                {"kernel_seconds": round(loading, 3), "compiled": compiled, **rows}, indent=2
            )
        )
        return 0
    shown = console()
    state = (
        f"compiled or loaded in {loading:.2f} s" if compiled else "not compiled: in plain Python"
    )
    shown.print(f"exact search {state}")
    if instances:
        shown.print(instance_table(instances))
    shown.print(gap_table(found))
    return 0


def write_instances(folder: Path) -> Path:
    """Write random cuts into `folder` as instances with a little slack."""
    for count in MADE:
        problem = random_cuts(count, HEIGHT, PINWHEELS[1], Random(count), slack=MADE_SLACK)
        (pool,) = problem.pools
        with (folder / f"cuts-{count}.{pool.size}.csv").open("w", encoding="utf-8") as file:
            file.write("id,lower,upper,size\n")
            for buffer in problem.buffers:
                ((lower, upper),) = buffer.live
                file.write(f"{buffer.name},{lower},{upper},{buffer.size}\n")
    return folder


def measure(path: Path, minimalloc: Path | None) -> Instance:
    """Pack an instance into the capacity in its file's name."""
    capacity = int(path.name.split(".")[-2])
    problem = load_instance(path, capacity)
    began = time.process_time()
    answer = solve(problem, effort=Effort(nodes=NODES, enough=capacity))
    seconds = time.process_time() - began
    use = answer.use[POOL] if isinstance(answer, MemoryPlan) else None
    peer_used, peer_seconds = beside(minimalloc, path, capacity) if minimalloc else (None, None)
    return Instance(
        name=path.name,
        buffers=len(problem.buffers),
        capacity=capacity,
        bound=use.bound if use else 0,
        used=use.used if use else None,
        seconds=seconds,
        peer_used=peer_used,
        peer_seconds=peer_seconds,
    )


def beside(minimalloc: Path, path: Path, capacity: int) -> tuple[int | None, float]:
    """Run minimalloc for at most `PEER_SECONDS`.

    It leaves with status 1 and writes nothing if it finds no plan.

    Returns:
        The bytes that its plan uses, None without one, and its processor time.

    Raises:
        ToolchainError: E070; it does not start, or fails.
    """
    with temporary_folder() as folder:
        output = folder / "plan.csv"
        options = [f"--capacity={capacity}", f"--input={path}", f"--output={output}"]
        command = [str(minimalloc.resolve()), *options, f"--timeout={PEER_SECONDS}s"]
        try:
            with start(command) as child:
                _, said = child.communicate()
                status = child.wait()
                seconds = child.processor_seconds
        except OSError as fault:
            raise _failure(minimalloc, str(fault)) from fault
        if status not in (0, 1):
            raise _failure(minimalloc, said)
        if not output.exists():
            return None, seconds
        with output.open(newline="", encoding="utf-8") as file:
            ends = [int(row["offset"]) + int(row["size"]) for row in csv.DictReader(file)]
        return max(ends, default=0), seconds


def _failure(minimalloc: Path, said: str) -> ToolchainError:
    last = said.strip().splitlines()[-1:] or ["it said nothing"]
    return ToolchainError(
        "E070",
        f"{minimalloc} failed: {last[0]}",
        remedy="give the command-line program of google/minimalloc",
    )


def gaps() -> Iterator[Gap]:
    """Yield how far above the optimum every algorithm is on random cuts."""
    for count in COUNTS:
        for pinwheels in PINWHEELS:
            problems = [
                random_cuts(count, HEIGHT, pinwheels, Random(seed), slack=3.0) for seed in SEEDS
            ]
            for name in PLANNERS.names():
                answers = [solve(problem, name=name, effort=CUTS_EFFORT) for problem in problems]
                used = [a.use["s"].used / HEIGHT for a in answers if isinstance(a, MemoryPlan)]
                yield Gap(
                    buffers=count,
                    pinwheels=pinwheels,
                    algorithm=name,
                    median=round(median(used), 4),
                    worst=round(max(used), 4),
                )


if __name__ == "__main__":
    sys.exit(as_command(main))
