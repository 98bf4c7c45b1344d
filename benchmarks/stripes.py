# SPDX-License-Identifier: Apache-2.0
"""Run networks in full RTL with ever less shared memory: what it costs that they are cut.

Run as ``python -m benchmarks.stripes NETWORK.tflite...``. Prints a table of sizes of a pool against
cycles from reset to the end; each run has to be bit-exact and without a finding.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.diagnostics.errors import PlacementError, PlanError
from atoll.diagnostics.units import format_size
from atoll.driver.pipeline import Compiled, compile_file, expected_cycles
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

SIZES = tuple(k * 1024 for k in (256, 48, 40, 36, 32, 28, 24, 20, 16, 12, 10, 8, 6, 5, 4, 3, 2))


def rows(network: Path, chip: str, pool: str, sizes: Sequence[int]) -> Iterator[str]:
    """Yield the rows of a network's table, down to the smallest size with which it fits."""
    for size in sizes:
        try:
            compiled = compile_file(load_soc(chip, (f"pools.{pool}.size={size}",)), network)
        except (PlacementError, PlanError) as error:
            yield f"| {format_size(size)} | does not fit: {error.faults[0].remedy} | | | | |"
            return
        yield f"| {format_size(size)} | {_measure(compiled, pool)} |"


def _measure(compiled: Compiled, pool: str) -> str:
    samples = random_sample(compiled.graph)
    (run,) = run_models((compiled,), (samples,), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL)
    report = run.report
    if not report.passed:
        raise SystemExit(f"{compiled.graph.name} is wrong: {report.mismatches} {report.violations}")
    others = sum(use.used for name, use in compiled.plan.use.items() if name != pool)
    constants = sum(each.size for each in compiled.module.entry.constants)
    estimate = sum(each.cycles for each in expected_cycles(compiled).values())
    cells = (
        compiled.plan.use[pool].used,
        others - constants if others > constants else 0,
        sum(cut.stripes for cut in compiled.tiling.cuts),
        report.total_cycles,
        estimate,
    )
    return " | ".join(f"{cell:,}" for cell in cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="+", type=Path)
    parser.add_argument("--chip", default="lagoon")
    parser.add_argument("--pool", default="shared")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    asked = parser.parse_args(arguments)
    for network in asked.networks:
        print(f"{network.stem} on {asked.chip}\n")
        print("| size | used | elsewhere | stripes | cycles | estimate |")
        print("|---|---|---|---|---|---|")
        for row in rows(network, asked.chip, asked.pool, asked.sizes):
            print(row, flush=True)
        print()
    return 0


if __name__ == "__main__":
    sys.exit(as_command(main))
