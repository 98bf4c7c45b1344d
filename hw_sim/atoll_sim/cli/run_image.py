# SPDX-License-Identifier: Apache-2.0
"""The command `atoll run-image`: whatever was linked for a chip, on the simulated chip."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.image_runs import LONGEST_CYCLES
from atoll.cli.options import JsonOption, PlacementOptions, SetOption, SocArgument
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.shown import json_text
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
            " operators; once for each, in their order.",
        ),
    ] = None,
    accelerator: AcceleratorOption = None,
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

    Example: atoll run-image lagoon build/zig/firmware.selftest.elf | atoll selftest -
    """
    chip = atoll.load_soc(soc, overrides=overrides or ())
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
