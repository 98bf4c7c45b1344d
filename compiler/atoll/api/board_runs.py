# SPDX-License-Identifier: Apache-2.0
"""Networks on a flashed board."""

from pathlib import Path

from atoll.api.beside import function_of
from atoll.api.compilation import Compilation
from atoll.api.runs import Run
from atoll.api.samples import Samples, samples_for
from atoll.api.simulation import run_of
from atoll.protocol import USUAL_BAUD


def run_on_board(
    compilation: Compilation,
    image: Path | str,
    port: str,
    samples: Samples = None,
    *,
    baud: int = USUAL_BAUD,
) -> Run:
    """Run networks on a board at a serial port; hold outputs against the reference.

    Args:
        compilation: the networks of the image, in their order, on its chip.
        image: the host's ``firmware.serial.elf`` of a package, as it was flashed.
        port: a path, such as ``"/dev/ttyUSB0"``.
        samples: of the network; of several, by network. None draws a random one from a seed.
        baud: of the port.

    Raises:
        UsageError: E090, no simulator is installed; E093, the samples do not fit; E141, the image
            is none; E271, the port cannot be opened; E273, the image or the board is of another
            build.
        SimulationError: E272, the board does not answer.
    """
    run = function_of("atoll_sim.api.boards:run_on_board", "run_on_board")
    compiled = compilation._compiled
    outcomes = run(compiled, samples_for(compiled, samples), Path(image), port=port, baud=baud)
    return run_of(compiled, outcomes)
