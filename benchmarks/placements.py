# SPDX-License-Identifier: Apache-2.0
"""Hold the placement that Atoll chooses against the best one of all, on random chips in RTL.

Run as ``python -m benchmarks.placements [--chips N] [--first SEED] [--kept FILE]``. A chip has two
to six devices: cores of several kinds, and reefs. Each placement of a small network runs, without
operators that several cores share; so does what Atoll chooses where no core has `timing`, and all
count as PicoRV32. The loss is how much longer the network takes than with the best placement.
Cycle counts are the same on every machine; chips whose counts are ``--kept`` do not run again.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from pathlib import Path
from random import Random
from statistics import fmean

from rich.table import Table

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.description.build import node_of, requests_from
from atoll.description.tree import Plain
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_graph, compile_networks
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph, Operator
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import run_models
from benchmarks.estimate_layers import small_network
from benchmarks.shown import console

NOWHERE = Source("", b"", Path())
CORES = {
    "picorv32": "rv32imc",
    "ibex": "rv32imc",
    "cv32e40p": "rv32imc",
    "cv32e40x": "rv32imc",
    "vexriscv": "rv32im",
}
"""Cores with RTL, and their instruction sets."""

KINDS = ("AVERAGE_POOL_2D", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
"""What reefs may run."""

AT_ONCE = 36
"""Placements in one firmware."""

CHOICES = ("before", "after", "robust")

Placement = tuple[str, ...]
"""The device of each operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one chip: cycles of the host from the first operator to the last.

    Attributes:
        devices: what cores and accelerators are, the host first.
        placements: how many ran.
        best: of all placements.
        before: of the one that is chosen if all cores count as PicoRV32.
        after: of the one that is chosen.
        robust: of the one that is chosen by the high ends of bands.
    """

    seed: int
    devices: Sequence[str]
    placements: int
    best: int
    before: int
    after: int
    robust: int

    def loss(self, name: str) -> float:
        """Return how much longer a choice takes than the best placement, as a share."""
        return float(getattr(self, name)) / self.best - 1


def random_chip(seed: int) -> Mapping[str, object]:
    """Describe a chip of two to six devices."""
    chance = Random(seed)
    count = chance.randint(2, 6)
    engines = chance.randint(0, min(2, count - 1))
    kinds = [chance.choice(tuple(CORES)) for _ in range(count - engines)]
    names = [f"core{n}" for n in range(len(kinds))] + [f"npu{n}" for n in range(engines)]
    apart = {name for name in names[1:] if chance.random() < 0.25}
    latency = chance.choice((1, 2, 4, 8))
    memories: dict[str, object] = {
        "flash": {"origin": 0, "size": "16 MiB", "kind": "rom", "read_latency": latency},
        "sram": {"origin": 0x2000_0000, "size": "256 KiB", "kind": "ram", "width": 8, "banks": 4},
    }
    devices: dict[str, object] = {}
    pools: dict[str, object] = {
        "weights": {"memory": "flash", "role": "constants", "others": "ro"},
        "shared": {
            "memory": "sram",
            "role": "workspace",
            "reach": dict.fromkeys(sorted(apart), "none"),
            "others": "rw",
        },
    }
    for at, name in enumerate(names):
        if name in apart:
            origin = 0x3000_0000 + at * 0x0100_0000
            memories[f"{name}_sram"] = {"origin": origin, "size": "64 KiB", "kind": "ram"}
            pools[f"{name}_own"] = {
                "memory": f"{name}_sram",
                "role": "workspace",
                "preference": 1,
                "reach": {name: "rw", names[0]: "rw"},
                "others": "none",
            }
        clock = chance.choice(("50 MHz", "100 MHz", "100 MHz", "200 MHz"))
        wired = {"irq": 3 + at, "clock": clock}
        if name.startswith("npu"):
            lanes = chance.choice(((4, 4), (4, 8), (8, 8)))
            devices[name] = {
                "kind": "npu",
                "accelerator": "reef",
                "runs": sorted(chance.sample(KINDS, chance.randint(1, len(KINDS)))),
                "params": dict(zip(("input_lanes", "output_lanes"), lanes, strict=True)),
                "registers": 0x4000_0000 + at * 0x1000,
                **wired,
            }
            continue
        origin = 0x1000_0000 + at * 0x0100_0000
        memories[f"tcm{at}"] = {"origin": origin, "size": "32 KiB", "kind": "ram"}
        devices[name] = {
            "kind": "dsp" if at else "cpu",
            "core": kinds[at],
            "isa": CORES[kinds[at]],
            "code": {"memory": "flash", "size": "1 MiB"},
            "stack": {"memory": f"tcm{at}", "size": "8 KiB"},
            **({"mailbox": 0x4000_0000 + at * 0x1000, **wired} if at else {"clock": "100 MHz"}),
        }
    return {
        "soc": f"random_{seed}",
        "version": 1,
        "devices": devices,
        "memories": memories,
        "pools": pools,
        "host": names[0],
    }


def outcome(seed: int, cycles: Mapping[Placement, int]) -> Outcome:
    """Hold what is chosen for a chip against what all placements took."""
    soc = chip(seed)
    return Outcome(
        seed=seed,
        devices=[_kind(each.name, soc) for each in soc.devices],
        placements=len(cycles),
        best=min(cycles.values()),
        before=cycles[_choose(seed, without_timing(soc))],
        after=cycles[_choose(seed, soc)],
        robust=cycles[_choose(seed, soc, robust=True)],
    )


def chip(seed: int) -> ResolvedSoc:
    """Return a random chip."""
    with temporary_folder() as folder:
        path = folder / "chip.yaml"
        path.write_text(json.dumps(random_chip(seed)))
        return load_soc(path)


def without_timing(soc: ResolvedSoc) -> ResolvedSoc:
    """Return a chip whose cores all count as PicoRV32."""
    return replace(
        soc,
        devices=tuple(
            replace(each, spec=replace(each.spec, timing=None)) if isinstance(each, Cpu) else each
            for each in soc.devices
        ),
    )


def _kind(name: str, soc: ResolvedSoc) -> str:
    device = soc.device(name)
    return device.spec.name if isinstance(device, Cpu | Engine) else device.kind


def _options(placement: Mapping[str, str], *, robust: bool = False) -> BuildOptions:
    place = dict[str, Plain](placement)
    asked: Plain = {"spread": False, "robust": robust, "place": place}
    return BuildOptions(requests=requests_from(node_of(asked)))


def _choose(seed: int, soc: ResolvedSoc, *, robust: bool = False) -> Placement:
    options = _options({}, robust=robust)
    compiled = compile_graph(soc, small_network(seed, "free"), NOWHERE, options)
    return _placement(compiled.graph.operators)


def _placement(operators: Sequence[Operator]) -> Placement:
    return tuple(op.device for op in operators if op.kind != "copy")


def measure(seed: int, soc: ResolvedSoc) -> Iterator[tuple[Placement, int]]:
    """Yield what a small network takes in RTL in each placement that the chip allows."""
    names = [op.name for op in small_network(seed, "any").operators]
    placements = product([each.name for each in soc.devices], repeat=len(names))
    while together := list(islice(placements, AT_ONCE)):
        graphs = [small_network(seed, f"net_{'_'.join(each)}") for each in together]
        options = [_options(dict(zip(names, each, strict=True))) for each in together]
        able = [
            (each, graph, chosen)
            for each, graph, chosen in zip(together, graphs, options, strict=True)
            if _fits(soc, graph, chosen)
        ]
        if not able:
            continue
        models = compile_networks(
            soc, [(graph, NOWHERE) for _, graph, _ in able], [chosen for *_, chosen in able]
        )
        outcomes = run_models(models, [random_sample(model.graph) for model in models])
        for (placement, *_), outcome in zip(able, outcomes, strict=True):
            layers = outcome.report.by_layer
            assert outcome.report.passed, f"{placement} on chip {seed} does not run as it should"
            yield placement, max(layer.end for layer in layers) - layers[0].begin


def _fits(soc: ResolvedSoc, graph: Graph, options: BuildOptions) -> bool:
    try:
        compile_graph(soc, graph, NOWHERE, options)
    except AtollError:
        return False
    return True


def main() -> int:
    """Print a row for each chip, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chips", type=int, default=40, help="how many")
    parser.add_argument("--first", type=int, default=0, help="seed of the first one")
    parser.add_argument("--kept", type=Path, help="where cycles are kept, a line for each chip")
    arguments = parser.parse_args()
    kept = dict(_read(arguments.kept))
    seeds = range(arguments.first, arguments.first + arguments.chips)
    for soc, seed in sorted(
        ((chip(seed), seed) for seed in seeds), key=lambda e: len(e[0].devices)
    ):
        if seed not in kept:
            kept[seed] = dict(measure(seed, soc))
            _write(arguments.kept, seed, kept[seed])
            print(outcome(seed, kept[seed]), file=sys.stderr, flush=True)
    _show([outcome(seed, kept[seed]) for seed in seeds])
    return 0


def _read(path: Path | None) -> Iterator[tuple[int, Mapping[Placement, int]]]:
    for line in path.read_text().splitlines() if path and path.exists() else ():
        seed, rows = json.loads(line)
        yield seed, {tuple(placement): cycles for placement, cycles in rows}


def _write(path: Path | None, seed: int, cycles: Mapping[Placement, int]) -> None:
    if path:
        with path.open("a") as file:
            file.write(json.dumps([seed, [*cycles.items()]]) + "\n")


def _show(outcomes: Sequence[Outcome]) -> None:
    table = Table("chip", "devices", "placements", "best", *CHOICES)
    for each in outcomes:
        losses = (f"{each.loss(name):.1%}" for name in CHOICES)
        kinds = ", ".join(each.devices)
        table.add_row(str(each.seed), kinds, str(each.placements), f"{each.best:,}", *losses)
    means = (f"{fmean(each.loss(name) for each in outcomes):.1%}" for name in CHOICES)
    table.add_row("mean", "", "", "", *means)
    console().print(table)


if __name__ == "__main__":
    sys.exit(as_command(main))
