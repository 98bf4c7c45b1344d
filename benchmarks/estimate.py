# SPDX-License-Identifier: Apache-2.0
"""Hold what `atoll estimate` says against RTL, network by network and layer by layer.

Run as ``python -m benchmarks.estimate [NETWORK.tflite...]``; `make bench` does for the example.
``--chip NAME`` chooses among `CHIPS`, ``--layers`` prints every layer, ``--json`` all of it.
``--random N`` runs networks of random layers, to which nothing was fitted, ``--branched N`` those
that keep several devices busy at once, if the chip has some. ``--core NAME`` runs all on a core,
alone and beside reef, with each of `MEMORIES`, and sums up how far estimates are off; ``--alone``
leaves reef out. ``--iss`` adds estimates of the same runs whose instructions the simulator counted.
``--calibrate`` measures the constants of `atoll.cost.data.picorv32` again. Cycle counts are the
same on every machine.
"""

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from rich.table import Table

from atoll.api.driver import kernels_of, with_kernels
from atoll.artifacts.samples import random_sample
from atoll.cost.kernel_runs import Runs
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file, compile_graph
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.report.estimates import estimates_of
from atoll.report.result import RunReport
from atoll.resolve import load_soc
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.checked_run import run_models
from atoll_sim.runs.kernel_runs import run_kernels
from benchmarks.estimate_constants import constants
from benchmarks.estimate_layers import branched_network
from benchmarks.shown import console

NOWHERE = Source("", b"", Path())
DATA = Path(__file__).parents[1] / "tests" / "data"
DIGITS = Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"


def lanes(read: int, made: int, port: int) -> tuple[str, ...]:
    """Return overrides of lagoon: a reef of other lanes, and memories as wide as its port."""
    sizes = {"input_lanes": read, "output_lanes": made, "data_bytes": port}
    params = (f"devices.npu.params.{name}={value}" for name, value in sizes.items())
    return (*params, *(f"memories.{name}.width={port}" for name in ("sram", "flash")))


CHIPS: dict[str, tuple[str, tuple[str, ...]]] = {
    "lagoon": ("lagoon", ()),
    "4x4": ("lagoon", lanes(4, 4, 8)),
    "8x8": ("lagoon", lanes(8, 8, 8)),
    "16x8": ("lagoon", lanes(16, 8, 16)),
    "16x16": ("lagoon", lanes(16, 16, 16)),
    "far": ("lagoon", ("memories.flash.read_latency=6",)),
    "shoal": (str(DATA / "shoal.yaml"), ("pools.shared.size=1 KiB",)),
    "atoll2": ("atoll2", ()),
    "twin": ("twin", ()),
    "quad": ("quad", ()),
    "pulp": ("pulp", ()),
    "cluster": (str(DATA / "cluster.yaml"), ()),
    "narrows": (str(DATA / "narrows.yaml"), ()),
    "core": ("lagoon", ()),
    **{f"{mhz}MHz": ("lagoon", (f"devices.npu.clock={mhz} MHz",)) for mhz in (50, 150, 250, 800)},
}
"""By name: lagoon, the same with reefs of other lanes or with instructions and weights far away,
chips of several engines or cores, lagoon's core alone, and reef faster or slower than that."""

CORES: Mapping[str, str] = {
    "picorv32": "rv32imc",
    "ibex": "rv32imc",
    "cv32e40p": "rv32imc",
    "cv32e40x": "rv32imc",
    "vexriscv": "rv32im",
}
"""Cores whose RTL estimates are held against, and their instruction sets."""

MEMORIES: Mapping[str, tuple[int, int | None, int]] = {
    "tcm": (1, 1, 1),
    "sram": (1, 1, 2),
    "flash2": (2, 2, 1),
    "flash8": (8, 8, 1),
    "constants": (1, 6, 1),
    "code": (6, 1, 1),
    "apart": (2, 6, 3),
    "together1": (1, None, 1),
    "together2": (2, None, 1),
    "together8": (8, None, 1),
}
"""Latencies of the memories of code, of constants, None where these are beside code, and of
activations."""

ALONE, COUNTED = "alone", ", counted"


def core_chips(core: str) -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return a chip for each of `MEMORIES` whose host is a core, once to be used without reef."""
    host = (f"devices.cpu.core={core}", f"devices.cpu.isa={CORES[core]}")
    chips: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name, latencies in MEMORIES.items():
        memories = zip(("flash", "store", "sram"), latencies, strict=True)
        each = (
            f"memories.{memory}.read_latency={cycles}" if cycles else "pools.weights.memory=flash"
            for memory, cycles in memories
        )
        chip = (str(DATA / "strait.yaml"), (*host, *each))
        chips |= {f"{core} {where} {name}": chip for where in (ALONE, "reef")}
    return chips


CHIPS |= {name: chip for core in CORES for name, chip in core_chips(core).items()}

LARGE = 3000
"""Cycles of a layer from which on it counts by itself."""

MOST_MACS = 100_000
"""Of a random network on a core alone, so that it ends soon."""

UNSEEN = 100
"""The first seed of networks that nobody looked at while estimates were fitted."""

USUAL = ("lagoon", "4x4", "16x16")
"""What is measured where nobody asks for other chips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Cycles of one operator, from its begin event to its end event."""

    operator: str
    device: str
    bound: str
    measured: int
    estimate: int
    kind: str = ""

    @property
    def error(self) -> float:
        """How much the estimate is too high, as a share."""
        return self.estimate / self.measured - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One network on one chip: cycles from reset to exit, and of each layer.

    Attributes:
        network: cycles from the begin of the first layer to the end of the last one, in RTL.
        network_estimate: likewise.
        waiting: of the estimate, those in which devices take turns at memories.
    """

    chip: str
    model: str
    total: int
    total_estimate: int
    network: int
    network_estimate: int
    waiting: int
    layers: tuple[Layer, ...]

    @property
    def error(self) -> float:
        """How much the estimate of the network is too high, as a share."""
        return self.network_estimate / self.network - 1

    @property
    def worst(self) -> Layer:
        """The layer whose estimate is furthest off."""
        return max(self.layers, key=lambda layer: abs(layer.error))


def compare(chip: str, network: Path | int | Graph) -> Comparison:
    """Run a network on one of `CHIPS` in RTL, and hold the estimate against it."""
    return next(compare_all(chip, network))


def compare_all(
    chip: str, network: Path | int | Graph, counts: dict[str, Runs] | None = None
) -> Iterator[Comparison]:
    """Run a network on one of `CHIPS` in RTL, and hold estimates against it.

    Args:
        chip: its name.
        network: itself, its file, or the seed of a network of random layers.
        counts: yield also what is estimated with the instructions that a simulator counts; those of
            earlier runs of the network, by its name and that of the core, which serve again.
    """
    soc, overrides = CHIPS[chip]
    options = BuildOptions(accelerators=chip != "core" and ALONE not in chip)
    if isinstance(network, int):
        network = random_network(network)
    if isinstance(network, Graph):
        compiled = compile_graph(load_soc(soc, overrides), network, NOWHERE, options)
    else:
        compiled = compile_file(load_soc(soc, overrides), network, options)
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),))
    report = outcome.report
    assert report.passed, f"{network} does not run on {chip} as it should"
    yield _comparison(chip, compiled, report)
    if counts is not None:
        name = f"{compiled.graph.name} {compiled.soc.host_cpu.spec.name} {options.accelerators}"
        if name not in counts:
            counts[name] = kernels_of((compiled,), run_kernels((compiled,)))
        yield _comparison(f"{chip}{COUNTED}", with_kernels(compiled, counts[name]), report)


def _comparison(chip: str, compiled: Compiled, report: RunReport) -> Comparison:
    (estimate,) = estimates_of((compiled,))
    measured = {layer.operator: layer for layer in report.by_layer}
    begin, end = report.by_layer[0].begin, max(layer.end for layer in report.by_layer)
    return Comparison(
        chip=chip,
        model=estimate.model,
        total=report.total_cycles,
        total_estimate=estimate.total,
        network=end - begin,
        network_estimate=estimate.network,
        waiting=estimate.waiting,
        layers=tuple(
            Layer(
                operator=layer.operator,
                device=layer.devices[0],
                bound=layer.bound,
                kind=layer.kind,
                measured=measured[layer.operator].cycles,
                estimate=layer.end - layer.begin,
            )
            for layer in estimate.layers
        ),
    )


def network_table(found: Sequence[Comparison]) -> Table:
    """Return a row for each network on each chip."""
    table = Table(
        *("chip", "network", "RTL", "estimate", "off", "without turns"),
        *("reset to exit", "estimate", "off"),
        *("furthest layer", "off"),
    )
    for each in found:
        table.add_row(
            each.chip,
            each.model,
            *(f"{cycles:,}" for cycles in (each.network, each.network_estimate)),
            f"{each.error:+.1%}",
            f"{(each.network_estimate - each.waiting) / each.network - 1:+.1%}",
            *(f"{cycles:,}" for cycles in (each.total, each.total_estimate)),
            f"{each.total_estimate / each.total - 1:+.1%}",
            each.worst.operator,
            f"{each.worst.error:+.1%}",
        )
    return table


def summary_table(found: Sequence[Comparison]) -> Table:
    """Return a row for each chip: how far networks are off, and their layers of `LARGE` cycles."""
    table = Table("chip", "networks", "median", "worst", "layers", "median", "95 %", "worst")
    by_chip: dict[str, list[Comparison]] = {}
    for each in found:
        by_chip.setdefault(each.chip, []).append(each)
    for chip, those in by_chip.items():
        layers = [one.error for each in those for one in each.layers if one.measured >= LARGE]
        errors = [each.error for each in those]
        worst = max(those, key=lambda each: abs(each.error))
        table.add_row(
            chip,
            f"{len(those)}",
            f"{np.median(np.abs(errors)):.1%}",
            f"{worst.error:+.1%} {worst.model}",
            f"{len(layers)}",
            *(f"{np.quantile(np.abs(layers or [0.0]), part):.1%}" for part in (0.5, 0.95, 1)),
        )
    return table


def small_networks(count: int) -> Iterator[int]:
    """Yield the seeds of random networks that even cores alone run soon."""
    graphs = ((seed, random_network(seed)) for seed in itertools.count(UNSEEN))
    macs = (
        (seed, sum(kind_of(op).features(op, graph)["macs"] for op in graph.operators))
        for seed, graph in graphs
    )
    return itertools.islice((seed for seed, each in macs if each <= MOST_MACS), count)


def layer_table(each: Comparison) -> Table:
    """Return a row for each layer of a network."""
    table = Table("operator", "device", "bound by", "RTL", "estimate", "off")
    table.title = f"{each.model} on {each.chip}"
    for layer in each.layers:
        figures = (f"{layer.measured:,}", f"{layer.estimate:,}", f"{layer.error:+.1%}")
        table.add_row(layer.operator, layer.device, layer.bound, *figures)
    return table


def _compare_all(
    chips: Sequence[str], networks: Sequence[Path | int | Graph], *, iss: bool
) -> Iterator[Comparison]:
    counts: dict[str, Runs] | None = {} if iss else None
    for chip in chips:
        for network in networks:
            yield from compare_all(chip, network, counts)


def main() -> int:
    """Print tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK.tflite")
    parser.add_argument("--chip", action="append", choices=CHIPS, help="may be repeated")
    parser.add_argument(
        "--random", type=int, metavar="N", help="N networks of random layers instead"
    )
    parser.add_argument(
        "--branched", type=int, metavar="N", help="N networks of several chains instead"
    )
    parser.add_argument("--core", action="append", choices=CORES, help="may be repeated")
    parser.add_argument("--memory", action="append", choices=MEMORIES, help="with --core")
    parser.add_argument("--alone", action="store_true", help="with --core: without reef")
    parser.add_argument("--iss", action="store_true", help="also with counted instructions")
    parser.add_argument("--layers", action="store_true", help="print every layer")
    parser.add_argument("--calibrate", action="store_true", help="measure the constants instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    shown = console()
    if arguments.calibrate:
        table = Table("constant", "is", "measured")
        for constant in constants():
            table.add_row(constant.name, f"{constant.now:,}", f"{constant.measured:,}")
        shown.print(table)
        return 0
    networks: list[Path | int | Graph] = arguments.networks or [DIGITS]
    if arguments.random:
        seeds = range(UNSEEN, UNSEEN + arguments.random)
        networks = [*small_networks(arguments.random)] if arguments.core else [*seeds]
        networks = [*arguments.networks, *networks]
    if arguments.branched:
        networks = [*arguments.networks, *map(branched_network, range(arguments.branched))]
    chips = [
        chip
        for core in arguments.core or ()
        for chip in core_chips(core)
        if chip.split()[-1] in (arguments.memory or MEMORIES)
        and (ALONE in chip or not arguments.alone)
    ]
    found = [*_compare_all(arguments.chip or chips or USUAL, networks, iss=arguments.iss)]
    if arguments.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
        return 0
    for each in found if arguments.layers else ():
        shown.print(layer_table(each))
    shown.print(network_table(found))
    if arguments.core:
        shown.print(summary_table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
