# SPDX-License-Identifier: Apache-2.0
"""Count the instructions of each class that operators run on a machine of QEMU, with a plugin."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from benchmarks.dual_issue import Core

PLUGIN = Path(__file__).with_suffix(".cpp")
STORE = 2
"""The place of stores among the classes."""


def counted_layers(compiled: Compiled) -> Iterator[tuple[LayerCycles, Sequence[int]]]:
    """Yield each operator of a network for a machine of QEMU, and its instructions by class.

    What jumps that are taken take is last: how many there are.
    """
    with temporary_folder() as folder:
        layers, phases = _run(compiled, folder)
    for layer in layers:
        _, counts = phases[layer.begin]
        yield layer, counts


def issued_layers(
    compiled: Compiled, make: Callable[[], Core]
) -> Iterator[tuple[LayerCycles, Sequence[int], int]]:
    """Yield the same, and the cycles of a core in its 64-bit state that issues what ran.

    A block takes what it takes after the one before it alone, whatever ran ahead of both.
    """
    with temporary_folder() as folder:
        blocks = folder / "blocks"
        layers, phases = _run(compiled, folder, f",blocks={blocks}")
        cycles = _cycles_of_phases(blocks, make)
    for layer in layers:
        number, counts = phases[layer.begin]
        yield layer, counts, cycles[number]


def _cycles_of_phases(blocks: Path, make: Callable[[], Core]) -> Sequence[int]:
    """Return the cycles between writes to the console."""
    code: list[tuple[int, bytes]] = []
    found, passed = [], 0
    core, known = make(), dict[tuple[int, int], int]()
    for row in blocks.read_text().splitlines():
        words = row.split()
        if words[0] == "block":
            code.append((int(words[1]), bytes.fromhex(words[2])))
        elif words[0] == "end":
            found.append(passed)
            passed = 0
        else:
            before, after, times, mispredicted = map(int, words)
            if (before, after) not in known:
                known[before, after] = core.cycles_after(code[before], code[after])
            passed += times * known[before, after] + mispredicted * core.model.penalty
    return found


def _run(
    compiled: Compiled, folder: Path, more: str = ""
) -> tuple[Sequence[LayerCycles], Mapping[int, tuple[int, Sequence[int]]]]:
    """Return the operators of a network that ran, and by their begin which phase each is.

    Of a phase that is its number and its instructions by class. `more` are arguments of the plugin.
    """
    library = shared_library("qemu_classes", (PLUGIN,), (ISS / "instruction_class.h",), {})
    usual, simulate = machine.command_of, qemu_run.simulate
    results: list[SimResult] = []
    rows = folder / "rows"

    def command_of(soc: ResolvedSoc, elf: Path, connection: int) -> Sequence[str]:
        watched = soc.console.origin + ConsoleRegister.TRACE
        wide = soc.host_cpu.instructions.family is Family.AARCH64
        plugin = f"{library},watched={watched},rows={rows}" + ",wide=on" * wide + more
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
    return outcome.report.by_layer, {
        phase.begin: (number, _exact(phase, row))
        for number, (phase, row) in enumerate(zip(result.phases, counts, strict=True))
    }


def _exact(phase: Phase, counts: Sequence[int]) -> Sequence[int]:
    """Return the counts of a phase without the store to the console that QEMU stops in front of."""
    twice = sum(counts[:-1]) - (phase.instructions or 0)
    return (*counts[:STORE], counts[STORE] - twice, *counts[STORE + 1 :])
