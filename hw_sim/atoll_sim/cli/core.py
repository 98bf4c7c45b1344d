# SPDX-License-Identifier: Apache-2.0
"""The command `atoll core`: whether the RTL adapter of a core keeps its promises."""

from enum import StrEnum
from typing import Annotated

import typer

import atoll
from atoll.cli.console import out
from atoll.cli.options import JsonOption, ToolchainOption
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text


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
    with show_work("testing"):
        found = atoll.check_core(name, isa=isa, seed=seed, toolchain=toolchain)
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        out.print(found.text(room()), end="")
    if not found.passed:
        raise typer.Exit(1)
