"""The command `atoll check`."""

from atoll.cli.options import JsonOption, SetOption, SimulateOption, SocArgument
from atoll.cli.tables import print_tables, room
from atoll.columns import wrapped
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.soc_checks import check_soc


def check(
    soc: SocArgument,
    simulate: SimulateOption = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy. What was not looked at
    is said before the verdict.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    resolved = load_soc(soc, overrides or ())
    left_out = check_soc(resolved, simulate=simulate)
    print_tables(resolved, tables.summary(resolved), machine=machine, not_checked=left_out)
    if not machine:
        print("\n".join(("\nnot checked:", *(wrapped(f"  {each}", room()) for each in left_out))))
        print(f"\n{resolved.name}: no faults")
