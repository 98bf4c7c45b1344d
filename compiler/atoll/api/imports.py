# SPDX-License-Identifier: Apache-2.0
"""Descriptions that begin with what files of a chip's vendor say."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.notebook import Row, html_table
from atoll.description.undecided import Question
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.shown import cut, printable
from atoll.records import dataclass
from atoll.vela.ini_file import VelaChoice

_LONGEST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """Something of a file for which the description has no place, or that needs a human.

    Attributes:
        line: of the file; 0 if it has none.
        at: file, line and what is there, for people.
    """

    what: str
    why: str
    file: Path
    line: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """A description that begins a chip.

    Attributes:
        yaml: the description, with comments that say where each value comes from.
        output: the file that has it; None if none was to be written.
        left_out: what the files have and the description has not.
    """

    yaml: str = field(repr=False)
    output: Path | None
    left_out: tuple[LeftOut, ...] = field(repr=False)
    _questions: tuple[Question, ...] = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the keys that are undecided, for a human to answer."""
        return [
            {
                "key": ".".join(each.key),
                "line": each.at.line if each.at else 0,
                "asks": each.asks,
                "answers": list(each.answers),
                "example": each.example,
            }
            for each in self._questions
        ]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll import`` prints."""
        name = self.output or "<text>"
        lines = [f"{'wrote ' if self.output else ''}{name}: {len(self._questions)} questions"]
        lines += [
            f"  {name}:{each.at.line}: {'.'.join(each.key)}: {each.wants}"
            for each in self._questions
            if each.at
        ]
        if self.left_out:
            lines.append(f"left out: {len(self.left_out)}")
            lines += [
                f"  {each.at}: {cut(printable(each.what), _LONGEST)}: {each.why}"
                for each in self.left_out
            ]
        return "\n".join(wrap(printable(line), columns) for line in lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll import --json`` prints."""
        return {
            "wrote": [str(self.output)] if self.output else [],
            "questions": self.rows(),
            "left_out": [
                {
                    "what": cut(each.what, _LONGEST),
                    "why": each.why,
                    "file": str(each.file),
                    "line": each.line,
                }
                for each in self.left_out
            ],
        }

    def _repr_html_(self) -> str:
        return html_table(f"{len(self._questions)} questions", self.rows())


def import_files(
    files: Sequence[Path | str],
    output: Path | str | None = None,
    *,
    format: str = "",
    device: str = "",
    zephyr: str = "",
    onto: Path | str = "",
    system_config: str = "",
    memory_mode: str = "",
    force: bool = False,
) -> Import:
    """Begin a description with what files of a chip's vendor say; they are read as one chip.

    Args:
        files: of any formats that Atoll imports.
        output: a YAML file to write, with a schema for editors beside it; None for none.
        format: that all files have; "" if each tells its own.
        device: the device, of files that describe several; of a configuration of Vela the NPU.
        zephyr: a board of the tree that ZEPHYR_BASE names; its devicetree is read before `files`.
        onto: a chip that the description extends with what a configuration of Vela says of it; ""
            begins a chip.
        system_config: name of what counts of a configuration of Vela; "" if it has one alone.
        memory_mode: likewise.
        force: replace a file that is there.

    Raises:
        DescriptionError: the chip of `onto` has faults.
        PlacementError: E144, Vela cannot be told of it.
        UsageError: E090, no file and no board, or `onto` does not fit them; E091, `output` is
            there; E092, it cannot be written; E094, there is no such format; E120, files describe
            several devices; E138, E139, a file cannot be read, or there is no such board.
    """
    begin = function_of("atoll_import.api:begin", "import_files")
    target = None if output is None else Path(output)
    paths = tuple(map(Path, files))
    choice = VelaChoice(system_config, memory_mode)
    found: Import = begin(
        paths, target, format, device, zephyr, force=force, onto=str(onto), choice=choice
    )
    return found
