# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.check_selftest`."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from atoll.api.selftests import SelftestCheck, SelftestFinding, SelftestResult
from atoll.diagnostics.errors import UsageError
from atoll.resolve.soc import ResolvedSoc
from atoll_selftest.listening import MOST, listen
from atoll_selftest.log import KINDS, Log, read_log
from atoll_selftest.verdict import Finding, findings

__all__ = ["judge", "listen"]

_PLURALS = {
    "march": "marches",
    "read": "reads",
    "write": "writes",
    "known": "known answers",
    "network": "networks",
}


def judge(
    source: Path | str | BinaryIO, chip: ResolvedSoc | None, stream: str = "the log"
) -> SelftestCheck:
    """Judge a log; findings name lines of `chip`, and messages call a stream `stream`.

    Raises:
        UsageError: E132, E133.
    """
    name, text = _read(source, stream)
    log = read_log(text, name)
    if chip and chip.name != log.chip:
        raise UsageError(
            "E133",
            f"{name} is of chip '{log.chip}', not of '{chip.name}'",
            remedy="give the description of the chip that the image was made for",
        )
    rows = tuple(_rows(log))
    return SelftestCheck(
        chip=log.chip,
        tests=log.count,
        passed_tests=sum(result.passed for result in log.results.values()),
        missing=log.missing,
        lost=log.lost if log.checked else None,
        findings=tuple(
            SelftestFinding(
                message=each.what,
                devices=each.devices,
                places=each.places,
                at=_place(each, chip) or None,
            )
            for each in findings(log)
        ),
        results=tuple(
            SelftestResult(
                number=result.number,
                kind=result.kind,
                device=result.device,
                place=result.place or None,
                expect=result.expect,
                found=result.found,
            )
            for result in log.results.values()
        ),
        _cells=(("", *_PLURALS.values()), *rows) if rows else (),
    )


def _read(source: Path | str | BinaryIO, stream: str) -> tuple[str, str]:
    """Return what messages call a log, and its text; what is no text in it stands for itself."""
    if isinstance(source, str) and "\n" in source:
        return "the log", source
    if isinstance(source, Path | str):
        name = f"'{source}'"
        try:
            with Path(source).open("rb") as opened:
                return name, _text(opened, name)
        except OSError as fault:
            what = f"cannot read {name}: {fault.strerror}"
            remedy = "name a readable file, or - for standard input"
            raise UsageError("E132", what, remedy=remedy) from fault
    name = "standard input" if source is sys.stdin.buffer else stream
    return name, _text(source, name)


def _text(stream: BinaryIO, name: str) -> str:
    data = stream.read(MOST + 1)
    if len(data) > MOST:
        raise UsageError("E132", f"{name} has more than 64 MiB", remedy="cut it")
    return data.decode(errors="replace")


def _rows(log: Log) -> Iterator[tuple[str, ...]]:
    """Yield for each device how many tests of each kind passed."""
    for device in dict.fromkeys(result.device for result in log.results.values()):
        row = [device]
        for kind in KINDS:
            of_kind = [r for r in log.results.values() if (r.device, r.kind) == (device, kind)]
            passed = sum(result.passed for result in of_kind)
            row.append(f"{passed} of {len(of_kind)}" if of_kind else "-")
        yield tuple(row)


def _place(finding: Finding, chip: ResolvedSoc | None) -> str:
    """Return the line of the description that a finding is about, "" if none is known."""
    if chip is None:
        return ""
    keys = [f"pools.{place}" for place in finding.places]
    keys += [f"devices.{place.partition('.')[0]}" for place in finding.places]
    keys += [f"devices.{device}" for device in finding.devices]
    return next(filter(None, map(chip.first_setting, keys)), "")
