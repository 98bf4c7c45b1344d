# SPDX-License-Identifier: Apache-2.0
"""Hold what `atoll estimate` says against RTL, network by network and layer by layer.

Run as ``python -m benchmarks.estimate [NETWORK.tflite...]``; `make bench` does for the example.
``--chip NAME`` chooses among `CHIPS`, ``--layers`` prints every layer, ``--json`` all of it.
``--random N`` runs networks of random layers, to which nothing was fitted. ``--calibrate`` measures
the constants of `atoll.cost.data.picorv32` again. Cycle counts are the same on every machine.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file, compile_graph
from atoll.frontend.registry import Source
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import run_models
from benchmarks.estimate_constants import constants
from benchmarks.estimate_layers import random_network
from benchmarks.shown import console

NOWHERE = Source("", b"", Path())
DATA = Path(__file__).parents[1] / "tests" / "data"
DIGITS = Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"


def lanes(read: int, made: int, port: int) -> tuple[str, ...]:
    """Return overrides of lagoon: a reef of other lanes, and memories as wide as its port."""
    sizes = {"input_lanes": read, "output_lanes": made, "data_bytes": port}
    params = (f"devices.npu.params.{name}={value}" for name, value in sizes.items())
    return (*params, *(f"memories.{name}.width={port}" for name in ("sram", "flash")))


CHIPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "lagoon": ("lagoon", ()),
    "4x4": ("lagoon", lanes(4, 4, 8)),
    "8x8": ("lagoon", lanes(8, 8, 8)),
    "16x8": ("lagoon", lanes(16, 8, 16)),
    "16x16": ("lagoon", lanes(16, 16, 16)),
    "far": ("lagoon", ("memories.flash.read_latency=6",)),
    "shoal": (str(DATA / "shoal.yaml"), ("pools.shared.size=1 KiB",)),
    "atoll2": ("atoll2", ()),
    "twin": ("twin", ()),
    "core": ("lagoon", ()),
}
"""By name: lagoon, the same with reefs of other lanes or with instructions and weights far away,
chips with several engines, and lagoon's core alone."""

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
    """

    chip: str
    model: str
    total: int
    total_estimate: int
    network: int
    network_estimate: int
    layers: tuple[Layer, ...]

    @property
    def error(self) -> float:
        """How much the estimate of the network is too high, as a share."""
        return self.network_estimate / self.network - 1

    @property
    def worst(self) -> Layer:
        """The layer whose estimate is furthest off."""
        return max(self.layers, key=lambda layer: abs(layer.error))


def compare(chip: str, network: Path | int) -> Comparison:
    """Run a network on one of `CHIPS` in RTL, and hold the estimate against it.

    Args:
        chip: its name.
        network: a file, or the seed of a network of random layers.
    """
    soc, overrides = CHIPS[chip]
    options = BuildOptions(accelerators=chip != "core")
    if isinstance(network, int):
        made = random_network(network)
        compiled = compile_graph(load_soc(soc, overrides), made, NOWHERE, options)
    else:
        compiled = compile_file(load_soc(soc, overrides), network, options)
    (estimate,) = estimates_of((compiled,))
    (outcome,) = run_models((compiled,), (random_sample(compiled.graph),))
    report = outcome.report
    assert report.passed, f"{network} does not run on {chip} as it should"
    measured = {layer.operator: layer for layer in report.by_layer}
    begin, end = report.by_layer[0].begin, max(layer.end for layer in report.by_layer)
    return Comparison(
        chip=chip,
        model=estimate.model,
        total=report.total_cycles,
        total_estimate=estimate.total,
        network=end - begin,
        network_estimate=estimate.network,
        layers=tuple(
            Layer(
                operator=layer.operator,
                device=layer.devices[0],
                bound=layer.bound,
                measured=measured[layer.operator].cycles,
                estimate=layer.end - layer.begin,
            )
            for layer in estimate.layers
        ),
    )


def network_table(found: Sequence[Comparison]) -> Table:
    """Return a row for each network on each chip."""
    table = Table(
        *("chip", "network", "RTL", "estimate", "off", "reset to exit", "estimate", "off"),
        *("furthest layer", "off"),
    )
    for each in found:
        table.add_row(
            each.chip,
            each.model,
            *(f"{cycles:,}" for cycles in (each.network, each.network_estimate)),
            f"{each.error:+.1%}",
            *(f"{cycles:,}" for cycles in (each.total, each.total_estimate)),
            f"{each.total_estimate / each.total - 1:+.1%}",
            each.worst.operator,
            f"{each.worst.error:+.1%}",
        )
    return table


def layer_table(each: Comparison) -> Table:
    """Return a row for each layer of a network."""
    table = Table("operator", "device", "bound by", "RTL", "estimate", "off")
    table.title = f"{each.model} on {each.chip}"
    for layer in each.layers:
        figures = (f"{layer.measured:,}", f"{layer.estimate:,}", f"{layer.error:+.1%}")
        table.add_row(layer.operator, layer.device, layer.bound, *figures)
    return table


def _compared(chips: Sequence[str], networks: Sequence[Path | int]) -> Iterator[Comparison]:
    return (compare(chip, network) for chip in chips for network in networks)


def main() -> int:
    """Print tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", type=Path, metavar="NETWORK.tflite")
    parser.add_argument("--chip", action="append", choices=CHIPS, help="may be repeated")
    parser.add_argument(
        "--random", type=int, metavar="N", help="N networks of random layers instead"
    )
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
    networks = arguments.networks or [DIGITS]
    if arguments.random:
        networks = range(UNSEEN, UNSEEN + arguments.random)
    found = [*_compared(arguments.chip or USUAL, networks)]
    if arguments.json:
        print(json.dumps([asdict(each) for each in found], indent=2))
        return 0
    for each in found if arguments.layers else ():
        shown.print(layer_table(each))
    shown.print(network_table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
