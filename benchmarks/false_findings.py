# SPDX-License-Identifier: Apache-2.0
"""What runs of right hardware find: random networks over all chips with RTL, at three clock ratios.

Run as ``python -m benchmarks.false_findings [--runs N] [--chip CHIP]...``; the status is 1 if a run
finds anything. A chip at another ratio has all accelerators at half, or twice, its host's clock;
registers and memories begin with other values in each run.
"""

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.diagnostics.errors import AtollError, PlanError
from atoll.driver.pipeline import Compiled, compile_graph
from atoll.resolve import load_soc
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.chip.checks import check_cores, check_engines
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.checked_run import run_models
from atoll_sim.trace.simulation import Conditions
from benchmarks.estimate import small_networks

ROOT = Path(__file__).parents[1]
ANY = "any accelerator"
RATIOS = {"equal": None, "half": 0.5, "twice": 2.0}


def chips() -> Iterator[str]:
    """Yield the chips in `socs/` and `examples/` of which all is in RTL."""
    for path in sorted([*ROOT.glob("socs/*.yaml"), *ROOT.glob("examples/*/*.yaml")]):
        if "\nsoc: " in f"\n{path.read_text()}":
            sys.path.insert(0, str(path.parent))
            try:
                soc = load_soc(path)
                check_cores(soc)
                check_engines(soc, frozenset())
            except AtollError:
                continue
            yield str(path.relative_to(ROOT))


def compile_for(chip: str, ratio: float | None, seeds: Iterator[int]) -> Compiled:
    """Return the next random network that has room on a chip."""
    soc = load_soc(ROOT / chip)
    if ratio:
        clock = int(soc.host_cpu.clock * ratio)
        names = [each.label or each.name for each in soc.engines]
        soc = load_soc(ROOT / chip, [f"devices.{name}.clock={clock} Hz" for name in names])
    for seed in seeds:
        try:
            return compile_graph(soc, random_network(seed), NOWHERE)
        except PlanError:
            continue
    raise AssertionError


def working(compiled: Compiled) -> set[str]:
    """Return the kinds of accelerators that a network gives work, and `ANY` if there is one."""
    kinds = {engine.name: engine.spec.name for engine in compiled.soc.engines}
    busy = {step.device for step in compiled.module.entry.steps} & kinds.keys()
    return {kinds[name] for name in busy} | ({ANY} if busy else set())


def main() -> int:
    """Print each run and what it finds, and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="in all")
    parser.add_argument(
        "--chip", action="append", help="one of those with RTL; all if none is named"
    )
    parser.add_argument("--first", type=int, default=0, help="networks and runs to skip")
    arguments = parser.parse_args()
    named = arguments.chip or [*chips()]
    turns = itertools.cycle(itertools.product(RATIOS, named))
    seeds = itertools.islice(small_networks(sys.maxsize), arguments.first, None)
    runs: Counter[str] = Counter()
    at_work: Counter[str] = Counter()
    found = 0
    for number, (ratio, chip) in enumerate(
        itertools.islice(turns, arguments.first, arguments.first + arguments.runs), arguments.first
    ):
        compiled = compile_for(chip, RATIOS[ratio], seeds)
        samples = random_sample(compiled.graph)
        try:
            (outcome,) = run_models([compiled], [samples], conditions=Conditions(seed=number + 1))
        except AtollError as error:
            found += 1
            print(f"{chip}, {ratio}, {compiled.graph.name}: {error}", flush=True)
            continue
        runs[f"{chip}, {ratio}"] += 1
        at_work.update(working(compiled))
        report = outcome.report
        print(f"{number}: {chip}, {ratio}, {compiled.graph.name}", flush=True)
        for each in (*report.violations, *report.mismatches):
            found += 1
            print(f"{chip}, {ratio}, {compiled.graph.name}: {each}", flush=True)
    for which, count in runs.items():
        print(f"{which}: {count}")
    for which, count in at_work.items():
        print(f"{which} at work: {count}")
    print(f"{sum(runs.values())} runs, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(as_command(main))
