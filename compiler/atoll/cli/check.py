# SPDX-License-Identifier: Apache-2.0
"""The command `atoll check`."""

import atoll
from atoll.cli.options import JsonOption, SetOption, SimulateOption, SocArgument
from atoll.cli.tables import room
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.shown import json_text


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
    found = atoll.load_soc(soc, overrides=overrides or ()).check(simulate=simulate)
    if machine:
        print(json_text(found.to_json()), end="")
        return
    with names_as_written(soc):
        print(found.text(room()), end="")
