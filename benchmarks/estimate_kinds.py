# SPDX-License-Identifier: Apache-2.0
"""Hold what each kind of operator is estimated to take on lagoon's core against RTL.

Run as ``python -m benchmarks.estimate_kinds [--seed S] [--count N]``. The operators are those of
the random networks of `tests.differential`; those that take less cycles than ``--least`` are left
out, since what surrounds a loop is most of them. ``--core`` puts another core into lagoon;
``--iss`` adds what is estimated with the instructions that the simulator counts.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from rich.table import Table
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.api.driver import kernels_of, with_kernels
from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import AcceleratorKind, run_models
from atoll_sim.runs.kernel_runs import run_kernels
from benchmarks.estimate import CORES
from benchmarks.shown import console

CHIP, LEAST = "lagoon", 3000

Ratios = tuple[float, ...]
"""What was estimated for an operator over what it took: by its loop nest, and as it ran."""


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the first network")
    parser.add_argument("--count", type=int, default=100, help="of networks")
    parser.add_argument("--core", choices=CORES, default="picorv32", help="default: lagoon's")
    parser.add_argument("--least", type=int, default=LEAST, help="cycles of an operator")
    parser.add_argument("--iss", action="store_true", help="also with counted instructions")
    arguments = parser.parse_args()
    core = arguments.core
    soc = load_soc(CHIP, (f"devices.cpu.core={core}", f"devices.cpu.isa={CORES[core]}"))
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    found = measure(soc, seeds, arguments.least, iss=arguments.iss)
    ways = ("loop nests", "--iss") if arguments.iss else ("loop nests",)
    table = Table("kind", "operators", *(f"{way}: median, least, greatest" for way in ways))
    for kind, operators in sorted(found.items()):
        ratios = zip(*operators, strict=True)
        cells = (", ".join(f"{part(each):.2f}" for part in (median, min, max)) for each in ratios)
        table.add_row(kind, str(len(operators)), *cells)
    console().print(table)
    every = [*zip(*(each for operators in found.values() for each in operators), strict=True)]
    for way, each in zip(ways, every, strict=True):
        print(f"{way}: {len(each)} operators of {len(found)} kinds, {summary(each)}")
    return 0


def summary(ratios: Sequence[float]) -> str:
    """Return how far estimates are off, and how far the truth is from them that 95 of 100 have."""
    off = np.abs(np.array(ratios) - 1)
    low, high = np.quantile(1 / np.array(ratios) - 1, (0.025, 0.975), method="closest_observation")
    parts = (f"{np.quantile(off, part):.1%}" for part in (0.5, 0.95, 1))
    return f"off by {', '.join(parts)} (median, 95 %, worst), took {low:+.1%} to {high:+.1%}"


def measure(soc: ResolvedSoc, seeds: range, least: int, *, iss: bool) -> Mapping[str, list[Ratios]]:
    """Return what was estimated for operators, over what they took, by their kind."""
    found = defaultdict[str, list[Ratios]](list)
    with temporary_folder() as folder:
        for seed in seeds:
            path = folder / f"net{seed}.tflite"
            path.write_bytes(tflite_builder.write(case_of(seed).model))
            for kind, took, *estimates in _layers(soc, path, iss=iss):
                if took >= least:
                    found[kind].append(tuple(each / took for each in estimates))
            print(f"network {seed}", file=sys.stderr)
    return found


def _layers(soc: ResolvedSoc, path: Path, *, iss: bool) -> Iterator[tuple[str, int, *Ratios]]:
    try:
        compiled = compile_file(soc, path, BuildOptions(accelerators=False))
    except AtollError as error:  # it is refused, as some networks are on purpose
        print(error.faults[0], file=sys.stderr)
        return
    samples = (random_sample(compiled.graph),)
    (outcome,) = run_models((compiled,), samples, accelerator=AcceleratorKind.NONE)
    assert outcome.report.passed, f"{path.name} does not run as it should"
    known = [compiled]
    if iss:
        known.append(with_kernels(compiled, kernels_of((compiled,), run_kernels((compiled,)))))
    estimates = [estimates_of((each,))[0].layers for each in known]
    for layer, *each in zip(outcome.report.by_layer, *estimates, strict=True):
        yield layer.kind, layer.cycles, *(one.cycles for one in each)


if __name__ == "__main__":
    sys.exit(as_command(main))
