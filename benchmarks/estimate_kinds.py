# SPDX-License-Identifier: Apache-2.0
"""Hold what each kind of operator is estimated to take on lagoon's core against RTL.

Run as ``python -m benchmarks.estimate_kinds [--seed S] [--count N]``. The operators are those of
the random networks of `tests.differential`; those that take less than `LEAST` cycles are left out,
since what surrounds a loop is most of them.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from rich.table import Table
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.report.result import LayerCycles
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import AcceleratorKind, run_models
from benchmarks.shown import console

CHIP, LEAST = "lagoon", 3000


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first network")
    parser.add_argument("--count", type=int, default=100, help="of networks")
    arguments = parser.parse_args()
    table = Table("kind", "operators", "estimate / cycles", "least", "greatest")
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    for kind, ratios in sorted(measure(seeds).items()):
        cells = (f"{part(ratios):.2f}" for part in (median, min, max))
        table.add_row(kind, str(len(ratios)), *cells)
    console().print(table)
    return 0


def measure(seeds: range) -> Mapping[str, list[float]]:
    """Return what was estimated for operators, over what they took, by their kind."""
    soc, found = load_soc(CHIP), defaultdict[str, list[float]](list)
    with temporary_folder() as folder:
        for seed in seeds:
            path = folder / f"net{seed}.tflite"
            path.write_bytes(tflite_builder.write(case_of(seed).model))
            for layer in _layers(soc, path):
                if layer.cycles >= LEAST:
                    found[layer.kind].append(layer.estimate / layer.cycles)
            print(f"network {seed}", file=sys.stderr)
    return found


def _layers(soc: ResolvedSoc, path: Path) -> Iterator[LayerCycles]:
    try:
        compiled = compile_file(soc, path, BuildOptions(accelerators=False))
    except AtollError as error:  # it is refused, as some networks are on purpose
        print(error.faults[0], file=sys.stderr)
        return
    samples = (random_sample(compiled.graph),)
    yield from run_models((compiled,), samples, accelerator=AcceleratorKind.NONE)[0].report.by_layer


if __name__ == "__main__":
    sys.exit(as_command(main))
