# SPDX-License-Identifier: Apache-2.0
"""Options of the command line about a user's own bench."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.console import out
from atoll.cli.output import log
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """Which bench runs, and what becomes of its results."""

    bench: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE[:TEST]",
            help="Run your own cocotb tests on the chip, each in a simulation of its own: a module,"
            " or a file such as my_bench.py.",
        ),
    ] = None
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --bench: write JUnit XML.")
    ] = None
    bench_output: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --bench: keep references, logs and what tests leave in DIR, which is"
            " replaced.",
        ),
    ] = None

    def require_bench(self) -> None:
        """Refuse options that have no effect without a bench.

        Raises:
            UsageError: E191.
        """
        alone = {"--junit": self.junit, "--bench-output": self.bench_output}
        given = [name for name, value in alone.items() if value is not None]
        if self.bench is None and given:
            raise UsageError(
                "E191",
                f"{given[0]} is about a bench, and there is none",
                remedy="add --bench MODULE, or leave it out",
            )

    def finish(self, tested: atoll.BenchRun, *, machine: bool) -> None:
        """Print what tests said; end with status 1 if one failed."""
        if machine:
            print(json_text(tested.to_json()), end="")
        else:
            out.print(tested.rich())
        if self.junit:
            log(f"wrote {self.junit}")
        if not tested.passed:
            raise typer.Exit(1)
