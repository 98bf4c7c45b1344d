# SPDX-License-Identifier: Apache-2.0
"""The command `atoll diff`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.artifacts.build_tree import MARKER
from atoll.cli.options import JsonOption, ReportOption, SetOption, complete_with
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text
from atoll_compare.results import is_of_results

_SIDE = "A chip, a folder of 'atoll build', a report, or a file that a command printed with --json."


def diff(
    first: Annotated[
        Path, typer.Argument(metavar="A", help=_SIDE, autocompletion=complete_with("chips"))
    ],
    second: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="What it became, likewise.", autocompletion=complete_with("chips")
        ),
    ],
    overrides: SetOption = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="End with status 1 if there is a difference.")
    ] = False,
    page: ReportOption = None,
    machine: JsonOption = False,
) -> None:
    """Say what differs between two chips, builds or reports.

    Values are compared as resolution derives them: what a key implies counts, how it is written
    does not. Of builds the memory plans are compared too; of reports all figures. --set changes B.

    Example: atoll diff lagoon my_chip.yaml
    """
    prepare_report(page)
    with show_work("comparing"):
        found = atoll.diff(first, second, overrides=overrides or ())
    if page and is_of_results(second):
        write_report(page, second, before=first)
    elif page:
        write_report(page, _side(second, overrides or ()), found, before=_side(first))
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
    if found.changes and exit_code:
        raise typer.Exit(1)


def _side(path: Path, overrides: Sequence[str] = ()) -> Path | atoll.Soc:
    """Return the folder of a build, or a chip."""
    return path if (path / MARKER).is_file() else atoll.load_soc(path, overrides=overrides)
