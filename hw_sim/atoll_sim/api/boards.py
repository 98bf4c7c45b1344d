# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `atoll.run_on_board` and `run_selftest`: a board at a serial port."""

from collections.abc import Sequence
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll_sim.board.port import Port
from atoll_sim.runs import board_run
from atoll_sim.runs.checked_run import Outcome


def run_on_board(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    image: Path,
    *,
    port: str,
    baud: int,
) -> tuple[Outcome, ...]:
    """Run networks in turn on the board at a serial port, and check them.

    Raises:
        UsageError: E141, E271, E273.
        SimulationError: E272.
    """
    return board_run.run_on_board(models, samples, image, port=port, baud=baud, progress=current())


def open_port(path: str, baud: int) -> Port:
    """Open a serial port.

    Raises:
        UsageError: E271.
    """
    return Port(path, baud)
