# SPDX-License-Identifier: Apache-2.0
"""Run a firmware image on a machine of QEMU."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.diagnostics.errors import UsageError
from atoll.protocol import Trace, TraceEvent
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import Work
from atoll_sim.protocol.records import EventKind
from atoll_sim.qemu.machine import Machine, machine
from atoll_sim.qemu.supported import require_machine
from atoll_sim.simulate.firmware import load_segments
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.simulate.serve import Bench
from atoll_sim.simulate.session import result_of, work_of
from atoll_sim.trace.pace import Pace
from atoll_sim.trace.painted_stacks import stack_name
from atoll_sim.trace.run_files import Record
from atoll_sim.trace.simulation import SimRequest, SimResult, Stop
from atoll_sim.trace.so_far import SoFar, Teller
from atoll_sim.waves.request import Waves

TRAP = "atoll_interrupt"
"""Where the start-up code of every core ends that takes an exception."""


SECONDS = 600.0
"""Of a run, unless the environment says otherwise: a core that is silent cannot be asked."""


class QemuSession:
    """The chip as a machine of QEMU, which runs the linked firmware."""

    runs_firmware = True

    def check(self, waves: Waves | None) -> None:
        """See `atoll_sim.backends.session.Session.check`."""
        if waves:
            raise UsageError(
                "E089",
                "a machine of QEMU has no waveforms: only --cpu rtl simulates the whole chip",
                remedy="leave --cpu qemu out, or --waves",
            )

    def run(self, work: Work) -> SimResult:
        """See `atoll_sim.backends.session.Session.run`."""
        with temporary_folder() as folder:
            request = requests_for(
                work.models, work.elves, work.samples, Path(), folder, beats=False
            )
            what = f"running on QEMU's machine '{request.soc.qemu_machine}'"
            pace = Pace(what, work.models, len(request.samples))
            pace.announce(work.progress)
            return simulate(request, pace.watch(work.progress))


def simulate(request: SimRequest, watch: Callable[[SoFar], None] = lambda _: None) -> SimResult:
    """Run the firmware with all samples and return what happened, however it ended.

    Raises:
        SimulationError: the chip is not as the machine, QEMU broke off, or it takes too long.
    """
    soc, elf = request.soc, request.elves[0]
    require_machine(soc)
    request.run_dir.mkdir(parents=True, exist_ok=True)
    with machine(soc, elf, request.run_dir, min(request.max_seconds, SECONDS)) as chip:
        chip.prepare(load_segments(elf), _trap_address(elf))
        bench = Bench(chip, work_of(request, (soc.host_cpu,)))
        begin = time.perf_counter()
        stop = _run(chip, bench, Teller(watch))
        record = bench.record(stop, time.perf_counter() - begin)
    result = result_of(request, record)
    return replace(
        result,
        unpainted=_unpainted_bytes(soc, record),
        phases=tuple(replace(each, instructions=each.end - each.begin) for each in result.phases),
    )


def _run(chip: Machine, bench: Bench, teller: Teller) -> Stop:
    while chip.cycle() < bench.work.max_cycles:
        chip.run_on()
        if (stop := bench.serve()) is not None:
            return stop
        teller.look(bench.so_far, chip.cycle)
    return Stop.LIMIT


def _trap_address(elf: Path) -> int | None:
    """Return the first instruction of a core's trap, without the mark of Thumb."""
    with elf.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return None
        found = table.get_symbol_by_name(TRAP)
    return found[0]["st_value"] & ~1 if found else None


def _unpainted_bytes(soc: ResolvedSoc, record: Record) -> Mapping[str, int]:
    """Return what `trace.stacks.unpainted` does: all is painted before the first READY."""
    ready = any(
        event.kind is EventKind.TRACE and Trace.of(event.value).event == TraceEvent.READY
        for event in record.events
    )
    return {stack_name(stack): 0 if ready else stack.size for stack in soc.host_cpu.stacks}
