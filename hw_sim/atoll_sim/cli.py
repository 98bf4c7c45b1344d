"""The commands that the simulator adds to `atoll`: run and simulate."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli import require_toolchain
from atoll.cli_options import (
    BuildFileOption,
    FreeOption,
    JsonOption,
    ModelsArgument,
    OverlapOption,
    PinOption,
    PlaceOption,
    SetOption,
    SocArgument,
    ToolchainOption,
    build_options,
)
from atoll.cli_output import out
from atoll.cli_progress import working
from atoll.files import require_writable
from atoll.pipeline import Compiled
from atoll.report.text import render
from atoll.resolve import load_soc
from atoll.together import compile_together
from atoll_sim.build_folder import open_build
from atoll_sim.run import (
    AcceleratorKind,
    CpuKind,
    Outcome,
    check_kinds,
    run_compiled,
    run_image,
)
from atoll_sim.samples import require_each, samples_of, save_outputs
from atoll_sim.turns import run_image_in_turn, run_together
from atoll_sim.waves.options import (
    WavesFromOption,
    WavesLimitOption,
    WavesOperatorOption,
    WavesOption,
    WavesToOption,
)
from atoll_sim.waves.request import operator_names, operator_number, request_waves

InputOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="One sample or a batch (.npy; .npz for several inputs), once for each MODEL; "
        "default: a seeded random one.",
    ),
]
OutputOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        metavar="FILE",
        help="Write the outputs of all samples (.npy or .npz), once for each MODEL.",
    ),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="Leave out memory map and layer table.")]


def run(
    soc: SocArgument,
    models: ModelsArgument,
    samples: InputOption = None,
    output: OutputOption = None,
    cpu: Annotated[CpuKind, typer.Option(help="Who plays the cores.")] = CpuKind.RTL,
    accelerator: Annotated[
        AcceleratorKind,
        typer.Option(help="Who plays the accelerators; none: every operator on the host."),
    ] = AcceleratorKind.RTL,
    build_file: BuildFileOption = None,
    place: PlaceOption = None,
    pin: PinOption = None,
    free: FreeOption = None,
    overlap: OverlapOption = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the build folder in DIR.")
    ] = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    waves: WavesOption = None,
    waves_from: WavesFromOption = None,
    waves_to: WavesToOption = None,
    waves_operator: WavesOperatorOption = None,
    waves_limit: WavesLimitOption = None,
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Compile, simulate and check networks on a chip.

    The status is 0 only if all layers are bit-exact and no access broke the plan.
    Several networks share one firmware, which runs them in turn.

    Example: atoll run lagoon model.tflite --cpu native --accelerator model
    """
    asked = request_waves(
        waves, first=waves_from, last=waves_to, operator=waves_operator, limit=waves_limit
    )
    check_kinds(cpu, accelerator, asked, models=len(models))
    _prepare(output or ())
    require_each("--output", output or (), len(models))
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    used = accelerator is not AcceleratorKind.NONE
    options = build_options(models, build_file, place, pin, free, overlap, accelerators=used)
    with working("compiling and planning"):
        compiled = compile_together(resolved, models, options)
    batches = samples_of(compiled, samples or ())
    if asked:
        operator_number(asked, operator_names(compiled[0].graph))
    with working("compiling") as progress:
        if len(compiled) > 1:
            outcomes = run_together(
                compiled,
                batches,
                keep=keep,
                progress=progress,
                toolchain=toolchain,
                waves=asked,
            )
        else:
            outcome = run_compiled(
                compiled[0],
                batches[0],
                cpu=cpu,
                accelerator=accelerator,
                keep=keep,
                progress=progress,
                toolchain=toolchain,
                waves=asked,
            )
            outcomes = (outcome,)
    _finish(compiled, outcomes, output or (), brief=brief, machine=machine)


def simulate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Build folder that `atoll build` wrote.")
    ],
    samples: InputOption = None,
    output: OutputOption = None,
    waves: WavesOption = None,
    waves_from: WavesFromOption = None,
    waves_to: WavesToOption = None,
    waves_operator: WavesOperatorOption = None,
    waves_limit: WavesLimitOption = None,
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Simulate the firmware of a build folder and check it.

    The firmware runs in RTL; the status is that of `atoll run`.

    Example: atoll simulate build/model --input samples.npy --waves model.vcd
    """
    asked = request_waves(
        waves, first=waves_from, last=waves_to, operator=waves_operator, limit=waves_limit
    )
    _prepare(output or ())
    with working("reading the build folder"):
        image = open_build(folder)
    models = image.models
    require_each("--output", output or (), len(models))
    batches = samples_of(models, samples or ())
    with working("simulating") as progress:
        if len(models) > 1:
            outcomes = run_image_in_turn(image, batches, progress=progress, waves=asked)
        else:
            outcomes = (run_image(image, batches[0], progress=progress, waves=asked),)
    _finish(models, outcomes, output or (), brief=brief, machine=machine)


def _prepare(outputs: Sequence[Path]) -> None:
    for output in outputs:
        require_writable(output)


def _finish(
    models: Sequence[Compiled],
    outcomes: Sequence[Outcome],
    outputs: Sequence[Path],
    *,
    brief: bool,
    machine: bool,
) -> None:
    for path, outcome in zip(outputs, outcomes, strict=False):
        if outcome.outputs:
            save_outputs(path, outcome.outputs)
    reports = [outcome.report for outcome in outcomes]
    if machine:
        objects = [report.as_json() for report in reports]
        print(json.dumps(objects if len(objects) > 1 else objects[0], indent=2))
    else:
        for model, report in zip(models, reports, strict=True):
            out.print(render(report, model.plan, brief=brief))
    if not all(report.passed for report in reports):
        raise typer.Exit(1)
