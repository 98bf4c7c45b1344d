# SPDX-License-Identifier: Apache-2.0
"""Single passes of the compiler, run on text."""

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from atoll.api.chips import SocSource, load_soc
from atoll.api.notebook import Row, html_table
from atoll.api.requests import BuildSource, options_of
from atoll.diagnostics.columns import wrap
from atoll.ir.graph import Graph
from atoll.opt import pass_runs
from atoll.opt.passes import PASSES, read_request
from atoll.opt.read_program import read_program
from atoll.opt.text_pass import Chip, Kind, Program, TextPass
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PassResult:
    """A program that passes made.

    Attributes:
        kind: ``graph`` or ``module``.
        passes: the names of those that ran.
    """

    kind: str
    passes: tuple[str, ...]
    _program: Program = field(repr=False)

    def text(self) -> str:
        """Return all that the program is, bytes of constants included; `run_passes` reads it."""
        return str(self._program)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll opt --json`` prints."""
        return {"kind": self.kind, "passes": list(self.passes), "text": self.text()}


@dataclass(frozen=True, slots=True)
class Passes:
    """The passes that `run_passes` knows."""

    _passes: tuple[TextPass, ...] = field(repr=False)

    def rows(self) -> list[Row]:
        """Return the passes and their options."""
        return [each.as_json() for each in self._passes]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll opt --list`` prints."""
        lines = []
        widest = max(len(each.name) for each in self._passes)
        for each in self._passes:
            line = f"{each.name:{widest}}  {_shape(each)}  {each.summary}"
            line += f" (cannot run on text: it needs {each.lacks})" if each.lacks else ""
            lines.append(wrap(line, columns))
            for option in each.options:
                unsaid = option.default in (None, ())
                usual = "" if unsaid else f" (default {_option_text(option.default)})"
                told = f"{'':{widest}}  {option.name}: {option.help}{usual}"
                lines.append(wrap(told, columns))
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll opt --list --json`` prints."""
        return {"passes": self.rows()}

    def _repr_html_(self) -> str:
        return html_table("passes", self.rows())


def passes() -> Passes:
    """List the passes that run on text."""
    return Passes(PASSES)


def run_passes(
    program: Path | str,
    names: Sequence[str] = (),
    *,
    soc: SocSource | None = None,
    build: BuildSource = None,
    verify: bool = True,
) -> PassResult:
    """Run single passes of the compiler on the text of a graph or a loop program.

    Args:
        program: a file, or its text of several lines; ``-`` reads standard input, and a network
            becomes a graph.
        names: of passes, one after the other, with options: ``NAME:KEY=VALUE,...``.
        soc: the chip, or what `load_soc` takes, for passes that need one.
        build: a build file, or what it would say, for passes that take requests.
        verify: also verify the program, and what each pass makes of it.

    Raises:
        UsageError: E001, E002, it cannot be read; E199, E208, E209, there is no such pass, or it
            takes no such program.
        AtollError: E078, E222, E198, the text is no program.

    >>> import atoll
    >>> names = ["fuse-activations", "remove-dead-code"]
    >>> atoll.run_passes("examples/01_digits/digits_int8.tflite", names).kind
    'graph'
    """
    chosen = [read_request(each, chip=soc is not None) for each in names]
    chip = None if soc is None else load_soc(soc)._resolved
    given = read_program(program, verified=verify)
    if chip:
        pass_runs.require_chip(given, chip)
    (asked,) = options_of([given.name], build)
    result = pass_runs.run_passes(given, chosen, chip, asked.requests, verified=verify)
    kind = Kind.GRAPH if isinstance(result, Graph) else Kind.MODULE
    ran = tuple(each.each.name for each in chosen)
    return PassResult(kind=str(kind), passes=ran, _program=result)


def _shape(each: TextPass) -> str:
    """Return what a pass takes and makes, and whether it needs a chip."""
    chip = {Chip.NONE: "", Chip.OPTIONAL: "[--soc]", Chip.NEEDED: "--soc"}[each.chip]
    return f"{f'{each.takes} -> {each.makes}':16}  {chip:7}"


def _option_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
