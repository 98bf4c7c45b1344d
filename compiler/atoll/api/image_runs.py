# SPDX-License-Identifier: Apache-2.0
"""Linked images on a simulated chip, whoever linked them."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Literal

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.compilation import Compilation
from atoll.api.simulation import Accelerator
from atoll.records import dataclass

LONGEST_CYCLES = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRun:
    """What linked images did.

    Attributes:
        stop: how the run ended: ``exit``, ``trap``, ``stall`` or ``limit``.
        status: that the host's program ended with; None if it did not end.
        cycles: of the host.
        wall_seconds: that the simulation took.
        printed: what the images sent to the console.
        not_modelled: what those who play the cores leave out.
        ended: how the run ended, as a sentence.
    """

    soc: str
    cpu: str
    stop: str
    status: int | None
    cycles: int
    wall_seconds: float
    printed: str
    not_modelled: tuple[str, ...]
    ended: str = field(repr=False)

    @property
    def passed(self) -> bool:
        """The host's program ended with 0."""
        return self.stop == "exit" and self.status == 0

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll run-image --json`` prints."""
        return {
            "soc": self.soc,
            "cpu": self.cpu,
            "stop": self.stop,
            "status": self.status,
            "cycles": self.cycles,
            "seconds": round(self.wall_seconds, 3),
            "text": self.printed,
            "not_modelled": list(self.not_modelled),
        }


def run_image(
    soc: SocSource,
    images: Sequence[Path | str],
    *,
    cpu: Literal["rtl", "iss", "qemu"] = "rtl",
    accelerator: Accelerator = None,
    networks: Compilation | None = None,
    max_cycles: int = LONGEST_CYCLES,
) -> ImageRun:
    """Run linked images on a simulated chip; no network in them is compared.

    Args:
        soc: the chip, or what `load_soc` takes.
        images: ELF files, the host's first, then those of the other cores.
        cpu: who plays the cores.
        accelerator: who plays the accelerators, as in `run`.
        networks: what the images run, for accelerators that are played by its operators.
        max_cycles: stop after so many.

    Raises:
        UsageError: E089, such cores run no firmware; E090, no simulator is installed; E134, there
            are too many images; E141, one is none; E163, nobody can play an accelerator as asked;
            E177, E178, it is not known what accelerators compute.
        SimulationError: the simulation did not come to its end.
    """
    run = function_of("atoll_sim.api.linked_images:run_linked", "run_image")
    found: ImageRun = run(
        load_soc(soc)._resolved,
        tuple(map(Path, images)),
        networks._compiled if networks else (),
        cpu=cpu,
        accelerator=accelerator,
        max_cycles=max_cycles,
    )
    return found
