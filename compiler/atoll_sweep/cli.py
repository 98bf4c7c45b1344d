# SPDX-License-Identifier: Apache-2.0
"""The command `atoll sweep`: many chips are asked about the same networks."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption, ReportOption
from atoll.cli.output import log
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text

_SHOW, _EXPLAIN, _WRITE = "show", "explain", "write"
_FOLLOWING = {_SHOW: 1, _EXPLAIN: 2, _WRITE: 2}


def sweep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="SWEEP",
            help="A sweep file (YAML); or: show RESULTS, explain RESULTS POINT, write RESULTS "
            "POINT.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="PATH",
            help="Folder of the results, NAME_sweep if not said; write: the chip's file.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Processes here; default: all processors. 0: this one alone."
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler whose workers compute in their place. Its dashboard is named, "
            "if it has one: pip install bokeh there.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what the folder has of the same sweep.")
    ] = False,
    page: ReportOption = None,
    machine: JsonOption = False,
) -> None:
    """Ask many chips about the same networks, and find the best.

    The file says what changes, which points are computed, and what shall be low (docs/sweeps.md).
    Every finished point is kept in a folder, as Parquet. Ctrl-C loses none of them.

    'show' prints the answers again, 'explain' says why a point is not on the front and what would
    put it there, 'write' writes its chip as a description.

    Example: atoll sweep lanes.yaml -o lanes, then: atoll sweep explain lanes 17
    """
    first, *rest = words
    if first in _FOLLOWING and len(rest) != _FOLLOWING[first]:
        raise _misuse(f"'{first}' takes RESULTS{' and POINT' * (_FOLLOWING[first] - 1)}")
    if first not in _FOLLOWING and rest:
        raise _misuse(f"one sweep file at a time, and '{rest[0]}' follows")
    idle: dict[str, object] = {"workers": workers, "scheduler": scheduler, "resume": resume or None}
    idle |= {"output": output} if first != _WRITE else {}
    idle |= {"report": page, "json": machine or None} if first != _SHOW else {}
    if first in _FOLLOWING and (given := [key for key, value in idle.items() if value is not None]):
        raise _misuse(f"'{first}' takes no --{given[0]}", "leave it out")
    prepare_report(page)
    if first == _EXPLAIN:
        print(atoll.load_sweep(rest[0]).explain(_point(rest[1])), end="")
        return
    if first == _WRITE:
        if output is None:
            raise _misuse("'write' does not know the file of the chip", "name it with -o")
        written = atoll.load_sweep(rest[0]).write_chip(_point(rest[1]), output)
        log(f"wrote {written.files[0]}")
        return
    if first == _SHOW:
        found = atoll.load_sweep(rest[0])
    else:
        folder = output or Path(f"{Path(first).stem}_sweep")
        try:
            with show_work("preparing"):
                found = atoll.sweep(
                    Path(first), folder, workers=workers, scheduler=scheduler, resume=resume
                )
        except KeyboardInterrupt:
            log(f"finished points are kept in {folder}; go on with --resume")
            raise
    write_report(page, found)
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
    if first != _SHOW:
        log(f"all points are in {found.folder}")
        if not found.front():
            raise typer.Exit(1)


def _point(text: str) -> int:
    if not text.isdecimal():
        raise _misuse(f"'{text}' is no number of a point")
    return int(text)


def _misuse(what: str, remedy: str = "see atoll sweep --help") -> atoll.UsageError:
    return atoll.UsageError("E090", what, remedy=remedy)
