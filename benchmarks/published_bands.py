# SPDX-License-Identifier: Apache-2.0
"""Measure how far cycles of cores may be off that rest on published tables: their bands.

``python -m benchmarks.published_bands CORE ISA [NETWORK.tflite...]`` runs random networks, to none
of which anything was fitted, and the given ones on the instruction-set simulator, once with the
least and once with the most that the core's table allows for what ran. It prints how far these two
are at most from estimates of 95 of 100 operators, as `band` and `simulated_band` of a `timing`.
Of a core whose scheduling model LLVM has, that is how far the fit is from the model.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from atoll.cli.output import as_command
from atoll.cost.core_costs import CoreCost
from atoll.cost.data.picorv32 import COMPARED
from atoll.driver.compiled import placed_graph
from atoll.driver.pipeline import Compiled
from atoll.frontend.registry import load_network
from atoll.ir.graph import Graph
from atoll.resolve import load_soc
from atoll_sim.core_calibration.chips import NEAR, settings_of
from atoll_sim.core_calibration.measure import operators_run, with_operators
from benchmarks import cycle_tables
from benchmarks.calibrate import CHIP, compile_together, cycles_on
from benchmarks.dual_issue import Core, RunsBlocks
from benchmarks.estimate import UNSEEN
from benchmarks.scheduled_cores import MODELS

Network = int | Graph
"""Itself, or the seed of a random one."""

OTHERS = 2000
"""The first seed of networks of all kinds to which nothing was fitted."""

MOST_MACS = 1_000_000
LEAST = 300
"""Cycles of an operator from which on it counts, as for cores that are measured in RTL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """An operator that ran, in cycles.

    Attributes:
        kind: of it.
        least: by the table, and the most.
        told: by estimates from the loop program.
        simulated: by estimates from the instructions that ran.
    """

    kind: str
    least: int
    most: int
    told: int
    simulated: int


def runs_of(core: str) -> Sequence[Callable[[], RunsBlocks]]:
    """Return what takes the least on a core, and what takes the most."""
    if core in MODELS:
        return (partial(Core, MODELS[core]),)
    return [partial(cycle_tables.Core, core, which) for which in (0, 1)]


def judge(models: Sequence[Compiled], core: str) -> Iterator[Judged]:
    """Yield the operators of networks in one firmware."""
    took = [cycles_on(make, models) for make in runs_of(core)]
    ran = operators_run(models)
    for compiled in models:
        estimates = _estimate(compiled), _estimate(with_operators(compiled, ran))
        for op in compiled.graph.operators:
            which = compiled.graph.name, op.name
            told, simulated = (each[op.name] for each in estimates)
            if which in ran and told and simulated:
                yield Judged(
                    kind=op.kind,
                    least=took[0][which],
                    most=took[-1][which],
                    told=told,
                    simulated=simulated,
                )


def _estimate(compiled: Compiled) -> Mapping[str, int]:
    soc, graph = compiled.soc, placed_graph(compiled)
    cost = CoreCost(soc.host_cpu, soc)
    return {op.name: cost.alone(op, graph) for op in graph.operators}


def band(ranges: Sequence[tuple[int, int, int]]) -> tuple[float, float]:
    """Return how far 95 of 100 ranges reach below and above estimates, as shares of these.

    Args:
        ranges: the least, the most and the estimate of each.
    """
    least, most, told = np.array(ranges, float).T
    low = np.quantile(least / told - 1, 0.025, method="closest_observation")
    high = np.quantile(most / told - 1, 0.975, method="closest_observation")
    return max(0.0, -float(low)), max(0.0, float(high))


def main() -> int:
    """Print bands."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("core", choices=(*cycle_tables.TABLES, *MODELS))
    parser.add_argument("isa")
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK.tflite")
    parser.add_argument("--layers", type=int, default=60, help="networks of layers")
    parser.add_argument("--count", type=int, default=60, help="networks of all kinds")
    chosen = parser.parse_intermixed_args()
    host = load_soc(CHIP).host
    settings = (f"devices.{host}.core={chosen.core}", f"devices.{host}.isa={chosen.isa}")
    soc = settings_of(load_soc(CHIP, settings), cached=False)[NEAR]
    layers: list[Network] = [*range(UNSEEN, UNSEEN + chosen.layers)]
    layers += [load_network(each) for each in chosen.networks]
    judged = {
        name: [
            each
            for (models,) in compile_together((soc,), networks, MOST_MACS)
            for each in judge(models, chosen.core)
            if each.least >= LEAST
        ]
        for name, networks in {
            "layers": layers,
            "all kinds": [*range(OTHERS, OTHERS + chosen.count)],
        }.items()
    }
    windows = [each for each in judged["layers"] if each.kind in COMPARED]
    _print_band("band", windows, "told")
    for name, those in judged.items():
        _print_band(f"simulated_band, {name}", those, "simulated")
        _print_band(
            f"other operators by the loop program, {name}", _without(COMPARED, those), "told"
        )
    return 0


def _without(kinds: Sequence[str], judged: Sequence[Judged]) -> Sequence[Judged]:
    return [each for each in judged if each.kind not in kinds]


def _print_band(name: str, judged: Sequence[Judged], what: str) -> None:
    if not judged:
        return
    low, high = band([(each.least, each.most, getattr(each, what)) for each in judged])
    wide, _ = band([(each.least, each.most, each.most) for each in judged])
    print(f"{name}: -{low:.1%} to +{high:.1%}, {len(judged)} operators", flush=True)
    print(f"  the table's least is up to {wide:.1%} below its most", flush=True)


if __name__ == "__main__":
    sys.exit(as_command(main))
