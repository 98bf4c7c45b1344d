# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `atoll.run_image`: whatever was linked for a chip, run on it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.api.image_runs import ImageRun
from atoll.bsp.core_images import image_cores
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import Progress, current
from atoll.driver.pipeline import Compiled
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_image.elf import read_image
from atoll_image.provided import provided_faults
from atoll_sim.backends.choice import Accelerator, parse_backends, parse_cpu
from atoll_sim.backends.session import AcceleratorKind, Backends, CpuKind
from atoll_sim.iss.rules import not_modelled
from atoll_sim.runs.linked_networks import check_networks
from atoll_sim.trace.run_files import looking
from atoll_sim.trace.simulation import SimRequest, SimResult, Stop
from atoll_sim.trace.so_far import SoFar

_ENDS = {
    Stop.TRAP: "a core took a trap that nothing handles",
    Stop.STALL: "nothing happened any more",
    Stop.LIMIT: "it did not end",
}


def run_linked(
    soc: ResolvedSoc,
    images: Sequence[Path],
    networks: Sequence[Compiled],
    *,
    cpu: str,
    accelerator: Accelerator,
    max_cycles: int,
) -> ImageRun:
    """Run images, the host's first, and tell how that ended.

    Raises:
        UsageError: as `atoll.run_image`.
    """
    kind, backends = parse_cpu(cpu), parse_backends(accelerator) or Backends()
    require_images(soc, len(images), kind, backends)
    if backends.kind is not AcceleratorKind.NONE:
        check_networks(
            soc,
            networks,
            images,
            modelled=backends.models(soc),
            cores_in_rtl=kind is CpuKind.RTL,
        )
    _check_provided(soc, images[0])
    with temporary_folder() as folder:
        request = SimRequest(
            executable=Path(),
            elves=tuple(images),
            soc=soc,
            run_dir=folder,
            samples=(),
            inputs=(),
            outputs=(),
            max_cycles=max_cycles,
            stall_cycles=max_cycles,
        )
        result = _PLAYERS[kind](request, networks, backends, current())
    return ImageRun(
        soc=soc.name,
        cpu=str(kind),
        stop=str(result.stop),
        status=result.exit_status,
        cycles=result.cycles,
        wall_seconds=result.wall_seconds,
        printed=result.text,
        not_modelled=not_modelled(soc) if kind is CpuKind.ISS else (),
        ended=_ending_text(result),
    )


def require_images(soc: ResolvedSoc, count: int, cpu: CpuKind, backends: Backends) -> None:
    """Refuse what runs no images, and more images than cores start.

    Raises:
        UsageError: E089, E134, E163.
        SimulationError: the cores of the chip cannot be played so.
    """
    if not cpu.session().runs_firmware:
        raise UsageError(
            "E089", f"--cpu {cpu} runs no images", remedy="use --cpu rtl, --cpu iss or --cpu qemu"
        )
    cores = [core.name for core in image_cores(soc)]
    if count > len(cores):
        raise UsageError(
            "E134",
            f"{count} images, but only {len(cores)} of the cores of '{soc.name}' start one",
            remedy=f"give images of {', '.join(cores)}, in this order",
        )
    cpu.check_chip(soc)
    backends.check(soc)


def _check_provided(soc: ResolvedSoc, image: Path) -> None:
    """Refuse a host's image whose application lacks arrays of a network, or has other ones."""
    if any(pool.provided == "application" for pool in soc.pools):
        faults = tuple(provided_faults(as_seen_by(soc, soc.host), read_image(image)))
        if faults:
            raise UsageError.all(faults)


def _watch(what: str, progress: Progress) -> Callable[[SoFar], None]:
    """Return what tells how far an image is; nobody knows how long it runs."""
    return lambda so_far: progress(f"{what}: {so_far.cycle:,} cycles")


def _in_rtl(
    request: SimRequest, models: Sequence[Compiled], backends: Backends, progress: Progress
) -> SimResult:
    from atoll_sim.build.model import build_model
    from atoll_sim.simulate.session import simulate
    from atoll_sim.simulate.stand_ins import StandIns

    modelled = backends.models(request.soc)
    executable = build_model(request.soc, stand_ins=modelled, progress=progress)
    watch = looking(request.run_dir, _watch("simulating in RTL", progress))
    request = replace(request, executable=executable, watch=watch)
    if not modelled:
        return simulate(request)
    absent = backends.kind is AcceleratorKind.NONE
    with StandIns(request.soc, models, modelled, absent=absent) as stand_ins:
        try:
            return simulate(replace(request, stand_ins=stand_ins.theirs.fileno()))
        except SimulationError as error:
            raise stand_ins.error or error from error


def _on_simulated_cores(
    request: SimRequest, models: Sequence[Compiled], backends: Backends, progress: Progress
) -> SimResult:
    from atoll_sim.iss.engines import ABSENT
    from atoll_sim.iss.iss_run import simulate, start_engines

    watch = _watch("running on the simulated cores", progress)
    if backends.kind is AcceleratorKind.NONE:
        return simulate(request, lambda _memory: ABSENT, watch=watch)
    modelled = backends.models(request.soc)
    with start_engines(request.soc, models, modelled, request.run_dir, progress) as engines:
        return simulate(request, engines, watch=watch)


def _on_qemu(
    request: SimRequest, models: Sequence[Compiled], backends: Backends, progress: Progress
) -> SimResult:
    from atoll_sim.qemu.qemu_run import simulate

    return simulate(request, _watch("running on QEMU", progress))


_PLAYERS: dict[
    CpuKind, Callable[[SimRequest, Sequence[Compiled], Backends, Progress], SimResult]
] = {
    CpuKind.RTL: _in_rtl,
    CpuKind.ISS: _on_simulated_cores,
    CpuKind.QEMU: _on_qemu,
}


def _ending_text(result: SimResult) -> str:
    """Say how the run ended, for people."""
    after = f"after {result.cycles:,} cycles, {result.wall_seconds:.1f} s"
    if result.stop is Stop.EXIT:
        return f"the program ended with status {result.exit_status} {after}"
    return f"{_ENDS[result.stop]} {after}"
