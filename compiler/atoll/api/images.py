# SPDX-License-Identifier: Apache-2.0
"""A linked image, held against a chip, and what it takes of its stacks."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.notebook import Row, html_table
from atoll.diagnostics.errors import Fault
from atoll.records import dataclass
from atoll.resolve.tables import Table

NOT_BOUNDED = "not bounded"


class StackQuestions(TypedDict, total=False):
    """What may be asked about the stack of an image.

    Attributes:
        entries: names of functions that begin, in the place of those that hardware begins.
        usage: files of ``-fstack-usage``, and folders of them.
        calls: functions that a function may call through pointers, by its name.
        nested: interrupts come on top of each other, one of each priority.
        priorities: of handlers; one that has none is of a priority of its own.
    """

    entries: Sequence[str]
    usage: Sequence[Path | str]
    calls: Mapping[str, Sequence[str]]
    nested: bool
    priorities: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageStack:
    """What an image may take of its stacks; None where nothing bounds it.

    Attributes:
        total_bytes: most bytes of the program and its interrupts.
        entry_bytes: most bytes of the program itself.
        interrupt_bytes: most bytes of its interrupts.
        interrupts_unknown: why these are not known, "" if they are.
        assumes: on what the bound rests that the image does not show.
    """

    total_bytes: int | None
    entry_bytes: int | None
    interrupt_bytes: int | None
    interrupts_unknown: str
    assumes: tuple[str, ...]
    _table: Table = field(repr=False)
    _others: tuple[Row, ...] = field(repr=False)

    def rows(self) -> list[Row]:
        """Return what hardware begins, and how deep that goes."""
        return self._table.as_data()

    def other_rows(self) -> list[Row]:
        """Return the stacks besides the first one."""
        return list(self._others)

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll check-image --stack-only`` prints."""
        lines = [self._table.text(columns), "", f"program: {_bytes(self.entry_bytes)}"]
        if self.interrupts_unknown:
            lines.append(f"interrupts: not known, {self.interrupts_unknown}")
        else:
            lines.append(f"interrupts: {_bytes(self.interrupt_bytes)}")
            lines.append(f"together: {_bytes(self.total_bytes)}")
        return "\n".join(lines) + "\n" + self.assumptions()

    def assumptions(self) -> str:
        """Return as text on what the bound rests."""
        lines = "".join(f"  {each}\n" for each in self.assumes)
        return f"\nThe bound of the stack assumes\n{lines}" if lines else ""

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll check-image --json`` prints of the stack."""
        return {
            "stack_bytes": self.total_bytes,
            "entry_bytes": self.entry_bytes,
            "interrupt_bytes": self.interrupt_bytes,
            "stack": self.rows(),
            "other_stacks": self.other_rows(),
            "assumes": list(self.assumes),
        }

    def _repr_html_(self) -> str:
        return html_table(self._table.title, self.rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCheck:
    """How a linked image agrees with a chip.

    Attributes:
        image: the file.
        soc: the chip; None if the image was held against none.
        core: the core that runs the image, None likewise.
        faults: what is not as the chip has it, and stacks that are too small or not bounded.
        not_known: what the image does not tell, so that nobody knows whether it agrees.
        stack: None if the core cannot run the image at all.
    """

    image: Path
    soc: str | None
    core: str | None
    faults: tuple[Fault, ...]
    not_known: tuple[str, ...]
    stack: ImageStack | None
    _usage: Table | None = field(repr=False)
    _sections: tuple[Row, ...] = field(repr=False)
    _parameters_known: bool = field(repr=False)

    @property
    def passed(self) -> bool:
        """There is no fault."""
        return not self.faults

    def rows(self) -> list[Row]:
        """Return the regions that the core sees, and what the image takes of each."""
        return [] if self._usage is None else self._usage.as_data()

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll check-image`` prints; `faults` are not in it."""
        if self._usage is None:
            return self.stack.text(columns) if self.stack else ""
        usage = f"{self._usage.text(columns)}\n{self.stack.assumptions() if self.stack else ''}"
        return usage if self.faults else f"{usage}\n{self.image}: {self._verdict()}\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll check-image --json`` prints."""
        bounds = self.stack.to_json() if self.stack else _NOTHING
        words = {"image": str(self.image)}
        faults = [
            {"message": each.message, "at": str(each.at) if each.at else None}
            for each in self.faults
        ]
        if self._usage is None:
            return {**words, **bounds, "disagreements": faults}
        return {
            "soc": self.soc,
            "core": self.core,
            **words,
            "usage": self.rows(),
            "sections": list(self._sections),
            **bounds,
            "disagreements": faults,
            "parameters_known": self._parameters_known,
            "not_known": list(self.not_known),
        }

    def _verdict(self) -> str:
        if self.not_known:
            agrees = f"not known to agree with {self.soc}: {'; '.join(self.not_known)}"
        else:
            agrees = f"agrees with {self.soc}"
        open_ended = self.stack is not None and self.stack.total_bytes is None
        return f"{agrees}; its stack is {NOT_BOUNDED}" if open_ended else agrees

    def _repr_html_(self) -> str:
        words = [each.message for each in self.faults] or [self._verdict()] * bool(self.soc)
        usage = html_table(f"What {self.image} takes", self.rows(), words)
        return usage + (self.stack._repr_html_() if self.stack else "")


def check_image(
    soc: SocSource | None,
    image: Path | str,
    *,
    core: str | None = None,
    allow_unbounded: bool = False,
    **questions: Unpack[StackQuestions],
) -> ImageCheck:
    """Hold a linked image against a chip, whoever linked it, and bound its stack.

    Args:
        soc: the chip, or what `load_soc` takes; None bounds the stack alone.
        image: an ELF file.
        core: whose image it is; None for the host's.
        allow_unbounded: let a stack pass that nothing bounds.
        **questions: about the stack; see `StackQuestions`.

    Raises:
        UsageError: E141, it is no image; E142, there is no such core; E184 to E186, its stack
            cannot be followed as asked.
    """
    check = function_of("atoll_image.api:check", "check_image")
    chip = None if soc is None else load_soc(soc)._resolved
    found: ImageCheck = check(chip, Path(image), core, questions, allow_unbounded=allow_unbounded)
    return found


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("stack_bytes", "entry_bytes", "interrupt_bytes")),
    "stack": [],
    "other_stacks": [],
    "assumes": [],
}


def _bytes(size: int | None) -> str:
    return NOT_BOUNDED if size is None else f"{size:,} B"
