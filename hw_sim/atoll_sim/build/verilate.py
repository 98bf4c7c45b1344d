# SPDX-License-Identifier: Apache-2.0
"""Run Verilator, and tell what it refuses from what it warns of."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.build.tools import failure, run_tool
from atoll_sim.chip.blame import warning_notes
from atoll_sim.chip.sources import FOLDERS

_HEAD = re.compile(r"^%(Error|Warning)(?:-(\w+))?: (?:(.+?):([0-9]+):([0-9]+): )?(.*)")
_WRONG = frozenset({"MODDUP"})
"""Of two modules of one name the second would be left out, whoever wrote it."""

_SLOW = frozenset({"UNOPTFLAT"})
"""Paths without a register from others' RTL through the chip and back: slower, not wrong."""

KEPT = "warnings.json"
"""Beside a model, what Verilator warned of when it was built."""


@dataclass(frozen=True, slots=True)
class RtlWarning:
    """What Verilator warns of.

    Attributes:
        rule: its name, such as ``WIDTHEXPAND``.
        file: where; line and column from 1 on.
        text: in Verilator's words.
    """

    rule: str
    file: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class _Said:
    """One message, with the lines that belong to it."""

    error: bool
    warning: RtlWarning
    lines: tuple[str, ...]


Harmless = Callable[[RtlWarning], bool]


def verilate(
    command: Sequence[str], what: str, folder: Path, harmless: Harmless = lambda _: False
) -> tuple[RtlWarning, ...]:
    """Run Verilator and return what it warns of in the files of others.

    Args:
        command: with all its arguments.
        what: it builds, for messages.
        folder: of generated sources; of these, and of RTL that Atoll ships, a warning is an error.
        harmless: says of such a warning that it is none.

    Raises:
        ToolchainError: E070, E077, E100; with the errors first, and without warnings of others.
    """
    done = run_tool([*command, "-Wno-fatal"], what)
    said = (done.stdout + done.stderr).splitlines()
    every = tuple(_messages(said))
    own = (folder, *FOLDERS)
    wrong = [each for each in every if each.error or _is_wrong(each.warning, own, harmless)]
    if done.returncode or wrong:
        lines = [line for each in wrong or every for line in each.lines]
        raise failure(command, what, done.returncode, lines or said)
    return tuple(each.warning for each in every if not _is_own(each.warning, own))


def _is_wrong(warning: RtlWarning, own: Sequence[Path], harmless: Harmless) -> bool:
    if warning.rule in _WRONG:
        return True
    return _is_own(warning, own) and warning.rule not in _SLOW and not harmless(warning)


def _is_own(warning: RtlWarning, own: Sequence[Path]) -> bool:
    return any(Path(warning.file).is_relative_to(folder) for folder in own)


def _messages(lines: Iterable[str]) -> Iterator[_Said]:
    """Yield each message of Verilator; what follows in further lines belongs to it."""
    head: re.Match[str] | None = None
    block: list[str] = []
    for line in (*lines, ""):
        found = _HEAD.match(line)
        if (found or not line) and head:
            yield _read(head, block)
            head, block = None, []
        if found:
            head = found
        if head:
            block.append(line)


def _read(head: re.Match[str], lines: Sequence[str]) -> _Said:
    kind, rule, file, line, column, text = head.groups()
    warning = RtlWarning(rule or "", file or "", int(line or 0), int(column or 0), text)
    return _Said(kind == "Error", warning, tuple(lines))


def notes_of(soc: ResolvedSoc, warnings: Sequence[RtlWarning]) -> tuple[str, ...]:
    """Return what a reader should know of warnings."""
    told = ((each.rule, Path(each.file), each.line, each.text) for each in warnings)
    return tuple(warning_notes(soc, told))


def keep_warnings(folder: Path, warnings: Sequence[RtlWarning]) -> None:
    """Write warnings beside a model."""
    (folder / KEPT).write_text(json.dumps([astuple(each) for each in warnings]))


def kept_warnings(model: Path) -> tuple[RtlWarning, ...]:
    """Return what Verilator warned of when a model was built."""
    try:
        return tuple(RtlWarning(*each) for each in json.loads((model.parent / KEPT).read_text()))
    except (OSError, ValueError, TypeError):
        return ()
