# SPDX-License-Identifier: Apache-2.0
"""Measure what estimates of a core rest on: instructions of kernels, and what these take on it.

``python -m benchmarks.calibrate counts --core NAME --isa ISA`` counts the instructions of kernels
of an instruction set by class, on the instruction-set simulator, and writes how many of them each
thing comes to that `atoll.cost.executed` finds in kernels: ``compiler/atoll/cost/data/counts``.
With a ``--chip`` that is a machine of QEMU, QEMU counts; engines it has none, so that ``--drivers``
names an instruction set from which those of drivers are taken.

``python -m benchmarks.calibrate timing --core NAME --isa ISA`` measures a core in RTL as ``atoll
core calibrate`` does, with networks of all kinds of operators, and prints the `timing` of its
description. ``--line BYTES`` says that it has an instruction cache with such lines (4: none, but it
keeps the word that it fetched last), ``--barrel`` that its shifts take as long by any distance.
``--chip`` names a chip of one's own whose host is the core, and which has a memory that holds code
alone.

Both run random networks; `benchmarks.estimate` holds estimates against networks to which nothing
was fitted.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cli.output import as_command
from atoll.cost.counted import CLASSES, DRIVER, EACH, read_counts
from atoll.cost.data.picorv32 import (
    BETWEEN_CYCLES,
    FINISH_CYCLES,
    START_CYCLES,
)
from atoll.cost.executed import UncountableError, count_executed
from atoll.description.core import EXTRAS
from atoll.description.edits import to_yaml_line
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_networks
from atoll.frontend.registry import Source, load_network
from atoll.ir.graph import Graph
from atoll.ops.loops.fixed_point_loops import LIBRARY
from atoll.ops.registry import kind_of
from atoll.report.result import LayerCycles
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.specs import Timing
from atoll.utils.scratch import temporary_folder
from atoll_sim.core_calibration.calibrate import LEAST, describe_timing, kernels_of
from atoll_sim.core_calibration.chips import CODE, DATA, NEAR, settings_of
from atoll_sim.core_calibration.fit import Cache, Kernel, fit_timing
from atoll_sim.core_calibration.least_errors import least_errors
from atoll_sim.core_calibration.measure import Which, cycles_of, operators_run
from atoll_sim.core_calibration.networks import drawn_networks
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.iss import core as iss_core
from atoll_sim.runs import checked_run
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from benchmarks import qemu_classes
from benchmarks.dual_issue import Core, RunsBlocks, cores_take
from benchmarks.estimate_constants import apart, driver_cycles
from benchmarks.scheduled_cores import MODELS

COUNTS = Path(__file__).parents[1] / "compiler" / "atoll" / "cost" / "data" / "counts"
CHIP = str(Path(__file__).parents[1] / "tests" / "data" / "strait.yaml")
NOWHERE, ALONE = Source("", b"", Path()), BuildOptions(accelerators=False)
KINDS, LAYERS = 1000, 300
"""The first seeds of networks of all kinds, and of larger layers."""

MOST_MACS = {CpuKind.ISS: 4_000_000, CpuKind.RTL: 100_000}
"""Of a network, if not said."""

AT_ONCE = 10
"""Networks in one firmware."""

FULL = 2000
"""Instructions of an operator from which on it counts whole: what optimisers make of a few rounds
of a loop is another thing."""

RUN = [name not in EXTRAS for name in CLASSES]
"""Classes each of which is an instruction that ran."""

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """An operator that ran.

    Attributes:
        kind: of it.
        executes: what `atoll.cost.executed` finds in its kernel, and `EACH`.
        counts: its instructions, in the order of `CLASSES`.
    """

    kind: str
    executes: Mapping[str, float]
    counts: Sequence[int]


def main() -> int:
    """Write counts, or print a timing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("counts", "timing", "issue"))
    parser.add_argument("--core", required=True, help="of the chip's host")
    parser.add_argument("--isa", required=True, help="likewise")
    parser.add_argument("--chip", default=CHIP, help="default: lagoon with code apart")
    parser.add_argument("--count", type=int, default=500, help="of networks of all kinds")
    parser.add_argument("--layers", type=int, default=54, help="of networks of larger layers")
    parser.add_argument("--drawn", type=int, default=0, help="of those of 'atoll core calibrate'")
    parser.add_argument("--line", type=int, help="bytes of a line of its instruction cache")
    parser.add_argument("--barrel", action="store_true", help="its shifts take no longer by bits")
    parser.add_argument("--macs", type=int, help="of a network at most, so that it ends soon")
    parser.add_argument("--drivers", metavar="ISA", help="counted, whose drivers are the same")
    chosen = parser.parse_args()
    networks: list[int | Graph] = [
        *range(LAYERS, LAYERS + chosen.layers),
        *range(KINDS, KINDS + chosen.count),
        *drawn_networks(1, chosen.drawn),
    ]
    host = load_soc(chosen.chip).host
    settings = (f"devices.{host}.core={chosen.core}", f"devices.{host}.isa={chosen.isa}")
    if chosen.what == "counts":
        most = chosen.macs or MOST_MACS[CpuKind.ISS]
        soc = load_soc(chosen.chip, settings)
        write_counts(chosen.isa, soc, networks, most, chosen.drivers)
        return 0
    most, soc = chosen.macs or MOST_MACS[CpuKind.RTL], load_soc(chosen.chip, settings)
    if chosen.what == "issue":
        if chosen.core not in MODELS:
            parser.error(f"it is known of {', '.join(MODELS)} alone how instructions issue")
        kernels = [*measure_issue(soc, networks, most, chosen.core)]
        print_timing(timing := fit_timing(kernels, None))
        print_residuals(kernels, timing)
        return 0
    cache = Cache(0, chosen.line) if chosen.line else None
    chips = settings_of(soc, cached=cache is not None)
    kernels = [*measure(chips, networks, most, cycles_of)]
    if chosen.barrel:
        counted = [int(name != "shifted") for name in CLASSES]
        kernels = [
            replace(each, counts=[*map(int.__mul__, each.counts, counted)]) for each in kernels
        ]
    print_timing(fit_timing(kernels, cache))
    return 0


def write_counts(
    isa: str, soc: ResolvedSoc, networks: Sequence[int | Graph], most: int, like: str | None
) -> None:
    """Count the instructions of kernels and of drivers, and write them for an instruction set.

    With `like`, drivers have the instructions that they have in that set.
    """
    samples: list[Sample] = []
    for (models,) in compile_together((soc,), networks, most):
        try:
            samples += (sample for _, sample in _samples(models))
        except AtollError as error:  # an image is refused
            print(error.faults[0], file=sys.stderr)
    drivers = read_counts(like)[DRIVER] if like else _of_drivers(soc)
    write(isa, fit(samples) | {DRIVER: drivers})


def write(isa: str, counts: Mapping[str, Sequence[float]]) -> None:
    """Write what things come to in an instruction set."""
    lines = (
        f'  "{name}": {json.dumps([round(n, 4) for n in each])}' for name, each in counts.items()
    )
    COUNTS.mkdir(exist_ok=True)
    (COUNTS / f"{isa}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def fit(samples: Sequence[Sample]) -> dict[str, Sequence[float]]:
    """Return how many instructions of each class each thing comes to that kernels execute.

    The sum of absolute errors, as shares of a kernel, is least: some kernels are none of what they
    seem to be, such as those of one row whose results optimisers know.
    """
    names = sorted({name for each in samples for name in each.executes})
    table = np.array([[each.executes.get(name, 0) for name in names] for each in samples], float)
    counts = np.array([each.counts for each in samples], float)
    run = RUN[: counts.shape[1]]
    ran = counts[:, run].sum(axis=1)
    size = np.maximum(ran, table.sum(axis=1))
    for _ in range(2):
        share = np.minimum(1, size / FULL) / size
        found = np.array([least_errors(table, each, share) for each in counts.T]).T
        told = (table @ found)[:, run].sum(axis=1)
        size = np.maximum(ran, told)
    whole = ran >= FULL
    off = np.abs(told[whole] / ran[whole] - 1)
    parts = (f"{np.quantile(off, part):.1%} at {part:.0%}" for part in (0.5, 0.9))
    print(f"{whole.sum()} large operators: off by {', '.join(parts)}", file=sys.stderr)
    return dict(zip(names, found.tolist(), strict=True))


def measure_issue(
    soc: ResolvedSoc, networks: Sequence[int | Graph], most: int, core: str
) -> Iterator[Kernel]:
    """Yield the operators of random networks that take `LEAST` cycles as a core issues."""
    make = partial(Core, MODELS[core])
    if not soc.qemu_machine:
        near = {NEAR: settings_of(soc, cached=False)[NEAR]}
        yield from measure(near, networks, most, partial(cycles_on, make))
        return
    nothing = dict.fromkeys(("load", "store"), 0.0)
    for ((compiled,),) in compile_together((soc,), networks, most):
        for _, counts, cycles in qemu_classes.issued_layers(compiled, make):
            if cycles >= LEAST:
                yield Kernel(
                    network=compiled.graph.name,
                    counts=(*counts, 0),
                    cycles=dict.fromkeys((NEAR, CODE, DATA), cycles),
                    late=nothing,
                )


def cycles_on(make: Callable[[], RunsBlocks], models: Sequence[Compiled]) -> Mapping[Which, int]:
    """Return what operators take on the simulator, whose cores take what those of `make` say."""
    with cores_take(make), patch.object(iss_core, "costs_of", lambda cpu: (0,) * len(CLASSES)):
        return cycles_of(models, CpuKind.ISS)


def measure(
    chips: Mapping[str, ResolvedSoc],
    networks: Sequence[int | Graph],
    most: int,
    run: Callable[[Sequence[Compiled]], Mapping[Which, int]],
) -> Iterator[Kernel]:
    """Yield the operators of random networks that take `LEAST` cycles.

    Args:
        chips: by how their memories answer; where one is missing, they answer as in the first one.
        networks: themselves, or seeds of them.
        most: products of a network.
        run: runs networks and tells the cycles.
    """
    for each in compile_together([*chips.values()], networks, most):
        ran = dict(zip(chips, map(run, each), strict=True))
        models = dict(zip(chips, each, strict=True))
        cycles = dict.fromkeys((NEAR, CODE, DATA), ran[NEAR]) | ran
        models.setdefault(DATA, models[NEAR])
        yield from kernels_of(models, cycles, operators_run(each[0]))


def print_timing(timing: Timing) -> None:
    """Print what instructions take, as a description has it but for the size of a cache."""
    print("timing:")
    for key, value in describe_timing(timing, "...").items():
        print(f"  {key}: {to_yaml_line(value)}".replace("size: 0 B", "size: ..."))


def print_residuals(kernels: Sequence[Kernel], timing: Timing) -> None:
    """Print how far a timing is from what it was fitted to."""
    takes = np.array([timing.cycles[name] for name in CLASSES])
    off = [abs(np.dot(each.counts, takes) / each.cycles[NEAR] - 1) for each in kernels]
    parts = (f"{np.quantile(off, part):.1%} at {part:.0%}" for part in (0.5, 0.95))
    print(f"{len(off)} operators: off by {', '.join(parts)}", file=sys.stderr)


def compile_together(
    socs: Sequence[ResolvedSoc], networks: Sequence[int | Graph], most: int
) -> Iterator[Sequence[Sequence[Compiled]]]:
    """Yield random networks for the hosts of chips alone, several in one firmware, for each chip.

    QEMU gets one at a time. None has more than `most` products; those that are refused are left
    out.
    """
    with temporary_folder() as folder:
        graphs = _graphs(networks, most, folder)
        at_once = 1 if socs[0].qemu_machine else AT_ONCE
        while together := list(islice(graphs, at_once)):
            yield from _together(socs, together)


def _graphs(networks: Sequence[int | Graph], most: int, folder: Path) -> Iterator[Graph]:
    for seed in networks:
        if isinstance(seed, Graph):
            yield seed
            continue
        try:
            graph = random_network(seed) if seed < KINDS else _of_all_kinds(seed, folder)
        except AtollError as error:  # some are refused on purpose
            print(error.faults[0], file=sys.stderr)
            continue
        macs = sum(kind_of(op).features(op, graph)["macs"] for op in graph.operators)
        if macs <= most:
            yield replace(graph, name=f"network_{seed}")


def _together(
    socs: Sequence[ResolvedSoc], graphs: Sequence[Graph]
) -> Iterator[Sequence[Sequence[Compiled]]]:
    """Yield networks in as few firmwares as chips have room for."""
    given, options = [(graph, NOWHERE) for graph in graphs], [ALONE] * len(graphs)
    try:
        models = [compile_networks(soc, given, options) for soc in socs]
    except AtollError as error:
        print(error.faults[0], file=sys.stderr)
        half = len(graphs) // 2
        for part in (graphs[:half], graphs[half:]) if half else ():
            yield from _together(socs, part)
        return
    print(*(graph.name for graph in graphs), file=sys.stderr)
    yield models


def _of_all_kinds(seed: int, folder: Path) -> Graph:
    path = folder / f"net{seed}.tflite"
    path.write_bytes(tflite_builder.write(case_of(seed).model))
    return load_network(path)


def _samples(models: Sequence[Compiled]) -> Iterator[tuple[Which, Sample]]:
    """Yield each operator that ran with its instructions."""
    for which, counts in _count_instructions(models):
        compiled = next(each for each in models if each.graph.name == which[0])
        op = next(each for each in compiled.graph.operators if each.name == which[1])
        lowered = kind_of(op).lower_for(op, compiled.graph, compiled.soc.host_cpu.arithmetic)
        with suppress(UncountableError):
            found = count_executed(lowered.function, (*LIBRARY, *lowered.library)).things
            yield which, Sample(kind=op.kind, executes={**found, EACH: 1}, counts=counts)


def _count_instructions(models: Sequence[Compiled]) -> Iterator[tuple[Which, Sequence[int]]]:
    """Yield each operator that ran, and its instructions by class."""
    if models[0].soc.qemu_machine:
        (compiled,) = models
        for layer, counts in qemu_classes.counted_layers(compiled):
            yield (compiled.graph.name, layer.operator), counts
        return
    for which, run in operators_run(models).items():
        yield which, run.classes


def _by_class(
    models: Sequence[Compiled], accelerator: AcceleratorKind
) -> Iterator[Mapping[Which, LayerCycles]]:
    """Run networks once for each class, the cycles of whose instructions alone are not 0."""
    with temporary_folder() as folder:
        tree = build(models, folder / "build")
        for name in CLASSES:
            costs = tuple(int(each == name) for each in CLASSES)
            with (
                patch.object(iss_core, "costs_of", lambda cpu, costs=costs: costs),
                patch.object(checked_run, "build", lambda *_, **__: tree),
            ):
                yield _layers(models, CpuKind.ISS, accelerator)


def _layers(
    models: Sequence[Compiled], cpu: CpuKind, accelerator: AcceleratorKind = AcceleratorKind.NONE
) -> Mapping[Which, LayerCycles]:
    samples = [random_sample(compiled.graph) for compiled in models]
    outcomes = run_models(models, samples, cpu=cpu, accelerator=accelerator)
    found: dict[Which, LayerCycles] = {}
    for compiled, outcome in zip(models, outcomes, strict=True):
        assert outcome.report.passed, f"{compiled.graph.name} does not run as it should"
        found |= {(compiled.graph.name, each.operator): each for each in outcome.report.by_layer}
    return found


def _of_drivers(soc: ResolvedSoc) -> Sequence[float]:
    """Return the instructions of drivers for each cycle that they take on the measured core."""
    compiled = apart(soc)
    measured = START_CYCLES + FINISH_CYCLES + BETWEEN_CYCLES
    found = (
        driver_cycles(compiled, [*each.values()])
        for each in _by_class((compiled,), AcceleratorKind.MODEL)
    )
    return [round(sum(each.values()) / measured, 5) for each in found]


if __name__ == "__main__":
    sys.exit(as_command(main))
