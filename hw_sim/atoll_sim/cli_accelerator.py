# SPDX-License-Identifier: Apache-2.0
"""The command `atoll accelerator`: whether an accelerator keeps what its description promises."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.console import out
from atoll.cli.options import JsonOption, ToolchainOption
from atoll.cli.tables import room
from atoll.cli.working import working
from atoll.description.accelerator_files import find_accelerator, load_accelerator
from atoll.diagnostics.columns import laid_out
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll_sim.accelerator_test.outcome import Coverage, Outcome, Timing
from atoll_sim.accelerator_test.run import run_accelerator_test

MOST_SHOWN = 10
"""Lines of what is wrong in one check; the rest is counted."""


class Action(StrEnum):
    """What to do with an accelerator."""

    TEST = "test"


ActionArgument = Annotated[Action, typer.Argument(help="What to do: test it.")]
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
    int, typer.Option(metavar="N", min=0, help="Faults of the hardware around it, 0 for none.")
]
MutantsOption = Annotated[int, typer.Option(metavar="N", min=0, help="Wrong builds, 0 for none.")]
SeedOption = Annotated[int, typer.Option(metavar="S", help="Draw others.")]


def accelerator(
    action: ActionArgument,
    name: NameArgument,
    params: ParamOption = None,
    operators: OperatorsOption = 16,
    faults: FaultsOption = 18,
    mutants: MutantsOption = 25,
    seed: SeedOption = 1,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Test an accelerator against its description.

    Operators drawn within its limits run on its model and on its RTL, with memories that answer
    at once, late and very late; each byte of each result must be that of the reference, and each
    access within what the operator touches. Firmware drives two instances at once. Then hardware
    fails around it: errors of the bus, stalled and silent memories, lost interrupts, hangs, resets.
    Last come wrong builds, with wrong addresses, commands and firewalls, which must be noticed.
    The status is 0 if nothing is wrong.

    Example: atoll accelerator test ./mine.yaml
    """
    assert action is Action.TEST
    described = load_accelerator(find_accelerator(name, Path.cwd(), None), None)
    with working("testing") as progress:
        outcome = run_accelerator_test(
            described,
            _values(params or ()),
            operators=operators,
            faults=faults,
            mutants=mutants,
            seed=seed,
            toolchain=toolchain,
            progress=progress,
        )
    if machine:
        print(json_text(as_json(outcome)), end="")
    else:
        out.print(text_of(outcome))
    if not outcome.passed:
        raise typer.Exit(1)


def _values(words: Sequence[str]) -> Mapping[str, int]:
    values = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise UsageError(
                "E163", f"--param takes no '{word}'", remedy="write NAME=VALUE with a whole number"
            ) from None
    return values


def as_json(outcome: Outcome) -> dict[str, object]:
    """Return an outcome as plain data."""
    return {
        "accelerator": outcome.accelerator,
        "rtl": outcome.in_rtl,
        "passed": outcome.passed,
        "checks": [
            {
                "check": check.name,
                "tried": check.tried,
                "faults": [*check.faults],
                "wall_ns": round(check.seconds * 10**9),
            }
            for check in outcome.checks
        ],
        "coverage": [
            {
                "operator": each.operator,
                "feature": each.feature,
                "least": each.least,
                "most": each.most,
                "min": each.limits[0],
                "max": each.limits[1],
            }
            for each in outcome.coverage
        ],
        "timings": [
            {
                "operator": each.operator,
                "factor_percent": round(100 * each.fit[0]),
                "offset_cycles": each.fit[1],
                "measured": [
                    {"formula_cycles": expected, "cycles": measured}
                    for expected, measured in each.pairs
                ],
            }
            for each in outcome.timings
        ],
        "left_out": [*outcome.left_out],
    }


def text_of(outcome: Outcome) -> str:
    """Return an outcome as tables, with what is wrong below them."""
    return "\n".join(_lines(outcome))


def _lines(outcome: Outcome) -> Iterator[str]:
    rows = [("check", "tried", "seconds", "result")]
    rows += [
        (check.name, f"{check.tried}", f"{check.seconds:.1f}", "wrong" if check.faults else "right")
        for check in outcome.checks
    ]
    yield from _table(rows, (1, 2))
    if outcome.coverage:
        yield ""
        covered = [("operator", "feature", "tried", "limits")]
        covered += [
            (each.operator, each.feature, f"{each.least} to {each.most}", _limits(each))
            for each in outcome.coverage
        ]
        yield from _table(covered, ())
    if outcome.timings:
        yield ""
        timed = [("operator", "timed", "cycles by formula", "what fits")]
        timed += [_timed(each) for each in outcome.timings]
        yield from _table(timed, (1,))
    for check in outcome.checks:
        for fault in check.faults[:MOST_SHOWN]:
            yield f"{check.name}: {fault}"
        if (more := len(check.faults) - MOST_SHOWN) > 0:
            yield f"{check.name}: ... and {more} more"
    if outcome.left_out:
        listed = ", ".join(kind.upper() for kind in outcome.left_out)
        yield f"not tried, the kit draws none within the limits: {listed}"
    good = sum(not check.faults for check in outcome.checks)
    rtl = "" if outcome.in_rtl else "; there is no RTL"
    yield f"accelerator {outcome.accelerator}: {good} of {len(outcome.checks)} checks right{rtl}"


def _timed(each: Timing) -> tuple[str, str, str, str]:
    (least, most), (factor, offset) = each.ratios, each.fit
    ratios = f"{least:.2f} to {most:.2f}"
    return each.operator, f"{len(each.pairs)}", ratios, f"{factor:.2f} x formula {offset:+,}"


def _limits(each: Coverage) -> str:
    low, high = ("" if bound is None else str(bound) for bound in each.limits)
    return f"{low} to {high}".strip()


def _table(rows: Sequence[tuple[str, ...]], right: tuple[int, ...]) -> Iterator[str]:
    for row in laid_out(rows, right=right, columns=room()):
        yield from row
