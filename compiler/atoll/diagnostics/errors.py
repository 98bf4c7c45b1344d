# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet: what is wrong, where it was written, and what to change."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

from atoll.diagnostics.edit import Fix, Remedy, words_and_fixes
from atoll.diagnostics.open_texts import open_text
from atoll.diagnostics.shown import columns_of, cut, printable, sentence, window
from atoll.records import dataclass

EXCERPT_COLUMNS = 120
INTERRUPTED = 130
"""The status of a command that Ctrl-C ended."""
LONGEST_MESSAGE, LONGEST_REMEDY, LONGEST_NOTE, LONGEST_PATH = 800, 600, 200, 1000
LONGEST_LOG = 20_000
LEAST_COLUMNS = 20
MOST_BYTES = 2**26
"""Of a file whose lines are shown, from its begin; no text that Atoll reads has more."""
MOST_FAULTS = 100
"""Faults that one error shows; more of them have a common cause."""

_WITH_A_LOG = frozenset({"E072", "E073", "E076", "E077", "E087"})
"""Their messages end with lines that a tool wrote."""


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in a text file. `line` and `column` count from 1, as editors do."""

    path: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{cut(printable(str(self.path)), LONGEST_PATH)}:{self.line}:{self.column}"

    def as_json(self) -> dict[str, str | int]:
        """Return the place for programs."""
        path = cut(printable(str(self.path)), LONGEST_PATH)
        return {"path": path, "line": self.line, "column": self.column}

    @property
    def line_text(self) -> str:
        """The line, "" if the file is gone."""
        text = open_text(self.path)
        lines = _lines(self.path) if text is None else text.splitlines()
        return lines[self.line - 1] if self.line <= len(lines) else ""

    def excerpt(self, columns: int = EXCERPT_COLUMNS) -> Iterator[str]:
        """Yield the line and a caret under the column, or nothing if the file is gone.

        A line that takes more than `columns` is shown around the caret.
        """
        lines = _lines(self.path)
        if self.line <= len(lines):
            line, number = lines[self.line - 1].replace("\t", " "), f"{self.line:5} | "
            before, behind = line[: self.column - 1], line[self.column - 1 :]
            room = max(columns - len(number), LEAST_COLUMNS)
            text, at = window(printable(before) + printable(behind), len(printable(before)), room)
            yield number + text
            yield " " * (len(number) + columns_of(text[:at])) + "^"


_TEXTS: dict[Path, tuple[Path, str]] = {}
"""Texts that lie in no file, by the path that stands for each; the newest come last."""

_NUMBERS: dict[Path, int] = {}
"""How many texts a word has stood for: a path never stands for two."""

MOST_TEXTS = 64


def path_of_text(text: str, word: str, folder: Path = Path()) -> Path:
    """Return a path that stands for a text in memory, so that places in it can be shown.

    Args:
        text: a description, for example.
        word: what it is; the path is ``<word>``, and ``<word 2>`` for the second such text.
        folder: that other paths in the text are relative to.
    """
    base = folder / f"<{word}>"
    known = next((path for path, was in _TEXTS.items() if was == (base, text)), None)
    if known:
        return known
    number = _NUMBERS[base] = _NUMBERS.get(base, 0) + 1
    path = base if number == 1 else folder / f"<{word} {number}>"
    _TEXTS[path] = (base, text)
    if len(_TEXTS) > MOST_TEXTS:
        _TEXTS.pop(next(iter(_TEXTS)))
    return path


def _lines(path: Path) -> tuple[str, ...]:
    if path in _TEXTS:
        return tuple(_TEXTS[path][1].splitlines())
    try:
        status = path.stat()
        return _lines_of(path, status.st_mtime_ns) if S_ISREG(status.st_mode) else ()
    except OSError:
        return ()


@lru_cache(maxsize=8)
def _lines_of(path: Path, changed: int) -> tuple[str, ...]:
    """Return the lines of a file as it is since `changed`."""
    with path.open("rb") as stream:
        return tuple(stream.read(MOST_BYTES).decode("utf-8-sig", "replace").splitlines())


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        code: stable name such as ``E031``; docs/errors.md explains each.
        message: one sentence in the user's terms, without a final stop.
        at: where it was written, if it was written.
        other: the other place when two things clash, with a word on it.
        remedy: an edit that works.
        keys: what of the description is concerned, as key paths; the wrong value's own first.
        wants: bytes by dotted key of a size with which the fault would be gone.
        fixes: what the remedy says, as data, first what it says first; none where it is no edit.
        tried: assignments of operators to devices that were tried, and whether those are all;
            None if none was searched for.
    """

    code: str
    message: str
    at: SourceLoc | None = None
    other: tuple[SourceLoc, str] | None = None
    remedy: str | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    wants: tuple[tuple[str, int], ...] = ()
    fixes: tuple[Fix, ...] = field(default=(), compare=False)
    tried: tuple[int, bool] | None = None

    def __post_init__(self) -> None:
        """Make all words fit to print, whoever wrote them."""
        if self.code in _WITH_A_LOG:
            self._set("message", sentence(self.message, LONGEST_LOG))
        else:
            self._set("message", sentence(printable(self.message), LONGEST_MESSAGE))
        if self.remedy is not None:
            self._set("remedy", sentence(printable(self.remedy), LONGEST_REMEDY))
        if self.other:
            place, note = self.other
            self._set("other", (place, sentence(printable(note), LONGEST_NOTE)))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def reword(self, change: Callable[[str], str]) -> "Fault":
        """Return the same fault with changed words; a log of a tool keeps its own."""
        return replace(
            self,
            message=self.message if self.code in _WITH_A_LOG else change(self.message),
            other=self.other and (self.other[0], change(self.other[1])),
            remedy=self.remedy and change(self.remedy),
        )

    def text(self, columns: int = EXCERPT_COLUMNS) -> str:
        """Return what a user reads, with lines of files in that many columns."""
        head = f"error[{self.code}]: {self.message}"
        lines = [f"{self.at}: {head}" if self.at else head]
        lines += self.at.excerpt(columns) if self.at else ()
        if self.other:
            place, note = self.other
            lines += [f"{place}: note: {note}", *place.excerpt(columns)]
        if self.remedy:
            lines.append(f"  help: {self.remedy}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return the fault for programs."""
        place, note = self.other or (None, "")
        tried = (
            None
            if self.tried is None
            else dict(zip(("assignments", "all"), self.tried, strict=True))
        )
        return {
            "code": self.code,
            "message": self.message,
            "at": self.at.as_json() if self.at else None,
            "other": {"at": place.as_json(), "note": note} if place else None,
            "remedy": self.remedy,
            "tried": tried,
        }

    def __str__(self) -> str:
        return self.text()


class AtollError(Exception):
    """Faults in the user's input; anything else that escapes is a bug in Atoll."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        at: SourceLoc | None = None,
        other: tuple[SourceLoc, str] | None = None,
        remedy: Remedy | str | None = None,
    ) -> None:
        super().__init__(message)
        words, fixes = words_and_fixes(remedy)
        self._found: tuple[Fault, ...] | Callable[[], Iterable[Fault]] = (
            Fault(code=code, message=message, at=at, other=other, remedy=words, fixes=fixes),
        )

    @classmethod
    def all(cls, faults: Iterable[Fault]) -> "AtollError":
        """Bundle the faults that one stage collected, not more of them than help.

        There is at least one.
        """
        first, *rest = _limit_count(tuple(faults))
        error = cls(first.code, first.message)
        error._found = (first, *rest)
        return error

    @classmethod
    def later(cls, code: str, message: str, find: Callable[[], Iterable[Fault]]) -> "AtollError":
        """Return an error whose faults are found when they are read, as they take long to find.

        `code` and `message` say little, for those who never ask.
        """
        error = cls(code, message)
        error._found = find
        return error

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong, at least one thing."""
        if callable(self._found):
            self._found = _limit_count(tuple(self._found()))
        return self._found

    @property
    def wants(self) -> Mapping[str, int]:
        """The most bytes that any fault wants of each size, by its dotted key."""
        sizes: dict[str, int] = {}
        for key, size in (want for fault in self.faults for want in fault.wants):
            sizes[key] = max(size, sizes.get(key, 0))
        return sizes

    def about(self, subject: str) -> "AtollError":
        """Return the same faults, each said of `subject`, such as a file or a network."""
        faults = (replace(each, message=f"{subject}: {each.message}") for each in self.faults)
        return self.all(faults)

    def reword(self, change: Callable[[str], str]) -> "AtollError":
        """Return the same faults with changed words; logs of tools keep theirs."""
        return self.all(each.reword(change) for each in self.faults)

    def text(self, columns: int = EXCERPT_COLUMNS) -> str:
        """Return what a user reads, with lines of files in that many columns."""
        return "\n".join(fault.text(columns) for fault in self.faults)

    @property
    def code(self) -> str:
        """The code of the first fault, such as ``E031``."""
        return self.faults[0].code

    @property
    def place(self) -> SourceLoc | None:
        """Where the first fault was written; None if it was not written anywhere."""
        return self.faults[0].at

    @property
    def remedy(self) -> str | None:
        """An edit that mends the first fault; None if none is known."""
        return self.faults[0].remedy

    def to_json(self) -> dict[str, object]:
        """Return the object that a command prints in the place of its own with `--json`."""
        return {"faults": [fault.to_json() for fault in self.faults]}

    def __str__(self) -> str:
        return self.text()


def _limit_count(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Return the first `MOST_FAULTS`, and one that counts the others."""
    if len(faults) <= MOST_FAULTS or faults[MOST_FAULTS].code == "E016":
        return faults
    message = f"{len(faults) - MOST_FAULTS} more faults are not shown"
    hidden = Fault(code="E016", message=message, remedy="correct those above first")
    return (*faults[:MOST_FAULTS], hidden)


class UsageError(AtollError):
    """The command line, or a file it names, cannot be used."""


class DescriptionError(AtollError):
    """The SoC or accelerator description cannot mean a buildable chip."""


class ModelError(AtollError):
    """The model file is damaged, or holds something that Atoll does not support."""


class PlacementError(AtollError):
    """No device, pool or copy can satisfy an operator or a tensor."""


class PlanError(AtollError):
    """Memory or stack does not suffice, or a plan breaks a rule."""


Refusal = PlacementError | PlanError
"""A chip does not suffice for a network, or its user asks for what cannot be."""

Result = TypeVar("Result")


def attempt(work: Callable[[], Result]) -> Result | Refusal:
    """Return what `work` returns, or as a value why it is refused.

    Nothing else catches a refusal to try something else.
    """
    try:
        return work()
    except (PlacementError, PlanError) as refusal:
        return refusal


def attempt_edit(work: Callable[[], Result]) -> Result | AtollError:
    """Return what `work` makes of something that nobody wrote yet, or why it makes nothing."""
    try:
        return work()
    except AtollError as error:
        return error


class ToolchainError(AtollError):
    """A compiler, linker or simulator is missing or failed."""


class SimulationError(AtollError):
    """A simulation did not behave as the plan and the reference predict."""
