# SPDX-License-Identifier: Apache-2.0
"""The command `atoll run-image`: whatever was linked for a chip, simulated or on a board."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.image_runs import LONGEST_CYCLES
from atoll.api.simulation import run_of
from atoll.artifacts.samples import samples_of
from atoll.cli.console import out
from atoll.cli.network_files import files_by_network
from atoll.cli.options import InputOption, JsonOption, PlacementOptions, SetOption, SocArgument
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.protocol import USUAL_BAUD
from atoll_sim.api.boards import run_on_board
from atoll_sim.api.linked_images import require_images, run_linked
from atoll_sim.backends.choice import AcceleratorOption, backends_of
from atoll_sim.backends.session import Backends, CpuKind


def run_image(
    soc: SocArgument,
    images: Annotated[
        list[Path],
        typer.Argument(metavar="IMAGE...", help="ELF files: the host's, then the other cores'."),
    ],
    cpu: Annotated[CpuKind, typer.Option(help="Who plays the cores: rtl, iss or qemu.")] = (
        CpuKind.RTL
    ),
    cycles: Annotated[
        int, typer.Option("--max-cycles", metavar="N", min=1, help="Stop after so many cycles.")
    ] = LONGEST_CYCLES,
    networks: Annotated[
        list[Path] | None,
        typer.Option(
            "--network",
            metavar="MODEL",
            help="A network that the images run, for accelerators that are played by its"
            " operators, or with --serial; once for each, in their order.",
        ),
    ] = None,
    accelerator: AcceleratorOption = None,
    serial: Annotated[
        str | None,
        typer.Option(
            metavar="PORT",
            help="Run nothing here: IMAGE, a firmware.serial.elf, is flashed on the board at PORT.",
        ),
    ] = None,
    baud: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"Of PORT; default: {USUAL_BAUD}.")
    ] = None,
    samples: InputOption = None,
    *,
    placement: PlacementOptions,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Run linked images on a simulated chip, whoever linked them.

    Prints what they send to the console, and nothing else on standard output. The status is 0 only
    if the host's program ends with 0. Firewalls are as described; no network is compared.
    Accelerators are played as by `atoll run`; of --network and options of placement only they
    take notice.

    With --serial the networks run on a board; output and status are those of `atoll run`.

    Example: atoll run-image lagoon build/zig/firmware.selftest.elf | atoll selftest -
    """
    simulated = {
        "--cpu": cpu is not CpuKind.RTL,
        "--max-cycles": cycles != LONGEST_CYCLES,
        "--accelerator": accelerator,
        "a second IMAGE": len(images) > 1,
    }
    _refuse(
        "with --serial" if serial else "without --serial",
        simulated if serial else {"--baud": baud, "--input": samples},
    )
    if serial and not networks:
        raise UsageError(
            "E274",
            "--serial holds networks on a board against their references, and none is named",
            remedy="add --network MODEL for each network of the image, in their order",
        )
    chip = atoll.load_soc(soc, overrides=overrides or ())
    if serial and networks:
        with show_work("compiling and planning") as progress:
            compiled = compile_files(chip, networks, build_options(networks, placement))._compiled
            names = [each.graph.name for each in compiled]
            given = samples_of(compiled, files_by_network("--input", samples or (), names))
            progress("connecting to the board")
            outcomes = run_on_board(
                compiled, given, images[0], port=serial, baud=baud or USUAL_BAUD
            )
        _finish(run_of(compiled, outcomes), machine=machine)
        return
    backends = backends_of(accelerator) or Backends()
    require_images(chip._resolved, len(images), cpu, backends)
    with show_work("simulating") as progress:
        made: tuple[atoll.CompiledNetwork, ...] = ()
        if networks:
            progress("compiling and planning")
            made = compile_files(chip, networks, build_options(networks, placement)).networks
        found = run_linked(
            chip._resolved,
            images,
            [each._compiled for each in made],
            cpu=cpu,
            accelerator=backends,
            max_cycles=cycles,
        )
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        print(found.printed, end="" if found.printed.endswith("\n") else "\n")
        log(wrap(found.ended, log_room()))
        if found.not_modelled:
            log(wrap(f"not modelled: {'; '.join(found.not_modelled)}", log_room()))
    if not found.passed:
        raise typer.Exit(1)


def _refuse(why: str, options: Mapping[str, object]) -> None:
    """Refuse the first option that is given and has no effect.

    Raises:
        UsageError: E191.
    """
    for option, value in options.items():
        if value:
            raise UsageError("E191", f"{option} has no effect {why}", remedy=f"leave {option} out")


def _finish(found: atoll.Run, *, machine: bool) -> None:
    """Print what networks did on a board."""
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        for each in found:
            out.print(each.rich())
    if not found.passed:
        raise typer.Exit(1)
