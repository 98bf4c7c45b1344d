# SPDX-License-Identifier: Apache-2.0
"""The commands that the simulator adds to `atoll`: run and simulate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.driver import Compiled, names_of
from atoll.api.simulation import run_of
from atoll.artifacts.samples import Sample, samples_of, save_outputs
from atoll.cli.console import out
from atoll.cli.network_files import files_by_network, path_of
from atoll.cli.options import (
    InputOption,
    JsonOption,
    ModelsArgument,
    PlacementOptions,
    SetOption,
    SocArgument,
    ToolchainOption,
)
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import working
from atoll.diagnostics.shown import json_text
from atoll.utils.files import require_writable
from atoll_sim.api import open_folder, require_firmware, run_compiled
from atoll_sim.dataset.judged import Judged, refuse_with_dataset
from atoll_sim.dataset.text import render_accuracy
from atoll_sim.oracle.ask import Oracle, oracle_of
from atoll_sim.players import AcceleratorOption, players_of, takes_part
from atoll_sim.run import CpuKind, Outcome, Players, check_kinds
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
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Compile, simulate and check networks on a chip.

    The status is 0 only if all layers are bit-exact, against Atoll's reference of the imported
    graph, and no access broke the plan.
    Several networks share one firmware, which runs them in turn.
    With --dataset the accuracy and the confusion of classes are printed as well.

    Example: atoll run lagoon model.tflite --cpu native --accelerator model
    """
    asked, asked_players = waves.request(), players_of(accelerator)
    check_kinds(cpu, asked)
    _prepare(output or ())
    refuse_with_dataset(dataset, models, samples)
    inputs, outputs = (
        files_by_network(f"--{side}", files or (), names_of(models))
        for side, files in (("input", samples), ("output", output))
    )
    oracles = [oracle_of(model) for model in models] if oracle else ()
    chip = atoll.load_soc(soc, overrides=overrides or ())
    chip.require_toolchain(toolchain)
    if asked_players:
        asked_players.check(chip._resolved)
    cpu.check_chip(chip._resolved)
    compiled = _planned(chip, models, placement, asked_players)._compiled
    judged = _judged(compiled[0], dataset)
    batches = (judged.samples,) if judged else samples_of(compiled, inputs)
    with working("compiling"):
        outcomes = run_compiled(
            compiled,
            batches,
            cpu=cpu,
            accelerator=asked_players,
            keep=keep,
            toolchain=toolchain,
            waves=asked,
        )
    if oracle:
        with working("asking the oracle"):
            outcomes = _witnessed(outcomes, oracles, models, compiled, batches)
    _finish(compiled, outcomes, outputs, brief=brief, machine=machine, judged=judged)


def _witnessed(
    outcomes: Sequence[Outcome],
    oracles: Sequence[Oracle],
    files: Sequence[Path],
    models: Sequence[Compiled],
    batches: Sequence[Sequence[Sample]],
) -> tuple[Outcome, ...]:
    """Add to each report what an oracle says of the samples."""
    made = []
    for outcome, ask, file, model, batch in zip(
        outcomes, oracles, files, models, batches, strict=True
    ):
        verdict = ask(file, [[sample[name] for name in model.graph.inputs] for sample in batch])
        made.append(replace(outcome, report=replace(outcome.report, oracle=verdict)))
    return tuple(made)


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
    brief: BriefOption = False,
    machine: JsonOption = False,
) -> None:
    """Simulate the firmware of a build folder and check it.

    The status is that of `atoll run`.

    Example: atoll simulate build/model --input samples.npy --waves model.vcd
    """
    asked = waves.request()
    asked_players = players_of(accelerator)
    require_firmware(cpu)
    _prepare(output or ())
    with working("reading the build folder"):
        opened = open_folder(folder)
    models = opened.models
    networks = [model.graph.name for model in models]
    outputs = files_by_network("--output", output or (), networks)
    batches = samples_of(models, files_by_network("--input", samples or (), networks))
    with working("simulating"):
        outcomes = opened.run(batches, cpu=cpu, accelerator=asked_players, waves=asked)
    _finish(models, outcomes, outputs, brief=brief, machine=machine)


def _planned(
    soc: atoll.Soc,
    models: Sequence[Path],
    placement: PlacementOptions,
    players: Players | None,
) -> atoll.Compilation:
    options = build_options(models, placement, accelerators=takes_part(players))
    with working("compiling and planning"):
        return compile_files(soc, models, options)


def _judged(compiled: Compiled, dataset: Path | None) -> Judged | None:
    if dataset is None:
        return None
    with working("reading the samples") as progress:
        return Judged.of(compiled, dataset, progress)


def _prepare(outputs: Sequence[str]) -> None:
    for output in outputs:
        require_writable(path_of(output))


def _finish(
    models: Sequence[Compiled],
    outcomes: Sequence[Outcome],
    outputs: Mapping[str, Path],
    *,
    brief: bool,
    machine: bool,
    judged: Judged | None = None,
) -> None:
    for model, outcome in zip(models, outcomes, strict=True):
        made = judged.found.outputs if judged else outcome.outputs
        if made and model.graph.name in outputs:
            save_outputs(outputs[model.graph.name], made)
    found = run_of(models, outcomes)
    accuracy = judged.held_against(outcomes[0].outputs) if judged else None
    if machine:
        told = accuracy.as_json() if accuracy else None
        objects = [each.to_json() | {"dataset": told} for each in found]
        print(json_text(objects if len(objects) > 1 else objects[0]), end="")
    else:
        for each in found:
            out.print(each.rich(brief=brief))
    if accuracy and not machine:
        out.print(render_accuracy(accuracy))
    if not found.passed or (accuracy and not accuracy.passed):
        raise typer.Exit(1)
