# SPDX-License-Identifier: Apache-2.0
"""Run firmware on a built model, in a process of its own, and hand back what it did."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import SimulationError
from atoll.resolve.protection.record import record_of
from atoll.resolve.soc import Cpu
from atoll.utils.children import LIMIT_VARIABLE, TimeLimitError, time_limit
from atoll_sim.build.verilate import kept_warnings, notes_of
from atoll_sim.chip.chip_parts import PICOSECONDS
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import read_folders
from atoll_sim.model.process import LOG, keep_log, run_watched, said_notes, unfinished_error
from atoll_sim.simulate.firmware import write_image
from atoll_sim.trace.findings import name_findings
from atoll_sim.trace.painted_stacks import stack_name, unpainted_bytes
from atoll_sim.trace.run_files import (
    CAPTURES,
    IMAGE,
    RECORDED,
    RECORDS,
    RESULT,
    SHADOW,
    WAVES,
    Record,
    Work,
    read_record,
    write_work,
)
from atoll_sim.trace.simulation import Buffer, SimRequest, SimResult
from atoll_sim.trace.timeline import make_result


def simulate(request: SimRequest) -> SimResult:
    """Run the firmware with all samples and return what happened, however it ended.

    Raises:
        SimulationError: the firmware does not fit the chip, or the simulator itself broke off.
    """
    folder = request.run_dir
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RESULT, CAPTURES, *RECORDS.values(), RECORDED):
        (folder / name).unlink(missing_ok=True)
    cores = write_image(request.elves, request.soc, folder / IMAGE)
    write_work(folder, work_of(request, cores))
    command = [str(request.executable.absolute()), *write_map(request.soc, folder, request.windows)]
    command += ["--seed", str(request.start_seed)]
    waves = request.waves
    if waves:
        (folder / WAVES).write_text(waves.settings)
        command += ["--waves", str(waves.file.absolute()), WAVES]
    if request.table:
        (folder / SHADOW).write_bytes(request.table.words)
        command += ["--shadow", SHADOW]
    watch = waves.watch if waves else request.watch
    _run(command, folder, request, watch)
    notes = (*notes_of(request.soc, kept_warnings(request.executable)), *said_notes(folder))
    return replace(result_of(request, read_record(folder)), notes=notes)


def result_of(request: SimRequest, record: Record) -> SimResult:
    """Return what a bench's record says, in the terms of the chip."""
    soc, table = request.soc, request.table
    chip = plan_chip(soc)
    masters = tuple(master.name for master in chip.masters)
    findings = name_findings(record.findings, table, soc) if table else ()
    result = make_result(record, masters, findings, chip.interrupts)
    return replace(result, unpainted=unpainted_bytes(soc, result.phases))


def _read_at_end(cpu: Cpu) -> Iterator[Buffer]:
    for stack in cpu.stacks:
        yield Buffer(stack_name(stack), stack.origin, stack.size)
    if cpu.protected:
        record = record_of(cpu)
        yield Buffer(record.name, record.origin, record.size)


def _run(
    command: Sequence[str],
    folder: Path,
    request: SimRequest,
    watch: Callable[[], None],
) -> None:
    max_seconds, reads = request.max_seconds, read_folders(request.soc)
    own = request.bench.environment if request.bench else {}
    try:
        status = run_watched(command, folder, max_seconds, watch, request.stand_ins, reads, own)
    except TimeLimitError as error:
        limit = time_limit(max_seconds)
        raise SimulationError(
            "E088",
            f"the simulation took more than {limit:g} s of wall-clock time",
            remedy=f"read '{keep_log(folder)}', or allow more time with"
            f" {LIMIT_VARIABLE}={2 * limit:g}",
        ) from error
    finally:
        if request.bench:
            shutil.copyfile(folder / LOG, request.bench.folder / LOG)
    if status or not (folder / RESULT).is_file():
        raise unfinished_error(folder, status, request.soc)


def work_of(request: SimRequest, cores: Sequence[Cpu]) -> Work:
    """Return what the bench has to do; `cores` are those with firmware."""
    soc, turns = request.soc, request.turns
    return Work(
        turns=turns,
        stacks=tuple(each for cpu in cores for each in _read_at_end(cpu)),
        samples=tuple(
            b"".join(sample[buffer.name] for buffer in turns[number % len(turns)].inputs)
            for number, sample in enumerate(request.samples)
        ),
        max_cycles=request.max_cycles,
        stall_cycles=request.stall_cycles,
        cycle_time=PICOSECONDS // soc.host_cpu.clock,
    )
