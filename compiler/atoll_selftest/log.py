# SPDX-License-Identifier: Apache-2.0
"""Read what a self-test printed, out of whatever else is in a log."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass

VERSION = "1"
KINDS = ("march", "read", "write", "known", "network")
OUTCOMES = ("works", "refused", "wrong", "blocked", "silent")

_LINE = re.compile(r"selftest (?P<rest>(begin|end|stopped|silent|\d+)\b.*)")
_FIELD = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A line of the log.

    Attributes:
        number: of the test, 1 for the first.
        kind: one of `KINDS`.
        device: who was tried.
        expect, found: of `OUTCOMES`.
        fields: all that the line says, by name.
    """

    number: int
    kind: str
    device: str
    expect: str
    found: str
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether what was expected happened."""
        return self.expect == self.found

    @property
    def place(self) -> str:
        """Where; "" if the test is about none."""
        return self.fields.get("place", "")

    def value(self, name: str) -> int | None:
        """Return a number of the line; None if it is not there or is none."""
        try:
            return int(self.fields[name], 0)
        except (KeyError, ValueError):
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """What the last self-test in a log printed.

    Attributes:
        chip: name of the chip.
        count: how many tests there are.
        results: those whose lines are whole, by number.
        ended: the last line is there.
        stopped: why nothing was tried, "" if something was.
        silent: the core that did not answer, "" if all did.
    """

    chip: str
    count: int
    results: Mapping[int, Result]
    ended: bool
    stopped: str = ""
    silent: str = ""

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the tests without a line."""
        return tuple(n for n in range(1, self.count + 1) if n not in self.results)


def read_log(text: str, name: str) -> Log:
    """Return what the last self-test in a log printed; lines of others are left out.

    Args:
        text: the log, perhaps with times before the lines.
        name: what messages call it.

    Raises:
        UsageError: E132; there is no self-test in it, or one of another version.
    """
    lines = [found["rest"] for line in text.splitlines() if (found := _LINE.search(line))]
    begins = [number for number, line in enumerate(lines) if line.startswith("begin ")]
    if not begins:
        raise UsageError(
            "E132",
            f"{name} has no line 'selftest begin ...'",
            remedy="record what the image of 'atoll bsp --selftest' prints, from its start",
        )
    first, *rest = lines[begins[-1] :]
    fields = dict(_FIELD.findall(first))
    if fields.get("version") != VERSION or not fields.get("tests", "").isdecimal():
        raise UsageError(
            "E132",
            f"{name} has a self-test of version {fields.get('version', '?')}, not {VERSION}",
            remedy="make the image anew with this version of Atoll, or correct the first line",
        )
    results = {result.number: result for result in _results(rest)}
    count = int(fields["tests"])
    return Log(
        chip=fields.get("chip", "?"),
        count=count,
        results={n: results[n] for n in sorted(results) if 1 <= n <= count},
        ended=any(line.startswith("end ") for line in rest),
        stopped=_lines_said(rest, "stopped: "),
        silent=dict(_FIELD.findall(_lines_said(rest, "silent "))).get("device", ""),
    )


def _lines_said(lines: list[str], start: str) -> str:
    return next((line.removeprefix(start) for line in lines if line.startswith(start)), "")


def _results(lines: list[str]) -> Iterator[Result]:
    """Yield the results whose lines are whole."""
    for line in lines:
        number, _, rest = line.partition(" ")
        kind, fields = rest.partition(" ")[0], dict(_FIELD.findall(rest))
        if (
            number.isdecimal()
            and kind in KINDS
            and fields.get("expect") in OUTCOMES
            and fields.get("found") in OUTCOMES
            and "device" in fields
        ):
            yield Result(
                number=int(number),
                kind=kind,
                device=fields["device"],
                expect=fields["expect"],
                found=fields["found"],
                fields=fields,
            )
