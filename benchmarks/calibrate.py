# SPDX-License-Identifier: Apache-2.0
"""Measure what estimates of a core rest on: instructions of kernels, and what these take on it.

``python -m benchmarks.calibrate counts --core NAME --isa ISA`` counts the instructions of kernels
of an instruction set by class, on the instruction-set simulator, and writes how many of them each
thing comes to that `atoll.cost.executed` finds in kernels: ``compiler/atoll/cost/data/counts``.
With a ``--chip`` that is a machine of QEMU, QEMU counts; engines it has none, so that ``--drivers``
names an instruction set from which those of drivers are taken.

``python -m benchmarks.calibrate timing --core NAME --isa ISA`` runs kernels on a core in RTL too,
with instructions in memories of several latencies and data in memories that answer at once, and
prints `cycles` and `waits` of the core's description. ``--line BYTES`` says that the core has an
instruction cache with such lines, and prints its `cycles` and `waits` instead. ``--chip`` names a
chip of one's own whose host is the core, and which has a memory that holds code alone.

Both run random networks and print how far what was fitted is off; `benchmarks.estimate` holds
estimates against networks to which nothing was fitted.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_networks
from atoll.frontend.registry import Source, load_network
from atoll.ir.graph import Graph
from atoll.ops.loops.fixed_point_loops import LIBRARY
from atoll.ops.registry import kind_of
from atoll.report.result import LayerCycles
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.iss import core as iss_core
from atoll_sim.runs import checked_run
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from benchmarks import qemu_classes
from benchmarks.dual_issue import MODELLED, cores_issue
from benchmarks.estimate_constants import apart, driver_cycles
from benchmarks.estimate_layers import random_network

COUNTS = Path(__file__).parents[1] / "compiler" / "atoll" / "cost" / "data" / "counts"
CHIP, CODE = str(Path(__file__).parents[1] / "tests" / "data" / "strait.yaml"), "flash"
NOWHERE, ALONE = Source("", b"", Path()), BuildOptions(accelerators=False)
KINDS, LAYERS = 1000, 300
"""The first seeds of networks of all kinds, and of larger layers."""

MOST_MACS = {CpuKind.ISS: 4_000_000, CpuKind.RTL: 100_000}
"""Of a network, if not said."""

AT_ONCE = 10
"""Networks in one firmware."""

LATENCIES = (1, 8)
WORD = 4
"""Bytes that an instruction cache takes from memory at once."""

LEAST, FULL = 300, 2000
"""Cycles of an operator in RTL from which on it counts, and instructions from which on it counts
whole: what optimisers make of a few rounds of a loop is another thing."""

RUN = [name not in EXTRAS for name in CLASSES]
"""Classes each of which is an instruction that ran."""

NEAR = 0.01
"""Error, as a share of a kernel's instructions, below which all are as good."""

Vector = NDArray[np.float64]
Which = tuple[str, str]
"""A network and an operator of it."""


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
    parser.add_argument("--code", default=CODE, help="its memory of instructions (%(default)s)")
    parser.add_argument("--count", type=int, default=500, help="of networks of all kinds")
    parser.add_argument("--layers", type=int, default=54, help="of networks of larger layers")
    parser.add_argument("--line", type=int, help="bytes of a line of its instruction cache")
    parser.add_argument("--macs", type=int, help="of a network at most, so that it ends soon")
    parser.add_argument("--drivers", metavar="ISA", help="counted, whose drivers are the same")
    chosen = parser.parse_args()
    networks = (*range(LAYERS, LAYERS + chosen.layers), *range(KINDS, KINDS + chosen.count))
    host = load_soc(chosen.chip).host
    settings = (f"devices.{host}.core={chosen.core}", f"devices.{host}.isa={chosen.isa}")
    if chosen.what == "counts":
        most = chosen.macs or MOST_MACS[CpuKind.ISS]
        soc = load_soc(chosen.chip, settings)
        write_counts(chosen.isa, soc, networks, most, chosen.drivers)
        return 0
    if chosen.what == "issue":
        if chosen.core != MODELLED:
            parser.error(f"it is known of {MODELLED} alone how instructions issue")
        soc = load_soc(chosen.chip, (*settings, f"memories.{chosen.code}.read_latency=1"))
        most = chosen.macs or MOST_MACS[CpuKind.RTL]
        print_timing([*measure({1: soc}, networks, most, issued_layers)])
        return 0
    chips = {
        latency: load_soc(
            chosen.chip, (*settings, f"memories.{chosen.code}.read_latency={latency}")
        )
        for latency in LATENCIES
    }
    most = chosen.macs or MOST_MACS[CpuKind.RTL]
    print_timing([*measure(chips, networks, most, rtl_layers)], chosen.line)
    return 0


def write_counts(
    isa: str, soc: ResolvedSoc, networks: Sequence[int], most: int, like: str | None
) -> None:
    """Count the instructions of kernels and of drivers, and write them for an instruction set.

    With `like`, drivers have the instructions that they have in that set.
    """
    samples: list[Sample] = []
    for (models,) in _compile_networks((soc,), networks, most):
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
        found = np.array([_least_errors(table, each, share) for each in counts.T]).T
        told = (table @ found)[:, run].sum(axis=1)
        size = np.maximum(ran, told)
    whole = ran >= FULL
    off = np.abs(told[whole] / ran[whole] - 1)
    parts = (f"{np.quantile(off, part):.1%} at {part:.0%}" for part in (0.5, 0.9))
    print(f"{whole.sum()} large operators: off by {', '.join(parts)}", file=sys.stderr)
    return dict(zip(names, found.tolist(), strict=True))


def rtl_layers(models: Sequence[Compiled]) -> Mapping[Which, LayerCycles]:
    """Return the operators of networks in RTL."""
    return _layers(models, CpuKind.RTL)


def issued_layers(models: Sequence[Compiled]) -> Mapping[Which, LayerCycles]:
    """Return the operators of networks on a core that issues as `benchmarks.dual_issue` says."""
    with cores_issue(), patch.object(iss_core, "costs_of", lambda cpu: (0,) * len(CLASSES)):
        return _layers(models, CpuKind.ISS)


@dataclass(frozen=True, slots=True)
class Run:
    """An operator that ran: its instructions of each class, and its cycles by latency."""

    counts: Vector
    cycles: Mapping[int, int]


def measure(
    chips: Mapping[int, ResolvedSoc],
    networks: Sequence[int],
    most: int,
    layers: Callable[[Sequence[Compiled]], Mapping[Which, LayerCycles]],
) -> Iterator[Run]:
    """Yield the operators of random networks that take `LEAST` cycles with each latency.

    Args:
        chips: by the latency of the memory of instructions.
        networks: seeds of them.
        most: products of a network.
        layers: what runs networks and tells the cycles.
    """
    for each in _compile_networks([*chips.values()], networks, most):
        counts = {name: np.array(sample.counts, float) for name, sample in _samples(each[0])}
        ran = [layers(models) for models in each]
        for name, instructions in counts.items():
            cycles = {
                latency: found[name].cycles for latency, found in zip(chips, ran, strict=True)
            }
            if min(cycles.values()) >= LEAST:
                yield Run(instructions, cycles)


def print_timing(runs: Sequence[Run], line: int | None = None) -> None:
    """Print what instructions take, from the cycles of operators, and how well that fits.

    With `line`, an instruction cache has lines of so many bytes.
    """
    print("timing:\n  basis: ...\n  source: ...")
    if line:
        _print_cached(runs, line // WORD)
        return
    table = np.array(
        [
            np.concatenate((run.counts, run.counts * (latency - 1)))
            for run in runs
            for latency in run.cycles
        ]
    )
    found = _print_fit(table, [cycles for run in runs for cycles in run.cycles.values()])
    parts = (("cycles", found[: len(CLASSES)]), ("waits", found[len(CLASSES) :]))
    for name, part in parts[: len(runs[0].cycles)]:
        _print_classes(name, part)


def _print_cached(runs: Sequence[Run], words: int) -> None:
    """Print what instructions take, and the lines of an instruction cache.

    How much longer an operator takes with a further cycle of latency says how many lines come,
    whose words wait one after the other.
    """
    near, far = min(LATENCIES), max(LATENCIES)
    lines = [(run.cycles[far] - run.cycles[near]) / (far - near) / words for run in runs]
    table = np.array([[*run.counts, came] for run, came in zip(runs, lines, strict=True)])
    found = _print_fit(table, [run.cycles[near] for run in runs])
    _print_classes("cycles", found[:-1])
    line = f"line: {words * WORD}, cycles: {found[-1]:.2f}, waits: {words}"
    print(f"  instruction_cache: {{size: ..., {line}}}")


def _print_classes(name: str, part: Vector) -> None:
    words = (f"{each}: {value:.2f}" for each, value in zip(CLASSES, part, strict=True))
    print(f"  {name}: {{{', '.join(words)}}}")


def _print_fit(table: Vector, cycles: Sequence[int]) -> Vector:
    took = np.array(cycles, float)
    found = _least_squares(table / took[:, None], np.ones(len(took)))
    off = np.abs(table @ found / took - 1)
    median, worst = (float(np.quantile(off, share)) for share in (0.5, 0.95))
    print(f"# {len(took)} operators: off by {median:.1%} at the median, {worst:.1%} at 95 %")
    return found


def _compile_networks(
    socs: Sequence[ResolvedSoc], networks: Sequence[int], most: int
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


def _graphs(networks: Sequence[int], most: int, folder: Path) -> Iterator[Graph]:
    for seed in networks:
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
    by_class = [*_by_class(models, AcceleratorKind.NONE)]
    for which in by_class[0]:
        yield which, tuple(layers[which].cycles for layers in by_class)


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


def _least_errors(table: Vector, wanted: Vector, share: Vector) -> Vector:
    """Return no numbers below 0 with which `table` comes nearest to what is wanted.

    The sum of absolute errors is least, each times its `share`: least squares again and again, by
    the errors of the last ones.
    """
    weight = np.ones(len(wanted))
    for _ in range(10):
        each = share * np.sqrt(weight)
        found = _least_squares(table * each[:, None], wanted * each)
        weight = 1 / np.maximum(np.abs(table @ found - wanted) * share, NEAR)
    return found


def _least_squares(table: Vector, wanted: Vector) -> Vector:
    """Return no numbers below 0 with which `table` comes nearest to what is wanted.

    They are those of the method of Lawson and Hanson (Solving Least Squares Problems, 1974, 23).
    """
    scale = np.linalg.norm(table, axis=0)
    scale[scale == 0] = 1
    table = table / scale
    found, kept = np.zeros(table.shape[1]), np.zeros(table.shape[1], bool)
    for _ in range(10 * table.shape[1]):
        gain = table.T @ (wanted - table @ found)
        gain[kept] = -np.inf
        if gain.max(initial=-np.inf) <= 1e-9:
            break
        kept[int(gain.argmax())] = True
        while True:
            best = np.zeros_like(found)
            best[kept] = np.linalg.lstsq(table[:, kept], wanted, rcond=None)[0]
            low = kept & (best <= 0)
            if not low.any():
                break
            step = (found[low] / (found[low] - best[low])).min()
            found = found + step * (best - found)
            kept &= found > 1e-12
            found[~kept] = 0
        found = best
    answer: Vector = found / scale
    return answer


if __name__ == "__main__":
    sys.exit(as_command(main))
