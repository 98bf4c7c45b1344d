# SPDX-License-Identifier: Apache-2.0
"""The command `atoll run-image`: whatever was linked for a chip, on the simulated chip."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from atoll.bsp.cores import image_cores
from atoll.cli.options import JsonOption, PlacementOptions, SetOption, SocArgument
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options
from atoll.cli.working import working
from atoll.diagnostics.columns import wrapped
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import Progress
from atoll.diagnostics.shown import json_text
from atoll.driver.pipeline import Compiled, compile_models
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_image.elf import read_image
from atoll_image.provided import provided_faults
from atoll_sim.iss.rules import not_modelled
from atoll_sim.linked_networks import check_networks
from atoll_sim.players import AcceleratorOption, players_of
from atoll_sim.session import AcceleratorKind, CpuKind, Players
from atoll_sim.trace.run_files import read_pace
from atoll_sim.trace.simulation import SimRequest, SimResult, Stop

_MOST = 10**9
_ENDS = {
    Stop.TRAP: "a core took a trap that nothing handles",
    Stop.STALL: "nothing happened any more",
    Stop.LIMIT: "it did not end",
}


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
    ] = _MOST,
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
    if not cpu.session().runs_firmware:
        raise UsageError(
            "E089", f"--cpu {cpu} runs no images", remedy="use --cpu rtl, --cpu iss or --cpu qemu"
        )
    resolved = load_soc(soc, overrides or ())
    _check(resolved, images)
    cpu.check_chip(resolved)
    players = players_of(accelerator) or Players()
    players.check(resolved)
    with working("simulating") as progress, temporary_folder() as folder:
        models = _models(resolved, networks, placement, progress)
        if players.kind is not AcceleratorKind.NONE:
            check_networks(
                resolved,
                models,
                images,
                modelled=players.models(resolved),
                cores_in_rtl=cpu is CpuKind.RTL,
            )
        _check_provided(resolved, images[0])
        request = SimRequest(
            executable=Path(),
            elves=tuple(images),
            soc=resolved,
            run_dir=folder,
            samples=(),
            inputs=(),
            outputs=(),
            max_cycles=cycles,
            stall_cycles=cycles,
        )
        result = _PLAYERS[cpu](request, models, players, progress)
    if machine:
        print(json_text(_as_data(resolved, cpu, result)), end="")
    else:
        print(result.text, end="" if result.text.endswith("\n") else "\n")
        log(wrapped(_ended(result), log_room()))
        if left_out := _not_modelled(resolved, cpu):
            log(wrapped(f"not modelled: {'; '.join(left_out)}", log_room()))
    if result.stop is not Stop.EXIT or result.exit_status:
        raise typer.Exit(1)


def _check(soc: ResolvedSoc, images: list[Path]) -> None:
    cores = [core.name for core in image_cores(soc)]
    if len(images) > len(cores):
        raise UsageError(
            "E134",
            f"{len(images)} images, but only {len(cores)} of the cores of '{soc.name}' start one",
            remedy=f"give images of {', '.join(cores)}, in this order",
        )


def _check_provided(soc: ResolvedSoc, image: Path) -> None:
    """Refuse a host's image whose application lacks arrays of a network, or has other ones."""
    if any(pool.provided == "application" for pool in soc.pools):
        faults = tuple(provided_faults(as_seen_by(soc, soc.host), read_image(image)))
        if faults:
            raise UsageError.all(faults)


def _models(
    soc: ResolvedSoc,
    networks: Sequence[Path] | None,
    placement: PlacementOptions,
    progress: Progress,
) -> tuple[Compiled, ...]:
    if not networks:
        return ()
    progress("compiling and planning")
    return compile_models(soc, networks, build_options(networks, placement))


def _in_rtl(
    request: SimRequest, models: Sequence[Compiled], players: Players, progress: Progress
) -> SimResult:
    from atoll_sim.build.model import build_model
    from atoll_sim.simulate.session import simulate
    from atoll_sim.simulate.stand_ins import StandIns

    modelled = players.models(request.soc)
    executable = build_model(request.soc, stand_ins=modelled, progress=progress)

    def watch() -> None:
        if seen := read_pace(request.run_dir):
            progress(f"simulating in RTL: {seen.cycle:,} cycles")

    request = replace(request, executable=executable, watch=watch)
    if not modelled:
        return simulate(request)
    absent = players.kind is AcceleratorKind.NONE
    with StandIns(request.soc, models, modelled, absent=absent) as stand_ins:
        try:
            return simulate(replace(request, stand_ins=stand_ins.theirs.fileno()))
        except SimulationError as error:
            raise stand_ins.error or error from error


def _on_simulated_cores(
    request: SimRequest, models: Sequence[Compiled], players: Players, progress: Progress
) -> SimResult:
    from atoll_sim.iss.engines import ABSENT
    from atoll_sim.iss.run import playing, simulate

    if players.kind is AcceleratorKind.NONE:
        return simulate(request, lambda _memory: ABSENT, progress=progress)
    modelled = players.models(request.soc)
    with playing(request.soc, models, modelled, request.run_dir, progress) as engines:
        return simulate(request, engines, progress=progress)


def _on_qemu(
    request: SimRequest, models: Sequence[Compiled], players: Players, progress: Progress
) -> SimResult:
    from atoll_sim.qemu.run import simulate

    return simulate(request, progress)


_PLAYERS: dict[
    CpuKind, Callable[[SimRequest, Sequence[Compiled], Players, Progress], SimResult]
] = {
    CpuKind.RTL: _in_rtl,
    CpuKind.ISS: _on_simulated_cores,
    CpuKind.QEMU: _on_qemu,
}


def _ended(result: SimResult) -> str:
    """Say how the run ended, for people."""
    after = f"after {result.cycles:,} cycles, {result.wall_seconds:.1f} s"
    if result.stop is Stop.EXIT:
        return f"the program ended with status {result.exit_status} {after}"
    return f"{_ENDS[result.stop]} {after}"


def _as_data(soc: ResolvedSoc, cpu: CpuKind, result: SimResult) -> object:
    return {
        "soc": soc.name,
        "cpu": str(cpu),
        "stop": str(result.stop),
        "status": result.exit_status,
        "cycles": result.cycles,
        "seconds": round(result.wall_seconds, 3),
        "text": result.text,
        "not_modelled": list(_not_modelled(soc, cpu)),
    }


def _not_modelled(soc: ResolvedSoc, cpu: CpuKind) -> tuple[str, ...]:
    return not_modelled(soc) if cpu is CpuKind.ISS else ()
