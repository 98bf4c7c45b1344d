"""The commands that the simulator adds to `atoll`: run and simulate."""

import json
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli import require_toolchain
from atoll.cli_options import (
    BuildFileOption,
    FreeOption,
    JsonOption,
    ModelArgument,
    OverlapOption,
    PinOption,
    PlaceOption,
    SetOption,
    SocArgument,
    ToolchainOption,
)
from atoll.cli_output import log, out
from atoll.description.build import load_requests
from atoll.files import require_writable
from atoll.pipeline import BuildOptions, Compiled, compile_file
from atoll.report.text import render
from atoll.resolve import load_soc
from atoll_sim.build_folder import open_build
from atoll_sim.run import (
    AcceleratorKind,
    CpuKind,
    Outcome,
    check_kinds,
    run_compiled,
    run_image,
)
from atoll_sim.samples import Sample, load_samples, random_sample, save_outputs

InputOption = Annotated[
    Path | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="One sample or a batch (.npy; .npz for several inputs); default: a seeded random one.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", metavar="FILE", help="Write the outputs of all samples (.npy or .npz)."
    ),
]
BriefOption = Annotated[bool, typer.Option("--brief", help="Leave out memory map and layer table.")]


def run(
    soc: SocArgument,
    model: ModelArgument,
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
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Compile, simulate and check a network on a chip.

    The status is 0 only if all layers are bit-exact and no access broke the plan.

    Example: atoll run lagoon model.tflite --cpu native --accelerator model
    """
    check_kinds(cpu, accelerator)
    if output:
        require_writable(output)
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    options = BuildOptions(
        accelerators=accelerator is not AcceleratorKind.NONE,
        requests=load_requests(build_file, place or (), pin or (), free or (), overlap),
    )
    compiled = compile_file(resolved, model, options)
    batch = _samples(compiled, samples)
    with log.status("compiling") as status:
        outcome = run_compiled(
            compiled,
            batch,
            cpu=cpu,
            accelerator=accelerator,
            keep=keep,
            progress=status.update,
            toolchain=toolchain,
        )
    _finish(compiled, outcome, output, brief=brief, machine=machine)


def simulate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Build folder that `atoll build` wrote.")
    ],
    samples: InputOption = None,
    output: OutputOption = None,
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Simulate the firmware of a build folder and check it.

    The firmware runs in RTL; the status is that of `atoll run`.

    Example: atoll simulate build/model --input samples.npy
    """
    if output:
        require_writable(output)
    image = open_build(folder)
    batch = _samples(image.compiled, samples)
    with log.status("simulating") as status:
        outcome = run_image(image, batch, progress=status.update)
    _finish(image.compiled, outcome, output, brief=brief, machine=machine)


def _samples(compiled: Compiled, path: Path | None) -> tuple[Sample, ...]:
    return load_samples(path, compiled.graph) if path else random_sample(compiled.graph)


def _finish(
    compiled: Compiled, outcome: Outcome, output: Path | None, *, brief: bool, machine: bool
) -> None:
    if output and outcome.outputs:
        save_outputs(output, outcome.outputs)
    if machine:
        print(json.dumps(outcome.report.as_json(), indent=2))
    else:
        out.print(render(outcome.report, compiled.plan, brief=brief))
    if not outcome.report.passed:
        raise typer.Exit(1)
