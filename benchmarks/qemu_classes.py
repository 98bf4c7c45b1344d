# SPDX-License-Identifier: Apache-2.0
"""Count the instructions of each class that operators run on a machine of QEMU, with a plugin."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled
from atoll.isa.instruction_set import Family
from atoll.protocol import ConsoleRegister
from atoll.report.result import LayerCycles
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.iss.native import HERE as ISS
from atoll_sim.qemu import machine, qemu_run
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.shadow.library import shared_library
from atoll_sim.trace.simulation import Phase, SimRequest, SimResult

PLUGIN = Path(__file__).with_suffix(".cpp")
STORE = 2
"""The place of stores among the classes."""


def counted_layers(compiled: Compiled) -> Iterator[tuple[LayerCycles, Sequence[int]]]:
    """Yield each operator of a network for a machine of QEMU, and its instructions by class.

    What jumps that are taken take is last: how many there are.
    """
    library = shared_library("qemu_classes", (PLUGIN,), (ISS / "instruction_class.h",), {})
    usual, simulate = machine.command_of, qemu_run.simulate
    results: list[SimResult] = []
    with temporary_folder() as folder:
        rows = folder / "rows"

        def command_of(soc: ResolvedSoc, elf: Path, connection: int) -> Sequence[str]:
            watched = soc.console.origin + ConsoleRegister.TRACE
            wide = soc.host_cpu.instructions.family is Family.AARCH64
            plugin = f"{library},watched={watched},rows={rows}" + ",wide=on" * wide
            return [*usual(soc, elf, connection), "-plugin", plugin]

        def run(request: SimRequest, *others: object) -> SimResult:
            results.append(simulate(request))
            return results[-1]

        with (
            patch.object(machine, "command_of", command_of),
            patch.object(qemu_run, "simulate", run),
        ):
            (outcome,) = run_models(
                (compiled,),
                (random_sample(compiled.graph),),
                cpu=CpuKind.QEMU,
                accelerator=AcceleratorKind.NONE,
            )
        counts = [[*map(int, row.split())] for row in rows.read_text().splitlines()]
    assert outcome.report.passed, f"{compiled.graph.name} does not run as it should"
    (result,) = results
    by_begin = {
        phase.begin: _exact(phase, row) for phase, row in zip(result.phases, counts, strict=True)
    }
    for layer in outcome.report.by_layer:
        yield layer, by_begin[layer.begin]


def _exact(phase: Phase, counts: Sequence[int]) -> Sequence[int]:
    """Return the counts of a phase without the store to the console that QEMU stops in front of."""
    twice = sum(counts[:-1]) - (phase.instructions or 0)
    return (*counts[:STORE], counts[STORE] - twice, *counts[STORE + 1 :])
