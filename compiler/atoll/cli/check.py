# SPDX-License-Identifier: Apache-2.0
"""The command `atoll check`."""

from pathlib import Path

import atoll
from atoll.cli.bench_options import BenchOptions
from atoll.cli.options import JsonOption, ReportOption, SetOption, SimulateOption, SocArgument
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.shown import json_text


def check(
    soc: SocArgument,
    simulate: SimulateOption = None,
    overrides: SetOption = None,
    page: ReportOption = None,
    *,
    own: BenchOptions,
    machine: JsonOption = False,
) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy. What is perhaps not
    meant is noted, who can play the cores and who cannot is said, and what was not looked at is
    said before the verdict. With --bench, the status is 0 only if all tests passed.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    prepare_report(page)
    own.require_bench()
    chip = atoll.load_soc(soc, overrides=overrides or ())
    with show_work(f"checking '{chip.name}'"):
        found = chip.check(simulate=simulate)
    write_report(page, chip, found)
    tested = None
    if own.bench:
        with show_work(f"simulating '{chip.name}'"):
            tested = atoll.run_bench(chip, own.bench, output=own.bench_output, junit=own.junit)
    if not machine:
        _show(soc, found)
    elif tested is None:
        print(json_text(found.to_json()), end="")
    if tested:
        own.finish(tested, machine=machine)


def _show(soc: Path, found: atoll.SocCheck) -> None:
    with names_as_written(soc):
        print(found.text(room()), end="")
