# SPDX-License-Identifier: Apache-2.0
"""Measure in RTL what operators take whose code is made for other targets of a core.

Run as ``python -m benchmarks.code_targets [--core NAME] [--seed S] [--count N]``. It runs the
digits and random networks of `tests.differential` on a core alone, once for each target of
`SETUPS`, and prints for each kind of operator how many times as long it takes as the core's own
code: the least and the greatest of all operators of at least `LEAST` cycles with either, since a
compiler may find out that a result is constant. Those are the rows of
`atoll.cost.measured_targets`.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.description.build import Words, node_of, requests_from
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.isa.code_target import OWN
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.runs.checked_run import AcceleratorKind, run_models
from benchmarks.shown import console

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LEAST = 3000
LAGOON = ROOT / "socs" / "lagoon.yaml"
DOTTED = ROOT / "examples" / "09_custom_instruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A chip whose core is measured.

    Attributes:
        chip: the file.
        isa: of the core.
        targets: beside its own code.
        changes: of the file's text.
    """

    chip: Path
    isa: str
    targets: Mapping[str, str]
    changes: Mapping[str, str] = field(default_factory=dict)


SETUPS: Mapping[str, Setup] = {
    "picorv32": Setup(
        chip=LAGOON,
        isa="rv32imc",
        targets={"plain": "isa: rv32im", "small": "optimise: size", "c": "generator: c"},
    ),
    "ibex": Setup(
        chip=LAGOON,
        isa="rv32imc_zba_zbb_zbs",
        targets={"plain": "isa: rv32imc", "wide": "isa: rv32im", "small": "optimise: size"},
        changes={"core: picorv32": "core: ibex", "isa: rv32imc": "isa: rv32imc_zba_zbb_zbs"},
    ),
    "vexriscv_cfu": Setup(
        chip=DOTTED / "chip.yaml",
        isa="rv32im",
        targets={"scalar": "function_unit: false"},
        changes={"./dot4.yaml": str(DOTTED / "dot4.yaml")},
    ),
}
"""By core; `PYTHONPATH` needs the folder of the unit's model for the last one."""

Ratios = Mapping[tuple[str, str], list[float]]
"""How many times as long operators take, by target and kind."""


def main() -> int:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--core", default="picorv32", choices=SETUPS, help="whose code it is")
    parser.add_argument("--seed", type=int, default=0, help="of the first network")
    parser.add_argument("--count", type=int, default=12, help="of networks")
    arguments = parser.parse_args()
    table = Table("target", "kind", "operators", "least", "greatest")
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    for (target, kind), ratios in sorted(measure(arguments.core, seeds).items()):
        cells = (f"{each:.3f}" for each in (min(ratios), max(ratios)))
        table.add_row(target, kind, str(len(ratios)), *cells)
    console().print(table)
    return 0


def measure(core: str, seeds: range) -> Ratios:
    """Run all networks for all targets of a core."""
    setup = SETUPS[core]
    found = defaultdict[tuple[str, str], list[float]](list)
    with temporary_folder() as folder:
        soc = load_soc(_chip(folder, setup))
        networks = [DIGITS]
        for seed in seeds:
            networks.append(folder / f"net{seed}.tflite")
            networks[-1].write_bytes(tflite_builder.write(case_of(seed).model))
        for network in networks:
            own = dict(_layers(soc, network, OWN))
            layers = (
                (each, *layer) for each in setup.targets for layer in _layers(soc, network, each)
            )
            for target, layer, cycles in layers:
                if min(cycles, own.get(layer, 0)) >= LEAST:
                    found[target, layer[1]].append(cycles / own[layer])
            print(network.stem, file=sys.stderr)
    return found


def _chip(folder: Path, setup: Setup) -> Path:
    """Write a chip with a core that has targets."""
    text, isa = setup.chip.read_text(), f"isa: {setup.isa}"
    for old, new in setup.changes.items():
        text = text.replace(old, new)
    rows = ", ".join(f"{name}: {{{what}}}" for name, what in setup.targets.items())
    path = folder / "chip.yaml"
    path.write_text(text.replace(isa, f"{isa}\n    targets: {{{rows}}}"))
    return path


def _layers(soc: ResolvedSoc, path: Path, target: str) -> Iterator[tuple[tuple[str, str], int]]:
    requests = requests_from(node_of({}), Words(target=(f"*={target}",)))
    try:
        compiled = compile_file(soc, path, BuildOptions(accelerators=False, requests=requests))
    except AtollError as error:  # it is refused, as some networks are on purpose
        print(error.faults[0], file=sys.stderr)
        return
    samples = (random_sample(compiled.graph),)
    (outcome,) = run_models((compiled,), samples, accelerator=AcceleratorKind.NONE)
    assert outcome.report.passed, f"{path} with {target}"
    for layer in outcome.report.by_layer:
        yield (layer.operator, layer.kind), layer.cycles


if __name__ == "__main__":
    sys.exit(as_command(main))
