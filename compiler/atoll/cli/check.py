"""The command `atoll check`."""

from atoll.cli.options import JsonOption, SetOption, SimulateOption, SocArgument
from atoll.cli.tables import print_tables, room
from atoll.columns import wrapped
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.resolve.notes import notes_of
from atoll.soc_checks import check_soc


def check(
    soc: SocArgument,
    simulate: SimulateOption = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy. What is perhaps not
    meant is noted, and what was not looked at is said before the verdict.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    resolved = load_soc(soc, overrides or ())
    left_out = check_soc(resolved, simulate=simulate)
    notes = notes_of(resolved)
    more = {"notes": notes, "not_checked": left_out}
    print_tables(resolved, tables.summary(resolved), machine=machine, **more)
    if not machine:
        print("".join(f"\n{wrapped(f'note: {each}', room())}" for each in notes), end="")
        print("\n".join(("\nnot checked:", *(wrapped(f"  {each}", room()) for each in left_out))))
        print(f"\n{resolved.name}: no faults")
