# SPDX-License-Identifier: Apache-2.0
"""The command `atoll core`: whether the RTL adapter of a core keeps its promises."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.console import out
from atoll.cli.options import JsonOption, ToolchainOption
from atoll.cli.tables import room
from atoll.cli.working import working
from atoll.description.core_files import find_core, load_core
from atoll.description.share import is_path
from atoll.diagnostics.columns import laid_out
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll_sim.core_test.run import Outcome, run_core_test


class Action(StrEnum):
    """What to do with a core."""

    TEST = "test"


ActionArgument = Annotated[Action, typer.Argument(help="What to do: test its adapter.")]
CoreArgument = Annotated[
    str,
    typer.Argument(metavar="CORE", help="Name of an installed core, or the path of its YAML."),
]
IsaOption = Annotated[
    str | None,
    typer.Option(metavar="ISA", help="Instruction set in the test; default: its first."),
]
SeedOption = Annotated[int, typer.Option(metavar="S", help="Draw other waits of the bus.")]


def core(
    action: ActionArgument,
    name: CoreArgument,
    isa: IsaOption = None,
    seed: SeedOption = 1,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Test the RTL adapter of a core.

    A program with the core's start-up code runs on the adapter alone. Loads, stores, byte lanes,
    interrupts, timeouts, failed accesses, illegal instructions and resets must be what the core's
    description promises, on a bus without waits, with some, and with many.
    The status is 0 if nothing is wrong.

    Example: atoll core test ibex
    """
    assert action is Action.TEST
    path = find_core(name, "", Path.cwd(), None).resolve()
    described = load_core(path, None).model
    if isa is not None and isa not in described.isas:
        raise UsageError(
            "E040",
            f"core '{described.core}' cannot run '{isa}'",
            remedy=f"use --isa with one of {', '.join(described.isas)}",
        )
    word = str(path) if is_path(name) else name
    with working("testing") as progress:
        outcome = run_core_test(
            word, isa or described.isas[0], seed=seed, toolchain=toolchain, progress=progress
        )
    if machine:
        print(json_text(as_json(outcome)), end="")
    else:
        out.print(text_of(outcome))
    if not outcome.passed:
        raise typer.Exit(1)


def as_json(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as plain data."""
    return {
        "core": outcome.core,
        "isa": outcome.isa,
        "module": outcome.module,
        "passed": outcome.passed,
        "checks": [
            {"check": trial.name, "waits": trial.pace, "cycles": trial.cycles, "faults": [*faults]}
            for trial, faults in outcome.trials
        ],
    }


def text_of(outcome: Outcome) -> str:
    """Return an outcome as a table, with what is wrong below it."""
    rows = [("check", "waits", "cycles", "result")]
    rows += [
        (trial.name, trial.pace, f"{trial.cycles:,}", "wrong" if faults else "right")
        for trial, faults in outcome.trials
    ]
    wrong = [
        f"{trial.name}, waits {trial.pace}: {fault}"
        for trial, faults in outcome.trials
        for fault in faults
    ]
    good = sum(not faults for _, faults in outcome.trials)
    verdict = f"core {outcome.core}, {outcome.isa}: {good} of {len(outcome.trials)} checks right"
    lines = (line for row in laid_out(rows, right=(2,), columns=room()) for line in row)
    return "\n".join((*lines, *wrong, verdict))
