# SPDX-License-Identifier: Apache-2.0
"""The commands that the simulator adds to `atoll`: run and simulate."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.driver import names_of
from atoll.api.simulation import run_of
from atoll.api.traces import require_clock, require_trace, write_run_trace
from atoll.artifacts.samples import samples_of, save_outputs
from atoll.cli.bench_options import BenchOptions
from atoll.cli.console import out
from atoll.cli.network_files import files_by_network, path_of
from atoll.cli.options import (
    InputOption,
    JsonOption,
    ModelsArgument,
    PlacementOptions,
    ReportOption,
    SetOption,
    SocArgument,
    ToolchainOption,
    TraceOption,
)
from atoll.cli.output import log
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.utils.files import is_no_source, require_writable
from atoll_sim.api.compiled_networks import (
    open_folder,
    refuse_with_dataset,
    require_firmware,
    require_oracles,
    run_compiled,
)
from atoll_sim.backends.choice import AcceleratorOption, backends_of, takes_part
from atoll_sim.runs.checked_run import CpuKind, Written, check_kinds
from atoll_sim.waves.options import WavesOptions

OutputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write the outputs of all samples (.npy or .npz), once for each MODEL or as "
        "NETWORK=FILE.",
    ),
]
DatasetOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Labelled samples (.npz: labels, and an array for each input): how often the network"
        " is right, by this computer's own code; a few of them run on the chip.",
    ),
]
CpuOption = Annotated[CpuKind, typer.Option(help="Who plays the cores.")]
FirmwareCpuOption = Annotated[CpuKind, typer.Option(help="Who plays the cores: rtl, iss or qemu.")]
OracleOption = Annotated[
    bool,
    typer.Option(
        "--oracle",
        help="Hold the imported network against another implementation too: onnxruntime for an "
        "ONNX file, tflite-micro for a TFLite file.",
    ),
]
KeepOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Keep the build folder in DIR.")
]
CoverageOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Add what the run reaches of the RTL and of what the description allows to DIR.",
    ),
]
StartSeedOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        max=2**31 - 1,
        help="Decides with which values registers and memories of RTL begin that nobody resets.",
    ),
]
FirmwareOption = Annotated[
    bool,
    typer.Option(
        "--firmware/--no-firmware",
        help="With --bench: leave the cores out; tests make the host's accesses.",
    ),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="Leave out memory map and layer table.")]


def run(
    soc: SocArgument,
    models: ModelsArgument,
    samples: InputOption = None,
    output: OutputOption = None,
    dataset: DatasetOption = None,
    cpu: CpuOption = CpuKind.RTL,
    accelerator: AcceleratorOption = None,
    *,
    placement: PlacementOptions,
    oracle: OracleOption = False,
    keep: KeepOption = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    waves: WavesOptions,
    coverage: CoverageOption = None,
    start_seed: StartSeedOption = None,
    trace: TraceOption = None,
    brief: BriefOption = False,
    page: ReportOption = None,
    machine: JsonOption = False,
) -> None:
    """Compile, simulate and check networks on a chip.

    The status is 0 only if all layers are bit-exact, against Atoll's reference of the imported
    graph, and no access broke the plan.
    Several networks share one firmware, which runs them in turn.
    With --dataset the accuracy and the confusion of classes are printed as well.

    Example: atoll run lagoon model.tflite --cpu native --accelerator model
    """
    asked, asked_backends = waves.request(), backends_of(accelerator)
    check_kinds(cpu, Written(waves=asked, coverage=coverage))
    require_trace(trace, cpu)
    _prepare(output or (), (*(samples or ()), *([str(dataset)] if dataset else ())))
    prepare_report(page, trace)
    if dataset:
        refuse_with_dataset(len(models), sampled=bool(samples))
    inputs, outputs = (
        files_by_network(f"--{side}", files or (), names_of(models))
        for side, files in (("input", samples), ("output", output))
    )
    require_oracles(models if oracle else ())
    chip = atoll.load_soc(soc, overrides=overrides or ())
    chip.require_toolchain(toolchain)
    if asked_backends:
        asked_backends.check(chip._resolved)
    require_clock(trace, cpu, chip._resolved)
    cpu.check_chip(chip._resolved)
    options = build_options(models, placement, accelerators=takes_part(asked_backends))
    with show_work("compiling and planning"):
        made = compile_files(chip, models, options)
        compiled = made._compiled
    batches = () if dataset else samples_of(compiled, inputs)
    with show_work("reading the samples" if dataset else "compiling"):
        outcomes = run_compiled(
            compiled,
            batches,
            cpu=cpu,
            accelerator=asked_backends,
            keep=keep,
            toolchain=toolchain,
            written=(asked, coverage),
            start_seed=start_seed,
            oracle=oracle,
            dataset=dataset,
        )
    found = run_of(compiled, outcomes)
    write_run_trace(trace, compiled, found)
    write_report(page, made, found)
    with names_as_written(None if machine else soc, (each.graph for each in compiled)):
        _finish(found, outputs, trace, brief=brief, machine=machine)


def simulate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Build folder that `atoll build` wrote.")
    ],
    samples: InputOption = None,
    output: OutputOption = None,
    cpu: FirmwareCpuOption = CpuKind.RTL,
    accelerator: AcceleratorOption = None,
    *,
    waves: WavesOptions,
    coverage: CoverageOption = None,
    trace: TraceOption = None,
    own: BenchOptions,
    firmware: FirmwareOption = True,
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Simulate the firmware of a build folder and check it.

    The status is that of `atoll run`. With --bench it is 0 only if all tests passed as well.

    Example: atoll simulate build/model --input samples.npy --waves model.vcd
    """
    asked = waves.request()
    own.require_bench()
    if own.bench:
        others: dict[str, object] = {
            "--output": output,
            "--trace": trace,
            "--coverage": coverage,
        }
        if not firmware:
            _refuse_beside("--no-firmware", {"--waves": asked, "--accelerator": accelerator})
        _check_bench(cpu, others)
    elif not firmware:
        raise UsageError(
            "E191",
            "--no-firmware leaves the chip to a bench, and there is none",
            remedy="add --bench MODULE, or leave it out",
        )
    asked_backends = backends_of(accelerator)
    require_firmware(cpu)
    require_trace(trace, cpu)
    _prepare(output or (), samples or ())
    with show_work("reading the build folder"):
        opened = open_folder(folder)
    models = opened.models
    networks = [model.graph.name for model in models]
    outputs = files_by_network("--output", output or (), networks)
    batches = samples_of(models, files_by_network("--input", samples or (), networks))
    if own.bench:
        with show_work("simulating"):
            tested = opened.run_bench(
                own.bench,
                batches,
                result=partial(run_of, models),
                accelerator=asked_backends,
                firmware=firmware,
                waves=asked,
                output=own.bench_output,
                junit=own.junit,
            )
        own.finish(tested, machine=machine)
        return
    with show_work("simulating"):
        outcomes = opened.run(
            batches, cpu=cpu, accelerator=asked_backends, written=(asked, coverage)
        )
    found = run_of(models, outcomes)
    write_run_trace(trace, models, found)
    _finish(found, outputs, trace, brief=brief, machine=machine)


def _check_bench(cpu: CpuKind, others: Mapping[str, object]) -> None:
    """Refuse options that have no effect with a bench."""
    if cpu is not CpuKind.RTL:
        raise UsageError(
            "E191",
            f"--bench runs beside the chip in RTL, and --cpu {cpu} has none of the cores",
            remedy="leave --cpu out",
        )
    _refuse_beside("--bench", others)


def _refuse_beside(option: str, others: Mapping[str, object]) -> None:
    """Refuse those of other options that are given, but have no effect with `option`."""
    if given := [name for name, value in others.items() if value]:
        raise UsageError(
            "E191", f"{given[0]} has no effect with {option}", remedy=f"leave {given[0]} out"
        )


def _prepare(outputs: Sequence[str], inputs: Sequence[str]) -> None:
    taken = {path_of(each).resolve() for each in inputs}
    for output in outputs:
        require_writable(
            path_of(output), lambda target: is_no_source(target) and target not in taken
        )


def _finish(
    found: atoll.Run,
    outputs: Mapping[str, Path],
    trace: Path | None,
    *,
    brief: bool,
    machine: bool,
) -> None:
    for each in found:
        made = each.accuracy.outputs if each.accuracy else each.outputs
        if made and each.network in outputs:
            save_outputs(outputs[each.network], made)
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        for each in found:
            out.print(each.rich(brief=brief))
    if trace:
        log(f"wrote {trace}")
    if not found.passed:
        raise typer.Exit(1)
