# SPDX-License-Identifier: Apache-2.0
"""Read what a self-test printed, out of whatever else is in a log."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass

VERSION = "2"
KINDS = ("march", "read", "write", "known", "network")
OUTCOMES = ("works", "refused", "wrong", "blocked", "silent")
LAST = ("end ", "stopped: ", "silent ")
"""How lines begin after which a self-test prints no more."""

_LINE = re.compile(r"selftest (?P<rest>(begin|end|stopped|silent|\d+)\b.*)")
_FIELD = re.compile(r"(\w+)=(\S+)")
_BEGIN = re.compile(r"(?=selftest )")
_CHECKED = re.compile(r"(?P<line>selftest (?P<rest>.*?)) crc=0x(?P<crc>[0-9A-F]{8})")
_MARKS = ("selftest", "device=", "expect=", "found=", "tests=", "failed=", "crc=")
"""What a line of a self-test has: one that is damaged has some of them."""
_ABOUT = re.compile(rf"(begin|end) version={VERSION} chip=\S+ tests=\d+( failed=\d+)?")
_UNCHECKED = re.compile(r"begin version=1 chip=\S+ tests=\d+\s*")


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
        checked: lines have checks, so that damaged ones are noticed.
        torn: what comes behind the last whole line is damaged.
    """

    chip: str
    count: int
    results: Mapping[int, Result]
    ended: bool
    stopped: str = ""
    silent: str = ""
    checked: bool = False
    torn: bool = False

    @property
    def missing(self) -> tuple[int, ...]:
        """Numbers of the tests without a line."""
        return tuple(n for n in range(1, self.count + 1) if n not in self.results)

    @property
    def lost(self) -> tuple[int, ...]:
        """Those of `missing` whose lines may have been printed, and did not arrive whole."""
        if not self.checked:
            return ()
        to_the_end = self.ended or (self.torn and not self.over)
        reached = self.count if to_the_end else max(self.results, default=0)
        return tuple(n for n in self.missing if n <= reached)

    @property
    def over(self) -> bool:
        """Whether the self-test prints no more."""
        return self.ended or bool(self.stopped or self.silent)


def read_log(text: str, name: str) -> Log:
    """Return what the last self-test in a log printed; lines of others are left out.

    Args:
        text: the log, perhaps with times before the lines.
        name: what messages call it.

    Raises:
        UsageError: E132; there is no self-test in it, one of another version, or none of which
            the first or the last line arrived whole.
    """
    pieces = tuple(piece for line in text.splitlines() for piece in pieces_of(line))
    if any(piece.whole for piece in pieces):
        return _checked_log(_last_run(pieces), name)
    lines = [found["rest"] for line in text.splitlines() if (found := _LINE.search(line))]
    begins = [number for number, line in enumerate(lines) if line.startswith("begin ")]
    if not begins:
        raise UsageError(
            "E132",
            f"{name} has no line 'selftest begin ...'",
            remedy="record what the image of 'atoll bsp --selftest' prints, from its start",
        )
    first, *rest = lines[begins[-1] :]
    if not _UNCHECKED.fullmatch(first):
        raise _damage_error(name)
    return _log_of(first, rest, checked=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A line of a self-test that has a check, or what damage left of it.

    Attributes:
        rest: what it says.
        whole: it arrived undamaged.
    """

    rest: str
    whole: bool


def pieces_of(line: str) -> Iterator[Piece]:
    """Yield the lines of a self-test in one of a log: several, if line ends were lost."""
    for text in _BEGIN.split(line):
        found = _CHECKED.match(text)
        if found and zlib.crc32(found["line"].encode(errors="replace")) == int(found["crc"], 16):
            yield Piece(rest=found["rest"], whole=True)
            text = text[found.end() :]
        if any(mark in text for mark in _MARKS):
            yield Piece(rest=text.removeprefix("selftest "), whole=False)


def _last_run(pieces: Iterable[Piece]) -> list[Piece]:
    """Return the lines of the last self-test, of which the first may be damaged or lost."""
    run: list[Piece] = []
    reached, over = 0, False
    for piece in pieces:
        number = _number(piece.rest) if piece.whole else 0
        again = 0 < number <= reached or (over and piece.whole)
        if piece.rest.startswith("begin ") or again:
            run, reached, over = [], 0, False
        run.append(piece)
        reached = max(reached, number)
        over = over or (piece.whole and piece.rest.startswith(LAST))
    return run


def _number(rest: str) -> int:
    """Return the number of a test's line, 0 of another."""
    word = rest.partition(" ")[0]
    return int(word) if word.isdecimal() else 0


def _checked_log(run: Sequence[Piece], name: str) -> Log:
    """Return what the whole lines of a self-test say.

    Raises:
        UsageError: E132.
    """
    whole = [piece.rest for piece in run if piece.whole]
    about = next((rest for rest in whole if rest.startswith(("begin ", "end "))), None)
    if about is None:
        raise _damage_error(name)
    if not _ABOUT.fullmatch(about):
        version = dict(_FIELD.findall(about)).get("version", "?")
        raise UsageError(
            "E132",
            f"{name} has a self-test of version {version}, not {VERSION}",
            remedy="make the image anew with this version of Atoll",
        )
    log = _log_of(about, whole, checked=True)
    return replace(log, torn=bool(run) and not run[-1].whole)


def _log_of(about: str, lines: Sequence[str], *, checked: bool) -> Log:
    fields = dict(_FIELD.findall(about))
    results = {result.number: result for result in _results(lines)}
    count = int(fields["tests"])
    return Log(
        chip=fields["chip"],
        count=count,
        results={n: results[n] for n in sorted(results) if 1 <= n <= count},
        ended=any(line.startswith("end ") for line in lines),
        stopped=_lines_said(lines, "stopped: "),
        silent=dict(_FIELD.findall(_lines_said(lines, "silent "))).get("device", ""),
        checked=checked,
    )


def _damage_error(name: str) -> UsageError:
    return UsageError(
        "E132",
        f"neither the first nor the last line of the self-test in {name} arrived whole",
        remedy="run the self-test again, and check wires and rate",
    )


def _lines_said(lines: Sequence[str], start: str) -> str:
    return next((line.removeprefix(start) for line in lines if line.startswith(start)), "")


def _results(lines: Sequence[str]) -> Iterator[Result]:
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
