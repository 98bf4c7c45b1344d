# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `atoll.run`, `atoll.simulate` and `atoll.validate`."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from atoll.api.bench import BenchRun
from atoll.api.simulation import Waveforms
from atoll.artifacts.samples import Sample, random_sample
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.backends.choice import Accelerator, parse_backends, parse_cpu, takes_part
from atoll_sim.chip.checks import check_cores
from atoll_sim.coverage.folder import prepare_folder
from atoll_sim.dataset.judged import Judged
from atoll_sim.faults import campaign as faults_of
from atoll_sim.faults import report as fault_report
from atoll_sim.inputs.build_folder import Image, open_build
from atoll_sim.mutate import campaign as mutants_of
from atoll_sim.mutate import report as mutant_report
from atoll_sim.mutate.caches import CacheCampaign, plant_cache_omissions
from atoll_sim.oracle.ask import Oracle, oracle_for, oracle_of
from atoll_sim.runs.checked_run import CpuKind, Outcome, Written, check_kinds, run_image, run_models
from atoll_sim.trace.simulation import USUAL
from atoll_sim.user_bench.run_bench import Judge, run_bench
from atoll_sim.waves.request import Waves, of_network, request_waves

Asked = tuple[Path | Waveforms | Waves | None, Path | None]
"""Waveforms and the folder of coverage that a run writes."""
NOTHING: Asked = None, None


def run_compiled(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    *,
    cpu: str = CpuKind.RTL,
    accelerator: Accelerator = None,
    keep: Path | None = None,
    toolchain: str | None = None,
    written: Asked = NOTHING,
    start_seed: int | None = None,
    oracle: bool = False,
    dataset: Path | None = None,
) -> tuple[Outcome, ...]:
    """Run networks in turn, as one firmware, and check them; as `run_models`.

    With a `dataset` there are no `samples`.

    Raises:
        UsageError: E089, E090; the arguments contradict each other, or one is none of its words;
            E093, the dataset does not fit; E163, an accelerator cannot be played so; E180 to E182,
            there is no oracle.
    """
    if dataset:
        refuse_with_dataset(len(models), sampled=bool(samples))
    kind, files = parse_cpu(cpu), _files_of(written, models)
    check_kinds(kind, files)
    soc = models[0].soc
    backends = parse_backends(accelerator)
    if not takes_part(backends) and any(each.options.accelerators for each in models):
        raise UsageError(
            "E163",
            "accelerator='none', and the network is compiled for accelerators",
            remedy="compile it with accelerators=False",
        )
    kind.check_chip(soc)
    oracles = [oracle_for(each.source) for each in models] if oracle else []
    judged = Judged.of(models[0], dataset, current()) if dataset else None
    batches = (judged.samples,) if judged else samples
    outcomes = run_models(
        models,
        batches,
        cpu=kind,
        accelerator=backends,
        keep=keep,
        progress=current(),
        toolchain=toolchain,
        written=files,
        conditions=USUAL if start_seed is None else replace(USUAL, seed=start_seed),
    )
    if judged:
        accuracy = judged.compare(outcomes[0].outputs)
        outcomes = (replace(outcomes[0], accuracy=accuracy),)
    if oracles:
        current()("asking the oracle")
        asked = zip(outcomes, oracles, models, batches, strict=True)
        outcomes = tuple(_with_oracle(*each) for each in asked)
    return outcomes


def refuse_with_dataset(networks: int, *, sampled: bool) -> None:
    """Refuse what makes no sense beside a labelled set.

    Raises:
        UsageError: E090.
    """
    if networks > 1:
        what, remedy = f"--dataset is for one MODEL, not {networks}", "run them one by one"
        raise UsageError("E090", what, remedy=remedy)
    if sampled:
        what = "--dataset and --input both say which samples run"
        raise UsageError("E090", what, remedy="leave one of them out")


def require_oracles(files: Sequence[Path]) -> None:
    """Refuse networks for which nobody else can answer.

    Raises:
        UsageError: E180, E182.
    """
    for file in files:
        oracle_of(file)


def _with_oracle(
    outcome: Outcome, ask: Oracle, model: Compiled, samples: Sequence[Sample]
) -> Outcome:
    """Add to a report what an oracle says of the samples."""
    given = [[sample[name] for name in model.graph.inputs] for sample in samples]
    verdict = ask(model.source.path, given)
    return replace(outcome, report=replace(outcome.report, oracle=verdict))


@dataclass(frozen=True, slots=True)
class Folder:
    """An opened build folder."""

    image: Image

    @property
    def models(self) -> tuple[Compiled, ...]:
        """The networks that its firmware runs."""
        return self.image.models

    def run(
        self,
        samples: Sequence[Sequence[Sample]],
        *,
        cpu: str = CpuKind.RTL,
        accelerator: Accelerator = None,
        written: Asked = NOTHING,
    ) -> tuple[Outcome, ...]:
        """Simulate the firmware and check it.

        Raises:
            UsageError: E089; such cores run no firmware.
        """
        kind = parse_cpu(cpu)
        require_firmware(kind)
        return run_image(
            self.image,
            samples,
            cpu=kind,
            accelerator=parse_backends(accelerator),
            progress=current(),
            written=_files_of(written, self.models),
        )

    def run_bench(
        self,
        bench: str,
        samples: Sequence[Sequence[Sample]],
        *,
        result: Judge,
        accelerator: Accelerator = None,
        firmware: bool = True,
        waves: Path | Waveforms | Waves | None = None,
        output: Path | None = None,
        junit: Path | None = None,
    ) -> BenchRun:
        """Run a user's tests beside the firmware; as `atoll.run_bench`."""
        return run_bench(
            self.image,
            bench,
            samples,
            result=result,
            backends=parse_backends(accelerator),
            firmware=firmware,
            waves=_files_of((waves, None), self.models).waves,
            output=output,
            junit=junit,
        )


def open_folder(folder: Path) -> Folder:
    """Open a build folder."""
    return Folder(open_build(folder))


def require_firmware(cpu: CpuKind) -> None:
    """Refuse cores that run no firmware.

    Raises:
        UsageError: E089.
    """
    if not cpu.session().runs_firmware:
        raise UsageError(
            "E089",
            f"--cpu {cpu} runs no firmware, and a build folder holds nothing else",
            remedy="use --cpu rtl, --cpu iss or --cpu qemu, or atoll run",
        )


@dataclass(frozen=True, slots=True)
class Findings:
    """How planted faults ended."""

    planted: Sequence[mutants_of.Campaign]
    broken: Sequence[faults_of.Campaign]
    cached: Sequence[CacheCampaign]

    @property
    def passed(self) -> bool:
        """The right builds have no finding, and every fault was noticed or survived."""
        noticed = all(each.passed for each in self.planted)
        noticed = noticed and all(each.passed for each in self.cached)
        return noticed and all(each.passed for each in self.broken)

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``atoll validate --json`` prints."""
        return {
            "passed": self.passed,
            "networks": [mutant_report.as_json(each) for each in self.planted],
            "faults": [fault_report.as_json(each) for each in self.broken],
            "caches": [each.as_json() for each in self.cached],
        }

    def rich(self, *, verbose: bool) -> RenderableType:
        """Return the tables that it prints."""
        planted = (mutant_report.text_of(self.planted, verbose=verbose),) if self.planted else ()
        broken = fault_report.rows_of(self.broken, verbose=verbose)
        return Group(*planted, *broken, *(each.text(verbose=verbose) for each in self.cached))


def validate_compiled(
    compiled: Sequence[Compiled],
    *,
    mutants: int = 0,
    faults: int = 0,
    caches: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    toolchain: str | None = None,
    resume: bool = False,
    coverage: Path | None = None,
) -> Findings:
    """Plant faults in the builds of networks, each on its own, and in the hardware that runs them.

    With `resume`, mutants that were tried before an interruption are not tried again. What the
    right builds reach is added to the folder `coverage`.

    Raises:
        UsageError: E092, E258; nothing can be added to that folder.
        SimulationError: E080 to E083; there is no RTL of a core, in which faults are planted.
    """
    soc, progress = compiled[0].soc, current()
    check_validation(soc, planted=bool(mutants or faults or coverage or not caches))
    if coverage:
        prepare_folder(coverage)
    mutate = partial(
        mutants_of.plant,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        toolchain=toolchain,
        progress=progress,
        resume=resume,
        coverage=coverage,
    )
    fail = partial(faults_of.run_campaign, seed=seed, toolchain=toolchain, progress=progress)
    leave_out = partial(plant_cache_omissions, seed=seed, toolchain=toolchain, progress=progress)
    alone = mutants or coverage or not (faults or caches)
    return Findings(
        planted=[
            mutate(each, count, first=first)
            for each, first, count in share_out(mutants, compiled if alone else ())
        ],
        broken=[
            fail(each, random_sample(each.graph)[0], count, first=first)
            for each, first, count in share_out(faults, compiled)
            if count
        ],
        cached=[leave_out(each) for each in compiled if caches],
    )


def check_validation(soc: ResolvedSoc, *, planted: bool) -> None:
    """Refuse a chip in which faults cannot be `planted`.

    Raises:
        SimulationError: E080 to E083; there is no RTL of a core.
    """
    if planted:
        check_cores(soc, _instead(soc))


def share_out(total: int, networks: Sequence[Compiled]) -> Iterator[tuple[Compiled, int, int]]:
    """Share `total` among networks: yield each with how many came before it, and its own."""
    first = 0
    for number, network in enumerate(networks):
        count = total // len(networks) + (number < total % len(networks))
        yield network, first, count
        first += count


def _instead(soc: ResolvedSoc) -> tuple[str, str]:
    """Return what helps where a core, or its unit, has no RTL, in which faults are planted."""
    core, unit = "use another core, one with RTL", "give the unit's YAML 'rtl'"
    if soc.cached_devices:
        alone = "use --caches alone, which runs on the instruction-set simulator"
        return f"{alone}, or {core[4:]}", f"{alone}, or {unit}"
    return core, unit


def _files_of(asked: Asked, models: Sequence[Compiled]) -> Written:
    """Return what a run writes, of which the waveforms know their network."""
    waves, coverage = asked
    if coverage:
        prepare_folder(coverage)
    if isinstance(waves, Path):
        waves = Waveforms(waves)
    if isinstance(waves, Waveforms):
        waves = request_waves(
            Path(waves.path),
            first=waves.first,
            last=waves.last,
            operator=waves.operator,
            limit=waves.limit,
        )
    return Written(waves=of_network(waves, models), coverage=coverage)
