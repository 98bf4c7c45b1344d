# SPDX-License-Identifier: Apache-2.0
"""Options of the command line that say which waveforms to record."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import complete_with
from atoll.records import dataclass
from atoll_sim.waves.request import DEFAULT_LIMIT, Waves, request_waves


@dataclass(frozen=True, slots=True, kw_only=True)
class WavesOptions:
    """Which waveforms to record."""

    waves: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Record waveforms (.vcd, or .fst where possible), with save files for GTKWave"
            " (.gtkw) and Surfer (.sucl) beside them.",
        ),
    ] = None
    waves_from: Annotated[
        int | None, typer.Option(metavar="CYCLE", min=0, help="Record from this cycle on.")
    ] = None
    waves_to: Annotated[
        int | None, typer.Option(metavar="CYCLE", min=1, help="Record up to this cycle.")
    ] = None
    waves_operator: Annotated[
        str | None,
        typer.Option(
            metavar="OP",
            help="Record the first run of OP alone; of several MODELs, NETWORK:OP.",
            autocompletion=complete_with("operators"),
        ),
    ] = None
    waves_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help=f"Stop recording when the file is so large; default: {DEFAULT_LIMIT}.",
        ),
    ] = None

    def request(self) -> Waves | None:
        """Return what to record, checked, as `request_waves`."""
        return request_waves(
            self.waves,
            first=self.waves_from,
            last=self.waves_to,
            operator=self.waves_operator,
            limit=self.waves_limit,
        )
