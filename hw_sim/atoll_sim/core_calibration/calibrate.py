# SPDX-License-Identifier: Apache-2.0
"""Measure a core, fit what its instructions take, and hold that against other networks."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from atoll.api.core_calibration import ClassCycles, CoreCalibration, Residual
from atoll.cost.core_costs import CoreCost
from atoll.cost.counted import CLASSES
from atoll.description.core import EXTRAS
from atoll.diagnostics.errors import PlacementError, PlanError, UsageError
from atoll.diagnostics.progress import Progress
from atoll.diagnostics.units import format_size
from atoll.driver.compiled import placed_graph
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Graph
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.specs import InstructionCache, KernelRun, Timing
from atoll.utils.scratch import temporary_folder
from atoll.utils.workers import side_by_side
from atoll_sim.build.model import build_model
from atoll_sim.campaign.journal import Journal
from atoll_sim.campaign.trials import follow
from atoll_sim.core_calibration.chips import BESIDE, DATA, LEAST_ROOM, NEAR, made_chip, settings_of
from atoll_sim.core_calibration.fit import Cache, Kernel, fit_timing
from atoll_sim.core_calibration.measure import (
    Which,
    compile_alone,
    cycles_of,
    operators_run,
    with_host,
    with_operators,
)
from atoll_sim.core_calibration.networks import drawn_networks, layered_networks

AT_ONCE = 4
"""Networks of one firmware."""

FEWEST, FEWEST_OPERATORS = 12, 50
"""Networks to fit to, and operators of them: there are 20 numbers to fit."""

LEAST = 300
"""Cycles of an operator from which on it counts: others are mostly what surrounds a loop."""

FEWEST_JUDGED = 40
"""Operators of layers from which on it is said what 95 of 100 keep."""

FOLDS = 4
"""Parts of the networks to fit to, each of which is held against a fit to the others."""

COUNTED = "instructions"

Cycles: TypeAlias = Mapping[Which, int]
Ran: TypeAlias = Mapping[Which, KernelRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How a core is measured.

    Attributes:
        soc: its host is the core.
        cache: the core's instruction cache; None without one.
        networks: how many to fit to; a third as many are held against that.
        seed: draws others.
        jobs: simulations at a time.
        resume: go on with such a measurement that was interrupted.
        source: the command that measures again.
        beside: files of the core, on which its runs depend too.
        progress: told how far it is.
    """

    soc: ResolvedSoc
    cache: Cache | None
    networks: int
    seed: int
    jobs: int
    resume: bool
    source: str
    beside: Sequence[Path]
    progress: Progress

    def run(self) -> CoreCalibration:
        """Measure, fit, and say how far the fit is off.

        Raises:
            UsageError: E240, E241; the chip tells nothing of the core, or too little ran.
            SimulationError: E238; a run has a finding.
        """
        name = self.soc.host_cpu.spec.name
        if self.networks < FEWEST:
            raise too_few(name, f"{self.networks} networks")
        settings = settings_of(self.soc, cached=self.cache is not None)
        drawn = drawn_networks(self.seed, self.networks)
        layered = layered_networks(self.seed, self.networks // 3)
        models = {
            name: [*_compile_models(settings[name], drawn)]
            for name in (DATA, BESIDE)
            if name in settings
        }
        with temporary_folder() as folder:
            ran = self._run_all(settings, drawn, layered, folder)
        counts = ran.pop(COUNTED)
        kernels = [*kernels_of(models, ran, counts)]
        if len(kernels) < FEWEST_OPERATORS:
            raise too_few(name, f"{len(kernels)} operators that take {LEAST} cycles")
        if absent := _absent_classes(kernels):
            raise UsageError(
                "E241",
                f"nothing is fitted to what core '{name}' takes: no operator that takes {LEAST}"
                f" cycles runs an instruction of class '{absent[0]}'",
                remedy=f"use --networks {2 * self.networks} or more",
            )
        timing = fit_timing(kernels, self.cache)
        judged = [*_judge(settings, timing, layered, ran)]
        simulated = [*_judge(settings, timing, layered, ran, counts)]
        others = [*self._judge_folds(settings, drawn, kernels, ran, counts)]
        operators = {(each.network, each.operator) for each in simulated}
        unmeasured = {}
        if BESIDE not in settings and not self.cache:
            memory = self.soc.host_cpu.code.memory
            unmeasured["beside_code"] = (
                f"memory '{memory}', which holds code, is no rom with {format_size(LEAST_ROOM)} to"
                " spare for constants"
            )
        if len(operators) >= FEWEST_JUDGED:
            timing = replace(timing, simulated_band=_wider(_band(simulated), _band(others)))
        else:
            unmeasured["simulated_band"] = (
                f"{len(operators)} operators of layers that take {LEAST} cycles are too few, it"
                f" takes {FEWEST_JUDGED}: use --networks {2 * self.networks} or more"
            )
        return CoreCalibration(
            core=name,
            isa=self.soc.host_cpu.isa,
            networks=len(drawn),
            operators=len(kernels),
            classes=tuple(_classes(kernels, timing)),
            kinds=tuple(_by_kind(judged)),
            simulated_kinds=tuple(_by_kind([*simulated, *others])),
            settings=tuple(_by_setting(judged)),
            timing=describe_timing(replace(timing, band=_band(judged)), self.source),
            unmeasured=unmeasured,
        )

    def _judge_folds(
        self,
        settings: Mapping[str, ResolvedSoc],
        graphs: Sequence[Graph],
        kernels: Sequence[Kernel],
        ran: Mapping[str, Cycles],
        counts: Ran,
    ) -> Iterator["_Judged"]:
        """Hold networks of operators of all kinds against fits to the others, by what they ran.

        Left out are operators that run what no other network does.
        """
        for fold in range(FOLDS):
            held = graphs[fold::FOLDS]
            names = {graph.name for graph in held}
            others = [each for each in kernels if each.network not in names]
            absent = [CLASSES.index(name) for name in _absent_classes(others)]
            for each in _judge(settings, fit_timing(others, self.cache), held, ran, counts):
                classes = counts[each.network, each.operator].classes
                if not any(classes[place] for place in absent):
                    yield each

    def _run_all(
        self,
        settings: Mapping[str, ResolvedSoc],
        drawn: Sequence[Graph],
        layered: Sequence[Graph],
        folder: Path,
    ) -> dict[str, dict[Which, Any]]:
        """Return what operators took in each setting, and what they ran."""
        models = [build_model(each, progress=self.progress) for each in settings.values()]
        host = self.soc.host_cpu
        files = [path.read_bytes() for path in self.beside]
        words = (*map(str, models), host.isa, host.toolchain)
        journal = Journal("core calibration", *words, *files, resume=self.resume)
        chips = {**settings, COUNTED: self._counting_chip(settings[NEAR], folder)}
        tasks = [
            (name, graphs) for graphs in (*_groups(drawn), *_groups(layered)) for name in chips
        ]

        def act(task: tuple[str, Sequence[Graph]]) -> tuple[str, Mapping[str, Any]]:
            name, graphs = task
            subject = " ".join((name, *(graph.name for graph in graphs)))
            return name, journal.recall(subject, lambda: _note_runs(name, chips[name], graphs))

        def so_far(ended: Sequence[object]) -> str:
            return f"{host.spec.name}: {len(ended)} of {len(tasks)} runs"

        found: dict[str, dict[Which, Any]] = {name: {} for name in chips}
        ended = side_by_side(act, tasks, self.jobs)
        for name, noted in follow(ended, len(tasks), so_far, self.progress):
            read = _read_run if name == COUNTED else int
            found[name] |= {_which(words): read(value) for words, value in noted.items()}
        journal.close()
        return found

    def _counting_chip(self, soc: ResolvedSoc, folder: Path) -> ResolvedSoc:
        """Return a chip on which instructions are counted, which are those of every RISC-V core."""
        host = soc.host_cpu
        if host.instructions.family is Family.RISCV and host.unit is None:
            soc = made_chip("riscv", host.isa, folder)
        if not self.cache:
            return soc
        lines = InstructionCache(size=self.cache.size, line=self.cache.line, cycles=0, waits=0)
        nothing = dict.fromkeys(CLASSES, 0.0)
        return with_host(
            soc, timing=Timing(basis="measured", cycles=nothing, waits={}, cache=lines)
        )


@dataclass(frozen=True, slots=True)
class _Judged:
    """What an operator took to whose network nothing was fitted, and what was estimated."""

    network: str
    operator: str
    kind: str
    setting: str
    truth: int
    estimate: int


def too_few(core: str, what: str) -> UsageError:
    """Return the error of a core of which too little ran."""
    return UsageError(
        "E241",
        f"nothing is fitted to what core '{core}' takes: {what} are too few, it takes"
        f" {FEWEST} networks with {FEWEST_OPERATORS} operators",
        remedy=f"use --networks {2 * FEWEST} or more",
    )


def _absent_classes(kernels: Sequence[Kernel]) -> Sequence[str]:
    """Return the classes of instructions that never ran, of which a fit would say 0 cycles."""
    runs = zip(*(kernel.counts for kernel in kernels), strict=True)
    return [
        name
        for name, counts in zip(CLASSES, runs, strict=True)
        if name not in EXTRAS and not any(counts)
    ]


def _groups(graphs: Sequence[Graph]) -> Iterator[Sequence[Graph]]:
    return (graphs[at : at + AT_ONCE] for at in range(0, len(graphs), AT_ONCE))


def _compile_models(soc: ResolvedSoc, graphs: Sequence[Graph]) -> Iterator[Compiled]:
    try:
        for group in _groups(graphs):
            yield from compile_alone(soc, group)
    except (PlacementError, PlanError) as error:
        raise UsageError(
            "E240",
            f"chip '{soc.name}' has no room for the networks that are run:"
            f" {error.faults[0].message}",
            remedy="give it more with --set, or leave --chip out",
        ) from error


def _note_runs(name: str, soc: ResolvedSoc, graphs: Sequence[Graph]) -> Mapping[str, Any]:
    models = [*_compile_models(soc, graphs)]
    if name == COUNTED:
        return {" ".join(which): _note_run(run) for which, run in operators_run(models).items()}
    return {" ".join(which): cycles for which, cycles in cycles_of(models).items()}


def _note_run(run: KernelRun) -> Mapping[str, Any]:
    accesses = [(*which, number) for which, number in run.accesses.items()]
    return {**asdict(replace(run, data=None)), "accesses": accesses}


def _read_run(noted: Mapping[str, Any]) -> KernelRun:
    accesses = {(access, buffer): number for access, buffer, number in noted["accesses"]}
    return KernelRun(**{**noted, "classes": tuple(noted["classes"]), "accesses": accesses})


def _which(words: str) -> Which:
    network, operator = words.split(" ", 1)
    return network, operator


def kernels_of(
    models: Mapping[str, Sequence[Compiled]],
    cycles: Mapping[str, Mapping[Which, int]],
    counts: Ran,
) -> Iterator[Kernel]:
    """Yield the operators of networks that take `LEAST` cycles, however memories answer.

    Args:
        models: compiled for late data, and for constants beside code if there are some.
        cycles: that operators took, by how memories answer.
        counts: what they ran.
    """
    for late, beside in zip(models[DATA], models.get(BESIDE, models[DATA]), strict=True):
        (graph, cost), (near_graph, near) = (_cost(each, counts) for each in (late, beside))
        for op in late.graph.operators:
            which = graph.name, op.name
            took = {name: each[which] for name, each in cycles.items()}
            if min(took.values()) >= LEAST:
                yield Kernel(
                    network=graph.name,
                    counts=counts[which].classes,
                    cycles=took,
                    late=cost.late_cycles(op, graph),
                    beside=near.loads_beside_code(op, near_graph),
                )


def _cost(compiled: Compiled, counts: Ran) -> tuple[Graph, CoreCost]:
    """Return a network as it is placed, and what knows which accesses its operators ran."""
    soc = with_host(compiled.soc, timing=Timing(basis="measured", cycles={}, waits={}))
    known = with_operators(replace(compiled, soc=soc), counts)
    return placed_graph(known), CoreCost(known.soc.host_cpu, known.soc)


def _judge(
    settings: Mapping[str, ResolvedSoc],
    timing: Timing,
    graphs: Sequence[Graph],
    ran: Mapping[str, Cycles],
    counts: Ran | None = None,
) -> Iterator[_Judged]:
    """Hold estimates against what operators took; with `counts`, by what they ran."""
    for setting, soc in settings.items():
        for compiled in _compile_models(with_host(soc, timing=timing), graphs):
            known = with_operators(compiled, counts or {})
            graph, cost = placed_graph(known), CoreCost(known.soc.host_cpu, known.soc)
            for op in known.graph.operators:
                truth, estimate = ran[setting][graph.name, op.name], cost.alone(op, graph)
                if truth >= LEAST and estimate:
                    yield _Judged(graph.name, op.name, op.kind, setting, truth, estimate)


def _band(judged: Sequence[_Judged]) -> tuple[float, float]:
    """Return how far 95 of 100 are at most below and above their estimate, as shares."""
    off = [each.truth / each.estimate - 1 for each in judged]
    low, high = np.quantile(off, (0.025, 0.975), method="closest_observation")
    return max(0.0, -float(low)), max(0.0, float(high))


def _wider(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return max(one[0], other[0]), max(one[1], other[1])


def _classes(kernels: Sequence[Kernel], timing: Timing) -> Iterator[ClassCycles]:
    counts = np.array([kernel.counts for kernel in kernels], float).sum(axis=0)
    spent = counts * [timing.cycles[name] for name in CLASSES]
    for name, share in zip(CLASSES, spent / spent.sum(), strict=True):
        cycles, waits = timing.cycles[name], timing.waits.get(name, 0.0)
        yield ClassCycles(name=name, cycles=cycles, waits=waits, share=float(share))


def _by_kind(judged: Sequence[_Judged]) -> Iterator[Residual]:
    for kind in sorted({each.kind for each in judged}):
        off = [abs(each.estimate / each.truth - 1) for each in judged if each.kind == kind]
        yield Residual(
            of=kind.upper(),
            count=len(off),
            median=float(np.median(off)),
            most=float(np.quantile(off, 0.95)),
        )


def _by_setting(judged: Sequence[_Judged]) -> Iterator[Residual]:
    for setting in dict.fromkeys(each.setting for each in judged):
        those = [each for each in judged if each.setting == setting]
        off = []
        for name in dict.fromkeys(each.network for each in those):
            network = [each for each in those if each.network == name]
            whole = sum(each.truth for each in network)
            off.append(abs(sum(each.estimate for each in network) / whole - 1))
        yield Residual(of=setting, count=len(off), median=float(np.median(off)), most=max(off))


def describe_timing(timing: Timing, source: str) -> Mapping[str, Any]:
    """Return a timing as the description of a core has it."""
    found: dict[str, Any] = {"basis": timing.basis, "source": source, "cycles": timing.cycles}
    if cache := timing.cache:
        found["instruction_cache"] = {
            "size": format_size(cache.size),
            "line": cache.line,
            "cycles": cache.cycles,
            "waits": cache.waits,
        }
    else:
        found["waits"] = timing.waits
    found["data_waits"] = timing.data_waits
    if timing.beside_code:
        found["beside_code"] = asdict(timing.beside_code)
    for name, band in (("band", timing.band), ("simulated_band", timing.simulated_band)):
        if band:
            low, high = (math.ceil(100 * each) / 100 for each in band)
            found[name] = {"low": low, "high": high}
    return found
