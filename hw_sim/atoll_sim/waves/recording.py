# SPDX-License-Identifier: Apache-2.0
"""Record the waveforms of a simulation, whole or not at all, and write its save files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import SimulationError
from atoll.utils.files import replace_file, write_text
from atoll_sim.build.wave_formats import WaveFormat
from atoll_sim.chip.plan import plan_chip
from atoll_sim.trace.run_files import RECORDED
from atoll_sim.trace.simulation import Phase, Recorded, Recording, SimRequest, SimResult
from atoll_sim.waves.gtkwave import gtkwave_text
from atoll_sim.waves.marks import operator_marks, time_of
from atoll_sim.waves.request import Names, Waves, operator_number
from atoll_sim.waves.signals import signal_groups
from atoll_sim.waves.surfer import surfer_text

Simulate = Callable[[SimRequest], SimResult]
FST_DATE = range(202, 228)
"""Bytes of the date in the header of an FST file."""


def record(
    waves: Waves,
    request: SimRequest,
    names: Sequence[Names],
    simulate: Simulate,
    watch: Callable[[Callable[[], str]], Callable[[], None]] = lambda _: lambda: None,
) -> SimResult:
    """Run `request`; write the waveform and its save files, with equal bytes for equal runs.

    If a failed assertion ends the simulation, the waveform up to it is written and then the error
    is raised; if the simulation ends in another way that is no result, nothing is written.

    Args:
        waves: what to record, and where to.
        request: its executable is built for the format.
        names: of the operators of each model; `waves.operator` is one of `waves.network`.
        simulate: runs a request (`session.simulate`).
        watch: given what tells the size of the file, returns what is called now and then.

    Raises:
        SimulationError: see `session.simulate`.
        UsageError: E025, E092.
    """
    settings = _settings(waves, names)
    with replace_file(waves.path) as temporary:
        recording = Recording(
            file=temporary,
            settings=settings,
            watch=watch(lambda: f"waves {_megabytes(temporary)}"),
        )
        ended = _run_to_end(simulate, replace(request, waves=recording))
        if waves.format is WaveFormat.FST:
            _remove_date(temporary)
    recorded = _find_recorded(waves, request.run_dir)
    if isinstance(ended, SimulationError):
        _write_views(waves, request, (), recorded, names)
        raise SimulationError.all(
            replace(fault, remedy=f"{fault.remedy}; {recorded}") for fault in ended.faults
        ) from ended
    _write_views(waves, request, ended.phases, recorded, names)
    return replace(ended, recorded=recorded)


def _run_to_end(simulate: Simulate, request: SimRequest) -> SimResult | SimulationError:
    """Return the result, or the failure before which the recorder still closed its file."""
    try:
        return simulate(request)
    except SimulationError as error:
        if not (request.run_dir / RECORDED).is_file():
            raise
        return error


def _settings(waves: Waves, names: Sequence[Names]) -> str:
    """Return what recorder.cpp reads."""
    operator = operator_number(waves, names[waves.network])
    lines = [f"first {waves.first}", f"limit {waves.limit}"]
    lines += [f"last {waves.last}"] if waves.last is not None else []
    lines += [f"wanted {waves.network} {operator}"] if operator is not None else []
    lines += [
        f"operator {model} {number} {name}"
        for model, operators in enumerate(names)
        for number, name in operators.items()
    ]
    return "".join(f"{line}\n" for line in lines)


def _find_recorded(waves: Waves, run_dir: Path) -> Recorded:
    first, last, full = map(int, (run_dir / RECORDED).read_text().split())
    size = waves.path.stat().st_size
    return Recorded(path=waves.path, size=size, first=first, last=last, full=bool(full))


def _megabytes(path: Path) -> str:
    return f"{path.stat().st_size / 10**6:,.0f} MB"


def _write_views(
    waves: Waves,
    request: SimRequest,
    phases: Sequence[Phase],
    recorded: Recorded,
    names: Sequence[Names],
) -> None:
    chip = plan_chip(request.soc)
    groups = tuple(signal_groups(chip))
    cycles = range(recorded.first, recorded.last + 1)
    marks = tuple(operator_marks(chip, phases, names, cycles))
    times = time_of(chip, recorded.first), time_of(chip, recorded.last)
    gtkwave, surfer = waves.views()
    write_text(gtkwave, gtkwave_text(waves.path, groups, marks, times))
    write_text(surfer, surfer_text(groups, marks))


def _remove_date(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(FST_DATE.start)
        file.write(bytes(len(FST_DATE)))
