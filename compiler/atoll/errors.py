"""Every error a user can meet: what is wrong, where it was written, and what to change."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

EXCERPT_COLUMNS = 160


@dataclass(frozen=True, slots=True)
class SourceLoc:
    """A place in a text file. `line` and `column` count from 1, as editors do."""

    path: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"

    def excerpt(self) -> Iterator[str]:
        """Yield the line and a caret under the column, or nothing if the file is gone."""
        lines = _lines(self.path)
        if self.line <= len(lines) and self.column <= EXCERPT_COLUMNS:
            text = lines[self.line - 1][:EXCERPT_COLUMNS].replace("\t", " ").replace("\t", " ")
            yield f"{self.line:5} | " + "".join(c if c.isprintable() else "?" for c in text)
            yield " " * (7 + self.column) + "^"


@lru_cache(maxsize=8)
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()


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
    """

    code: str
    message: str
    at: SourceLoc | None = None
    other: tuple[SourceLoc, str] | None = None
    remedy: str | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    wants: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        head = f"error[{self.code}]: {self.message}"
        lines = [f"{self.at}: {head}" if self.at else head]
        lines += self.at.excerpt() if self.at else ()
        if self.other:
            place, note = self.other
            lines += [f"{place}: note: {note}", *place.excerpt()]
        if self.remedy:
            lines.append(f"  help: {self.remedy}")
        return "\n".join(lines)


class AtollError(Exception):
    """Faults in the user's input; anything else that escapes is a bug in Atoll."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        at: SourceLoc | None = None,
        other: tuple[SourceLoc, str] | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.faults: tuple[Fault, ...] = (
            Fault(code=code, message=message, at=at, other=other, remedy=remedy),
        )

    @classmethod
    def all(cls, faults: Iterable[Fault]) -> "AtollError":
        """Bundle the faults that one stage collected; there is at least one."""
        first, *rest = faults
        error = cls(first.code, first.message)
        error.faults = (first, *rest)
        return error

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


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


class ToolchainError(AtollError):
    """A compiler, linker or simulator is missing or failed."""


class SimulationError(AtollError):
    """A simulation did not behave as the plan and the reference predict."""
