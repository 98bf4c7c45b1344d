# SPDX-License-Identifier: Apache-2.0
"""The command `atoll selftest`."""

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption, SetOption, offered
from atoll.cli.tables import room
from atoll.diagnostics.columns import laid_out, wrapped
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_selftest.log import KINDS, Log, read_log
from atoll_selftest.verdict import Finding, findings

_PLURALS = {
    "march": "marches",
    "read": "reads",
    "write": "writes",
    "known": "known answers",
    "network": "networks",
}
_MOST = 64 * 1024 * 1024  # bytes of a log


def selftest(
    log: Annotated[
        Path,
        typer.Argument(metavar="LOG", help="What the image printed; - reads standard input."),
    ],
    soc: Annotated[
        Path | None,
        typer.Option(
            metavar="SOC",
            help="The chip's description: findings name its lines.",
            autocompletion=offered("chips"),
        ),
    ] = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Judge what the self-test of a chip printed.

    The image is one of a package that 'atoll bsp --selftest' wrote. Its log may have other lines
    between its own. The status is 0 only if every test is there and passed.

    Example: atoll selftest uart.log --soc lagoon
    """
    name = "standard input" if str(log) == "-" else f"'{log}'"
    read = read_log(_text(log, name), name)
    chip = load_soc(soc, overrides or ()) if soc else None
    if chip and chip.name != read.chip:
        raise UsageError(
            "E133",
            f"{name} is of chip '{read.chip}', not of '{chip.name}'",
            remedy="give the description of the chip that the image was made for",
        )
    found = findings(read)
    if machine:
        print(json_text(_as_data(read, found, chip)), end="")
    else:
        print("\n".join(_lines(read, found, chip)))
    if found or read.missing:
        raise typer.Exit(1)


def _text(log: Path, name: str) -> str:
    """Return the log's text; what is no text in it stands for itself."""
    try:
        with nullcontext(sys.stdin.buffer) if str(log) == "-" else log.open("rb") as stream:
            data = stream.read(_MOST + 1)
    except OSError as fault:
        remedy = "name a readable file, or - for standard input"
        raise UsageError("E132", f"cannot read {name}: {fault.strerror}", remedy=remedy) from fault
    if len(data) > _MOST:
        raise UsageError("E132", f"{name} has more than 64 MiB", remedy="cut it")
    return data.decode(errors="replace")


def _lines(log: Log, found: tuple[Finding, ...], chip: ResolvedSoc | None) -> Iterator[str]:
    """Yield what is printed: a table of devices and kinds, then the findings."""
    rows = list(_table(log))
    if rows:
        columns = range(1, len(rows[0]))
        table = laid_out([["", *_PLURALS.values()], *rows], right=columns, columns=room())
        yield from ("\n".join(row) for row in table)
        yield ""
    passed = sum(result.passed for result in log.results.values())
    yield f"{log.chip}: {passed} of {log.count} tests passed"
    for each in found:
        at = _place(each, chip)
        yield wrapped(f"{f'{at}: ' if at else ''}{each.what}", room())


def _table(log: Log) -> Iterator[list[str]]:
    for device in dict.fromkeys(result.device for result in log.results.values()):
        row = [device]
        for kind in KINDS:
            of_kind = [r for r in log.results.values() if (r.device, r.kind) == (device, kind)]
            passed = sum(result.passed for result in of_kind)
            row.append(f"{passed} of {len(of_kind)}" if of_kind else "-")
        yield row


def _place(finding: Finding, chip: ResolvedSoc | None) -> str:
    """Return the line of the description that a finding is about, "" if none is known."""
    if chip is None:
        return ""
    keys = [f"pools.{place}" for place in finding.places]
    keys += [f"devices.{place.partition('.')[0]}" for place in finding.places]
    keys += [f"devices.{device}" for device in finding.devices]
    return next(filter(None, map(chip.written, keys)), "")


def _as_data(log: Log, found: tuple[Finding, ...], chip: ResolvedSoc | None) -> object:
    return {
        "chip": log.chip,
        "tests": log.count,
        "passed": sum(result.passed for result in log.results.values()),
        "missing": list(log.missing),
        "findings": [
            {
                "message": each.what,
                "devices": list(each.devices),
                "places": list(each.places),
                "at": _place(each, chip) or None,
            }
            for each in found
        ],
        "results": [
            {
                "number": result.number,
                "kind": result.kind,
                "device": result.device,
                "place": result.place or None,
                "expect": result.expect,
                "found": result.found,
            }
            for result in log.results.values()
        ],
    }
