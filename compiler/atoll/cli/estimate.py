# SPDX-License-Identifier: Apache-2.0
"""The command `atoll estimate`: what networks take on a chip, before anything is built."""

import atoll
from atoll.api.traces import require_trace
from atoll.cli.console import out
from atoll.cli.options import (
    AcceleratorsOption,
    IssOption,
    JsonOption,
    ModelsArgument,
    PlacementOptions,
    ReportOption,
    SetOption,
    SocArgument,
    TraceOption,
)
from atoll.cli.output import log
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.shown import json_text


def estimate(
    soc: SocArgument,
    models: ModelsArgument,
    *,
    placement: PlacementOptions,
    overrides: SetOption = None,
    accelerators: AcceleratorsOption = True,
    trace: TraceOption = None,
    page: ReportOption = None,
    iss: IssOption = False,
    machine: JsonOption = False,
) -> None:
    """Estimate cycles and bytes of a network, without building it.

    For each operator: its device, its cycles, what decides them (compute, read, write, weights, the
    start or the driver of an engine, or a core), and for each memory the bytes read and written and
    the cycles that its port needs for them. Then sums, and what atoll run would take from reset to
    exit. All cycles are of the host's clock.

    With --iss, the network is built and run once on the instruction-set simulator (atoll[iss]), and
    what cores take rests on the instructions that it counts.

    Example: atoll estimate lagoon model.tflite --set devices.npu.params.output_lanes=4
    """
    prepare_report(page, trace)
    options = build_options(models, placement, accelerators=accelerators)
    require_trace(trace)
    with show_work("compiling and planning"):
        chip = atoll.load_soc(soc, overrides=overrides or ())
        compiled = compile_files(chip, models, options)
        if iss:
            compiled = compiled.with_instructions(compiled.count_instructions())
        found = atoll.estimate(compiled, trace=trace)
        write_report(page, compiled)
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        with names_as_written(soc, (each._compiled.graph for each in compiled)):
            for number, each in enumerate(found):
                if number:
                    out.print()
                out.print(each.rich())
    if trace:
        log(f"wrote {trace}")
