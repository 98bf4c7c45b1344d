# SPDX-License-Identifier: Apache-2.0
"""Run, simulate and validate: what the simulator does, where it is installed."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal, Protocol, Unpack

from rich.console import RenderableType

from atoll.api.accuracy import Accuracy
from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.compilation import Compilation, compile, several
from atoll.api.driver import Compiled
from atoll.api.networks import NetworkSource
from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.requests import BuildSource, Requests
from atoll.api.runs import Run, network_run
from atoll.api.samples import Array, Samples, samples_for
from atoll.api.traces import require_clock, require_trace, write_run_trace
from atoll.records import dataclass
from atoll.report.result import RunReport

Cpu = Literal["rtl", "iss", "qemu", "native"]
AcceleratorWord = Literal["rtl", "model", "none"]
Accelerator = AcceleratorWord | Mapping[str, Literal["rtl", "model"]] | None


@dataclass(frozen=True, slots=True)
class Waveforms:
    """Waveforms to record.

    Attributes:
        path: the file (.vcd, or .fst where possible).
        first: cycle from which they are recorded.
        last: cycle up to which they are.
        operator: record its first run alone; of several networks, ``NETWORK:OPERATOR``.
        limit: recording ends when the file is so large, such as ``"200 MiB"``; None: 1 GiB.
    """

    path: Path | str
    first: int | None = None
    last: int | None = None
    operator: str | None = None
    limit: str | None = None


class Outcome(Protocol):
    """What the simulator returns of one network."""

    @property
    def report(self) -> RunReport:
        """What was proven and measured."""
        ...

    @property
    def outputs(self) -> tuple[Mapping[str, Array], ...]:
        """Of each finished sample."""
        ...

    @property
    def accuracy(self) -> Accuracy | None:
        """What the network made of a dataset, if there was one."""
        ...


class Findings(Protocol):
    """What the simulator returns of planted faults."""

    @property
    def passed(self) -> bool:
        """Every fault was noticed or survived."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``atoll validate --json`` prints."""
        ...

    def rich(self, *, verbose: bool) -> RenderableType:
        """Return the tables that it prints."""
        ...


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether wrong builds were noticed, and what broke was survived.

    Attributes:
        passed: the right builds have no finding, every mutant is noticed that is a fault, and every
            hardware fault ends in a right result, an error code or a restart.
    """

    passed: bool
    _findings: Findings = field(repr=False)

    def rows(self) -> list[Row]:
        """Return every planted mutant, with who noticed it."""
        return [
            {"network": each["model"], **mutant}
            for each in self.to_json()["networks"]
            for mutant in each["mutants"]
        ]

    def text(self, *, verbose: bool = False, columns: int | None = None) -> str:
        """Return what ``atoll validate`` prints."""
        return plain_text(self.rich(verbose=verbose), columns)

    def rich(self, *, verbose: bool = False) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        return self._findings.rich(verbose=verbose)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll validate --json`` prints."""
        return self._findings.as_json()

    def _repr_html_(self) -> str:
        return html_table(f"validation: {'passed' if self.passed else 'failed'}", self.rows())


def run(
    compilation: Compilation,
    samples: Samples = None,
    *,
    cpu: Cpu = "rtl",
    accelerator: Accelerator = None,
    keep: Path | str | None = None,
    toolchain: str | None = None,
    waves: Waveforms | Path | str | None = None,
    coverage: Path | str | None = None,
    start_seed: int | None = None,
    trace: Path | str | None = None,
    oracle: bool = False,
    dataset: Path | str | None = None,
) -> Run:
    """Build, simulate and check networks; hold each layer and access against reference and plan.

    Args:
        compilation: what `compile` returned.
        samples: of the network; of several, by network. None draws a random one from a seed.
        cpu: who plays the cores.
        accelerator: who plays the accelerators, or each by its name; None: RTL where there is some.
        keep: keep the build folder there.
        toolchain: compiles and links; None takes the description's.
        waves: record waveforms in this file, with ``cpu="rtl"``.
        coverage: add what the run reaches of RTL and description to this folder, likewise.
        start_seed: decides with which values registers and memories of RTL begin that nobody
            resets; 1 by default.
        trace: show the run in this file, for Perfetto; not with ``cpu="native"``.
        oracle: hold the imported network against another implementation too: onnxruntime for an
            ONNX file, tflite-micro for a TFLite file.
        dataset: labelled samples (.npz: labels, and an array for each input) of one network, all of
            which this computer runs, and a few the chip.

    Raises:
        UsageError: E090, no simulator is installed; E093, the samples do not fit; E163, nobody can
            play an accelerator as asked; E180 to E182, there is no oracle; E092, E230, E231, there
            can be no trace.
        SimulationError: the simulation did not come to its end.

    >>> import atoll
    >>> made = atoll.compile("lagoon", "examples/01_digits/digits_int8.tflite")
    >>> atoll.run(made, cpu="native", accelerator="model").passed
    True
    """
    traced = require_trace(trace, cpu)
    require_clock(trace, cpu, compilation.soc._resolved)
    simulator = function_of("atoll_sim.api.compiled_networks:run_compiled", "run")
    compilation.soc.require_toolchain(toolchain)
    given = samples is not None or dataset is None
    outcomes = simulator(
        compilation._compiled,
        samples_for(compilation._compiled, samples) if given else (),
        cpu=cpu,
        accelerator=accelerator,
        keep=None if keep is None else Path(keep),
        toolchain=toolchain,
        written=_file_names(waves, coverage),
        start_seed=start_seed,
        oracle=oracle,
        dataset=None if dataset is None else Path(dataset),
    )
    found = run_of(compilation._compiled, outcomes)
    write_run_trace(traced, compilation._compiled, found)
    return found


def simulate(
    folder: Path | str,
    samples: Samples = None,
    *,
    cpu: Literal["rtl", "iss", "qemu"] = "rtl",
    accelerator: Accelerator = None,
    waves: Waveforms | Path | str | None = None,
    coverage: Path | str | None = None,
    trace: Path | str | None = None,
) -> Run:
    """Simulate the firmware of a build folder and check it; the rest is as in `run`.

    Raises:
        UsageError: E096, it is no usable build folder.
    """
    traced = require_trace(trace)
    opened = function_of("atoll_sim.api.compiled_networks:open_folder", "simulate")(Path(folder))
    compiled: tuple[Compiled, ...] = opened.models
    outcomes = opened.run(
        samples_for(compiled, samples),
        cpu=cpu,
        accelerator=accelerator,
        written=_file_names(waves, coverage),
    )
    found = run_of(compiled, outcomes)
    write_run_trace(traced, compiled, found)
    return found


def _file_names(
    waves: Waveforms | Path | str | None, coverage: Path | str | None
) -> tuple[Waveforms | Path | None, Path | None]:
    file = Path(waves) if isinstance(waves, str) else waves
    return file, None if coverage is None else Path(coverage)


def validate(
    soc: SocSource,
    networks: NetworkSource | Sequence[NetworkSource],
    *,
    mutants: int = 0,
    faults: int = 0,
    caches: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    resume: bool = False,
    coverage: Path | str | None = None,
    build: BuildSource = None,
    toolchain: str | None = None,
    **requests: Unpack[Requests],
) -> Validation:
    """Plant faults in builds and in hardware, and see how they end.

    Args:
        soc: the chip, or what `load_soc` takes.
        networks: each is compiled and run on its own.
        mutants: how many wrong builds, shared by the networks.
        faults: how many hardware faults, shared by the networks.
        caches: leave out each operation on a data cache, with the instruction-set simulator.
        seed: draws other mutants and faults.
        jobs: simulations at a time; None takes all cores.
        resume: go on with the mutants of a campaign that was interrupted.
        coverage: add what the right builds reach of RTL and description to this folder; runs with
            planted faults do not count.
        build: a build file, or what it would say.
        toolchain: compiles and links; None takes the description's.
        **requests: keys of a build file.

    Raises:
        UsageError: E090, no simulator is installed; E092, E258, coverage cannot be added.
        AtollError: as `compile`.
    """
    plant = function_of("atoll_sim.api.compiled_networks:validate_compiled", "validate")
    chip = load_soc(soc)
    chip.require_toolchain(toolchain)
    compiled = [
        compile(chip, each, build=build, **requests).network._compiled for each in several(networks)
    ]
    found: Findings = plant(
        compiled,
        mutants=mutants,
        faults=faults,
        caches=caches,
        seed=seed,
        jobs=jobs,
        resume=resume,
        coverage=None if coverage is None else Path(coverage),
        toolchain=toolchain,
    )
    return Validation(found.passed, found)


def run_of(compiled: Sequence[Compiled], outcomes: Sequence[Outcome]) -> Run:
    """Return what the simulator found as callers see it."""
    pairs = zip(compiled, outcomes, strict=True)
    return Run(
        tuple(
            network_run(each.report, model.plan, each.outputs, each.accuracy)
            for model, each in pairs
        )
    )
