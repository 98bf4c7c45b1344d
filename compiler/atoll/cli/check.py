# SPDX-License-Identifier: Apache-2.0
"""The command `atoll check`."""

from collections.abc import Sequence

from atoll.cli.options import JsonOption, SetOption, SimulateOption, SocArgument
from atoll.cli.tables import print_tables, room
from atoll.columns import wrapped
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.resolve.notes import notes_of
from atoll.soc_checks import Player, check_soc


def check(
    soc: SocArgument,
    simulate: SimulateOption = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy. What is perhaps not
    meant is noted, who can play the cores and who cannot is said, and what was not looked at is
    said before the verdict.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    resolved = load_soc(soc, overrides or ())
    found = check_soc(resolved, simulate=simulate)
    notes = notes_of(resolved)
    print_tables(
        resolved,
        tables.summary(resolved),
        machine=machine,
        notes=notes,
        players=[each.as_json() for each in found.players] or None,
        not_checked=found.left_out,
    )
    if machine:
        return
    said = [f"note: {each}" for each in notes]
    for block in (said, _players(found.players), _listed("not checked:", found.left_out)):
        print("".join(f"\n{wrapped(line, room())}" for line in block), end="\n" if block else "")
    print(f"\n{resolved.name}: no faults")


def _players(players: tuple[Player, ...]) -> list[str]:
    able = [each.cpu for each in players if not each.faults]
    why_not = [f"{each.cpu}: {fault.message}" for each in players for fault in each.faults]
    runs = [f"runs with --cpu {', '.join(able)}"] if able else []
    return runs + _listed("does not run with --cpu", why_not)


def _listed(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in lines)] if lines else []
