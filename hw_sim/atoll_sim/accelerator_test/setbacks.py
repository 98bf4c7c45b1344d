# SPDX-License-Identifier: Apache-2.0
"""An accelerator in RTL after a setback: the bus failed an access, an abort, a reset."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll.lower.records import record_layout
from atoll.program.expressions import names_of
from atoll.program.record import WORD_BYTES
from atoll.program.steps import ADDRESS, MOVES, all_steps
from atoll.records import dataclass
from atoll.resolve.soc import Engine
from atoll_sim.build.model import build_model
from atoll_sim.check.layers import check_layers
from atoll_sim.coverage.folder import COUNTS, add_run
from atoll_sim.engines.interface import Outcome
from atoll_sim.host.memory import Accessed, Bytes, HostMemory
from atoll_sim.host.native import HostCores
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.shadow.device_rows import is_driven
from atoll_sim.trace.simulation import Conditions, Touched

MOST_DELAY = 20
"""Accesses between start and abort."""

PARTS = 8
"""Of the time that an operator takes; in each of them there is a reset."""

SETTING_UP = 64
"""Cycles in which a host writes the registers of a list, or takes an interrupt back."""


class _EnoughError(Exception):
    """A rule is broken: what is run after that may never end."""


@dataclass(frozen=True, slots=True)
class _Disturbed:
    """Accelerators that meet something before each run, of which nothing may be left."""

    rtl: RtlAccelerators
    meet: Callable[[Engine, int, int], None]

    def run(self, npu: Engine, address: int, count: int) -> Outcome:
        """See `atoll_sim.host.native.Accelerators`."""
        self.meet(npu, address, count)
        if self.rtl.findings:
            raise _EnoughError
        return self.rtl.run(npu, address, count)

    def results(self, npu: Engine, address: int) -> Mapping[int, bytes]:
        """See `atoll_sim.host.native.Accelerators`."""
        return self.rtl.results(npu, address)

    def see_through(self, caches: Mapping[str, Bytes]) -> None:
        """See `atoll_sim.host.native.Accelerators`."""
        self.rtl.see_through(caches)

    def recent(self) -> tuple[Accessed, ...]:
        """See `atoll_sim.host.native.Accelerators`."""
        return self.rtl.recent()

    def take_touched(self) -> tuple[Touched, ...]:
        """See `atoll_sim.host.native.Accelerators`."""
        return self.rtl.take_touched()


def may_fail(engine: Engine) -> bool:
    """Tell whether an engine reads memory at addresses that commands or records tell it."""
    program = engine.spec.program
    if program is None:
        return bool(engine.spec.addresses)
    every = (step for run in program.runs.values() for step in all_steps(run))
    return bool(program.failures) and not any(step.verb in MOVES for step in every)


def may_abort(engine: Engine) -> bool:
    """Tell whether its driver can abort an engine."""
    program = engine.spec.program
    return program is None or bool(program.abort)


def may_reset(engine: Engine) -> bool:
    """Tell whether it is known how the host drives an engine, so that a reset can be in between."""
    return is_driven(engine.spec)


def try_registers(
    compiled: Compiled, conditions: Conditions, folder: Path, coverage: Path | None = None
) -> Iterator[str]:
    """Yield what is wrong where the host tries what no register allows, then runs each operator.

    An operator of a list runs twice with its interrupt off, too. What is reached is added to
    `coverage`.
    """

    def meet(rtl: RtlAccelerators, npu: Engine, address: int, count: int) -> None:
        rtl.probe(npu)
        for _ in range(2 if npu.spec.program is None else 0):
            rtl.poll(npu, address, count)

    work = _Work(compiled, conditions, folder, HostMemory(compiled.soc), coverage)
    yield from _try(work, meet, "accesses that no register allows")


def try_resets(
    compiled: Compiled,
    conditions: Conditions,
    folder: Path,
    random: Random,
    coverage: Path | None = None,
) -> Iterator[str]:
    """Yield what is wrong where the chip is reset in each part of each operator, and after it.

    What is reached is added to `coverage`.
    """

    def meet(rtl: RtlAccelerators, npu: Engine, address: int, count: int) -> None:
        rtl.fail(npu, address, count)
        whole = rtl.cycles[-1] + SETTING_UP
        rtl.reset(npu, address, count, whole * 5 // 4 + SETTING_UP)
        for part in range(PARTS):
            rtl.reset(npu, address, count, int(whole * (part + random.random()) / PARTS))
        rtl.probe(npu)

    work = _Work(compiled, conditions, folder, HostMemory(compiled.soc), coverage)
    yield from _try(work, meet, "a reset")


def try_failures(
    compiled: Compiled,
    conditions: Conditions,
    folder: Path,
    hole: int,
    coverage: Path | None = None,
) -> Iterator[str]:
    """Yield what is wrong where each operator runs with each operand at `hole`, then rightly.

    No accelerator reaches `hole`, a multiple of 64. What is reached is added to `coverage`.
    """
    memory, missed = HostMemory(compiled.soc), list[str]()

    def fail(rtl: RtlAccelerators, npu: Engine, address: int, count: int) -> None:
        for at, what in _addresses(npu, memory, address):
            kept = memory.read(at, WORD_BYTES)
            memory.write(at, hole.to_bytes(WORD_BYTES, "little"))
            outcome = rtl.fail(npu, address, count)
            memory.write(at, kept)
            if not outcome.error:
                missed.append(
                    f"failure not told (A11): device {npu.name} ends as if all were well where"
                    f" {what} is {hole:#010x}, which the bus refuses"
                )

    work = _Work(compiled, conditions, folder, memory, coverage)
    yield from _try(work, fail, "a failed access")
    yield from missed


def try_aborts(
    compiled: Compiled,
    conditions: Conditions,
    folder: Path,
    random: Random,
    coverage: Path | None = None,
) -> Iterator[str]:
    """Yield what is wrong where each operator is aborted once after its start, then runs.

    What is reached is added to `coverage`.
    """

    def abort(rtl: RtlAccelerators, npu: Engine, address: int, count: int) -> None:
        rtl.abort(npu, address, count, random.randrange(MOST_DELAY))

    work = _Work(compiled, conditions, folder, HostMemory(compiled.soc), coverage)
    yield from _try(work, abort, "an abort")


@dataclass(frozen=True, slots=True)
class _Work:
    """What runs, and where to what it reaches goes."""

    compiled: Compiled
    conditions: Conditions
    folder: Path
    memory: HostMemory
    coverage: Path | None


def _try(
    work: _Work, meet: Callable[[RtlAccelerators, Engine, int, int], None], what: str
) -> Iterator[str]:
    compiled, folder, counted = work.compiled, work.folder, work.coverage is not None
    soc = compiled.soc
    executable = build_model(soc, external_host=True, coverage=counted, progress=current())
    rtl = RtlAccelerators(
        *(soc, work.memory, executable, folder, (compiled,)),
        watched=True,
        conditions=work.conditions,
    )
    samples = random_sample(compiled.graph)
    used = {op.device for op in compiled.graph.operators}
    try:
        with rtl:
            disturbed = _Disturbed(rtl, lambda *words: meet(rtl, *words))
            result = HostCores((compiled,), work.memory, disturbed).run(samples)
            for npu in soc.engines:
                if npu.name in used:
                    rtl.probe(npu)
    except (_EnoughError, SimulationError):
        if not rtl.findings:
            raise
        yield from (str(each.violation) for each in rtl.findings)
        return
    if work.coverage:
        engines = frozenset(engine.name for engine in soc.engines)
        counts = (folder / COUNTS).read_text("utf-8")
        reached = replace(result, occasions=rtl.occasions)
        add_run(work.coverage, (compiled,), engines, reached, counts)
    yield from (str(each.violation) for each in (*rtl.findings, *result.findings))
    layers = check_layers(compiled.graph, samples, result, soc, compiled.network)
    for mismatch in layers.mismatches:
        said = replace(mismatch, number="")
        yield f"wrong after a setback (A11): device {mismatch.device}, after {what}: {said}"


def _addresses(npu: Engine, memory: HostMemory, address: int) -> Iterator[tuple[int, str]]:
    """Yield where the addresses of operands are in a command or record, and what they are.

    A command may leave fields free, which are 0.
    """
    if npu.spec.program is None:
        for offset in npu.spec.addresses:
            if any(memory.read(address + offset, WORD_BYTES)):
                yield address + offset, f"the address at byte {offset} of its command"
        return
    number = int.from_bytes(memory.read(address, WORD_BYTES), "little")
    layout = record_layout(tuple(npu.spec.program.runs)[number], npu)
    for slot in layout.slots:
        names = [name for name in names_of(slot) if name.endswith(ADDRESS)]
        if names:
            yield address + WORD_BYTES * layout.place(slot), " and ".join(sorted(names))
