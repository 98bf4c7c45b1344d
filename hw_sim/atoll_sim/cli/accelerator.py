# SPDX-License-Identifier: Apache-2.0
"""The command `atoll accelerator`: whether an accelerator keeps what its description promises."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.console import out
from atoll.cli.options import JsonOption, ToolchainOption
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text


class Action(StrEnum):
    """What to do with an accelerator."""

    TEST = "test"
    CALIBRATE = "calibrate"


ActionArgument = Annotated[
    Action, typer.Argument(help="What to do: test it, or calibrate its estimates.")
]
NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="ACCELERATOR", help="Name of an installed accelerator, or the path of its YAML."
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="A parameter of the instances."),
]
OperatorsOption = Annotated[
    int, typer.Option(metavar="N", min=1, help="Operators of each kind that are drawn.")
]
FaultsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        help="test: faults of the hardware around it, 18 if not said; 0 for none.",
    ),
]
MutantsOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="test: wrong builds, 25 if not said; 0 for none."),
]
SeedOption = Annotated[int, typer.Option(metavar="S", help="Draw others.")]
CoverageOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="test: add what it reaches of limits, rules and the accelerator's RTL to DIR.",
    ),
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="calibrate: put the timing into the description.")
]


def accelerator(
    action: ActionArgument,
    name: NameArgument,
    params: ParamOption = None,
    operators: OperatorsOption = 16,
    faults: FaultsOption = None,
    mutants: MutantsOption = None,
    seed: SeedOption = 1,
    write: WriteOption = False,
    toolchain: ToolchainOption = None,
    coverage: CoverageOption = None,
    machine: JsonOption = False,
) -> None:
    """Test or calibrate an accelerator.

    'test' holds it against its description.
    Operators drawn within its limits run on its model and on its RTL, with memories that answer
    at once, late and very late; each byte of each result must be that of the reference, and each
    access within what the operator touches. Firmware drives two instances at once. Then hardware
    fails around it: errors of the bus, stalled and silent memories, lost interrupts, hangs, resets.
    Last come wrong builds, with wrong addresses, commands and firewalls, which must be noticed.
    The status is 0 if nothing is wrong.

    'calibrate' times drawn operators in RTL with such memories, and prints the 'timing' of the
    description that follows, with how far it is off; --write puts it there.

    Example: atoll accelerator test ./mine.yaml
    """
    values = _values(params or ())
    of_test = {"faults": faults, "mutants": mutants, "toolchain": toolchain, "coverage": coverage}
    _refuse_idle_options(action, write=write, **of_test)
    if action is Action.CALIBRATE:
        with show_work("measuring"):
            measured = atoll.calibrate_accelerator(
                name, params=values, operators=operators, seed=seed, write=write
            )
        if machine:
            print(json_text(measured.to_json()), end="")
        else:
            out.print(measured.text(room()), end="")
        return
    with show_work("testing"):
        found = atoll.check_accelerator(
            name,
            params=values,
            operators=operators,
            faults=18 if faults is None else faults,
            mutants=25 if mutants is None else mutants,
            seed=seed,
            toolchain=toolchain,
            coverage=coverage,
        )
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        out.print(found.text(room()), end="")
    if not found.passed:
        raise typer.Exit(1)


def _refuse_idle_options(action: Action, *, write: bool, **of_test: object) -> None:
    given = [name for name, value in of_test.items() if value is not None]
    idle = given if action is Action.CALIBRATE else ["write"] * write
    if idle:
        other = Action.TEST if action is Action.CALIBRATE else Action.CALIBRATE
        raise atoll.UsageError(
            "E191",
            f"{action} takes no {', '.join(f'--{name}' for name in idle)}",
            remedy=f"leave {'it' if len(idle) == 1 else 'them'} out, or use {other}",
        )


def _values(words: Sequence[str]) -> Mapping[str, int]:
    values = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise atoll.UsageError(
                "E163", f"--param takes no '{word}'", remedy="write NAME=VALUE with a whole number"
            ) from None
    return values
