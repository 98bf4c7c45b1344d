"""Options of the command line that say which waveforms to record."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import offered
from atoll_sim.waves.request import DEFAULT_LIMIT

WavesOption = Annotated[
    Path | None,
    typer.Option(
        "--waves",
        metavar="FILE",
        help="Record waveforms (.vcd, or .fst where possible), with save files for GTKWave"
        " (.gtkw) and Surfer (.sucl) beside them.",
    ),
]
WavesFromOption = Annotated[
    int | None,
    typer.Option("--waves-from", metavar="CYCLE", min=0, help="Record from this cycle on."),
]
WavesToOption = Annotated[
    int | None,
    typer.Option("--waves-to", metavar="CYCLE", min=1, help="Record up to this cycle."),
]
WavesOperatorOption = Annotated[
    str | None,
    typer.Option(
        "--waves-operator",
        metavar="OP",
        help="Record the first run of OP alone; of several MODELs, NETWORK:OP.",
        autocompletion=offered("operators"),
    ),
]
WavesLimitOption = Annotated[
    str | None,
    typer.Option(
        "--waves-limit",
        metavar="SIZE",
        help=f"Stop recording when the file is so large; default: {DEFAULT_LIMIT}.",
    ),
]
