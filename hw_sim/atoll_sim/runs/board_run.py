# SPDX-License-Identifier: Apache-2.0
"""Run networks on a flashed board, and judge what it did as if it were simulated."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import Sample
from atoll.bsp.build_digest import DIGITS, SYMBOL, build_digest
from atoll.bsp.core_images import entry_function
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled
from atoll.resolve.memory_views import core_as_it_sees
from atoll.stack.bound import StackBound
from atoll.stack.elf_check import check_stack
from atoll_image.elf import read_image
from atoll_sim.backends.session import Backends
from atoll_sim.board.link import Link
from atoll_sim.board.port import Port
from atoll_sim.board.session import REMEDY, run_samples
from atoll_sim.runs.checked_run import BOARD, Outcome, Setup, judge_all


def run_on_board(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    image: Path,
    *,
    port: str,
    baud: int,
    progress: Progress,
) -> tuple[Outcome, ...]:
    """Run networks in turn on the board at a serial port; hold outputs against the reference.

    Args:
        models: the networks of the image, in their order.
        samples: of each network; all have the same number.
        image: the host's, as it was flashed.
        port: a path, such as ``/dev/ttyUSB0``.
        baud: its rate.
        progress: told what goes on.

    Raises:
        UsageError: E141, the image is none; E271, the port cannot be opened; E273, the image or the
            board is of another build.
        SimulationError: E272, the board does not answer.
    """
    begin = time.perf_counter()
    parts = [part_of(each, number) for number, each in enumerate(models)]
    digest = build_digest(models[0].soc, parts)
    _require_build(image, digest)
    stacks = _bounds(models, image)
    wall = {"build": time.perf_counter() - begin}
    with Port(port, baud) as opened:
        result = run_samples(Link(opened), models, samples, digest, progress)
    setup = Setup(cpu=BOARD, backends=Backends(), stacks=stacks, wall=wall)
    return judge_all(models, samples, result, setup)


def _require_build(image: Path, digest: str) -> None:
    """Refuse an image that does not say that it is this build.

    Raises:
        UsageError: E141, E273.
    """
    elf = read_image(image)
    address = elf.symbols.get(SYMBOL)
    told = None if address is None else elf.read_loaded(address, DIGITS)
    if told is None:
        what = f"'{image}' does not have the serial protocol"
        raise UsageError("E273", what, remedy="give the host's firmware.serial.elf")
    if told != digest.encode():
        build = told[:12].decode(errors="replace")
        raise UsageError(
            "E273",
            f"'{image}' is build {build} of its networks, and those named are build {digest[:12]}",
            remedy=REMEDY,
        )


def _bounds(models: Sequence[Compiled], image: Path) -> Mapping[str, StackBound]:
    """Return the bound of the host's stacks; nothing where the user's sources leave it open."""
    soc = models[0].soc
    host, works = soc.host_cpu, {}
    for model in models:
        entry = entry_function(model.soc, model.soc.host_cpu, model.graph.name)
        works[entry] = model.soc.host_cpu.run_thread
    try:
        return {host.name: check_stack(host, image, works, core_as_it_sees(soc, host))}
    except AtollError:
        return {}
