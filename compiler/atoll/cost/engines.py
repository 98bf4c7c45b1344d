# SPDX-License-Identifier: Apache-2.0
"""What operators take on engines: their own cycles, and those of the host that drives them."""

from collections.abc import Hashable
from dataclasses import replace
from functools import cached_property
from typing import cast

from atoll.cost.core_costs import drive_cycles
from atoll.cost.data.picorv32 import (
    ACCESS_CYCLES,
    BYTE_CYCLES,
    CROSSING_CYCLES,
    CROSSING_ENGINE_CYCLES,
    FINISH_CYCLES,
    FURTHER_CYCLES,
    GOES_ON_CYCLES,
    LEAST_CYCLES,
    LINK_BYTES,
    MOVE_CYCLES,
    START_CYCLES,
    TURN_CYCLES,
    WORD_CYCLES,
)
from atoll.cost.spent import BOTH_ENDS, HostEnds, Spent, of_host
from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator
from atoll.ops.formulas import formulas, values_of
from atoll.plugins.loading import Part, is_own
from atoll.program.effort import effort_of
from atoll.records import dataclass
from atoll.resolve.engine_parts import emitter_of, whole
from atoll.resolve.soc import Engine, ResolvedSoc, once_per_chip, once_per_device, once_per_engine
from atoll.utils.remember import Alike, remember

FACTS_AT_HAND, ANSWERS_AT_HAND = 256, 8192
"""What estimates on engines rest on, and what emitters said of operators, that a process keeps."""


@dataclass(frozen=True)
class EngineCost:
    """What operators take on an engine that the host starts: a `DeviceCost`."""

    engine: Engine
    soc: ResolvedSoc

    def cycles(self, op: Operator, graph: Graph, commands: int = 0) -> int:
        """Predict as a `DeviceCost`."""
        busy = busy_cycles(op, graph, self.engine, self.soc, commands)
        return self._with_host(busy, self._drive_cycles(op, graph))

    def _with_host(self, busy: int, driving: int) -> int:
        start, finish, least = self._driver
        return max(least, start + max(busy, driving) + finish) + self._crossing

    @cached_property
    def _driver(self) -> tuple[int, int, int]:
        return driver_cycles(self.soc)

    @cached_property
    def _crossing(self) -> int:
        return crossing_cycles(self.engine, self.soc)

    def predict(
        self, op: Operator, graph: Graph, commands: int = 0, ends: HostEnds = BOTH_ENDS
    ) -> Spent:
        """Predict as a `DeviceCost`."""
        driving = self._drive_cycles(op, graph)
        busy = busy_at_hand(op, graph, self.engine, commands)
        working = of_host(busy.cycles, self.engine, self.soc)
        if ends == BOTH_ENDS:
            cycles = self._with_host(working, driving)
        else:
            (started, heard), (start, finish, _) = ends, self._driver
            cycles = working + (start + self._crossing if started else 0)
            cycles += finish if heard else goes_on_cycles(self.engine, self.soc)
        if cycles >= 2 * max(working, driving):
            bound = Bound.START
        else:
            bound = Bound.DRIVER if driving > working else busy.bound
        return Spent(cycles=cycles, bound=bound, busy=busy)

    def _drive_cycles(self, op: Operator, graph: Graph) -> int:
        """Return the cycles of the host for the steps of a program, 0 if there is none."""
        if self.engine.spec.program is None:
            return 0
        with formulas(op, self.engine):
            values = values_of(op, graph, self.engine, lambda name: 0)
            effort = effort_of(self.engine.spec.program.runs[op.kind], values)
        counts = (effort.accesses, effort.moves, effort.words, effort.bytes, effort.turns)
        each = (ACCESS_CYCLES, MOVE_CYCLES, WORD_CYCLES, BYTE_CYCLES, TURN_CYCLES)
        cycles = sum(count * cost for count, cost in zip(counts, each, strict=True))
        return drive_cycles(cycles, self.soc.host_cpu, self.soc)


@once_per_chip
def driver_cycles(soc: ResolvedSoc) -> tuple[int, int, int]:
    """Return what the host takes to start an engine, to know that it is done, and at least."""
    further = FURTHER_CYCLES * max(0, len(soc.engines) + len(soc.remote_cpus) - 1)
    half, host = further // 2, soc.host_cpu
    start, finish = (drive_cycles(each + half, host, soc) for each in (START_CYCLES, FINISH_CYCLES))
    return start, finish, drive_cycles(LEAST_CYCLES + further, host, soc)


@once_per_device
def goes_on_cycles(engine: Engine, soc: ResolvedSoc) -> int:
    """Return what an engine takes for the command that goes on with another list."""
    width = min(engine.params.get("data_bytes", LINK_BYTES), engine.constants_width or LINK_BYTES)
    fetching = engine.constants_latency + -(-LINK_BYTES // width)
    return of_host(GOES_ON_CYCLES + fetching, engine, soc)


def crossing_cycles(engine: Engine, soc: ResolvedSoc) -> int:
    """Return the cycles of the host for crossings between its clock and that of an engine."""
    if engine.clock == soc.host_cpu.clock:
        return 0
    return CROSSING_CYCLES + of_host(CROSSING_ENGINE_CYCLES, engine, soc)


def busy_cycles(
    op: Operator, graph: Graph, engine: Engine, soc: ResolvedSoc, commands: int = 0
) -> int:
    """Predict how long an engine itself is busy with `op`, in cycles of the host."""
    return of_host(cycles_at_hand(op, graph, engine, commands), engine, soc)


@once_per_engine
def _facts_of(engine: Engine) -> Alike | None:
    """Return what Atoll's own emitters estimate by, None of an engine with another one.

    Theirs depend on the engine, an operator and its operands; others' on whatever they look at.
    """
    if not is_own(engine.spec.emitter):
        return None
    reads = engine.constants_width, engine.constants_wait
    pools = engine.bus_cycles, engine.workspace_width, engine.pool_memories
    speeds = engine.constants_latency, engine.bus_cycles.as_integer_ratio()
    sign = engine.name, *engine.params.items(), *speeds
    return _first_equal(Alike(sign, engine.spec, reads, pools))


@remember(lambda facts: facts, most=FACTS_AT_HAND)
def _first_equal(facts: Alike) -> Alike:
    """Return the first of equal facts, which compares with itself at once."""
    return facts


def _question(op: Operator, graph: Graph, engine: Engine, commands: int) -> Hashable:
    facts = _facts_of(engine)
    return None if facts is None else (graph.key_of(op), facts, commands)


@remember(_question, most=ANSWERS_AT_HAND)
def busy_at_hand(op: Operator, graph: Graph, engine: Engine, commands: int) -> Busy:
    """Return as `engine_busy`."""
    return engine_busy(op, graph, engine, commands)


def cycles_at_hand(op: Operator, graph: Graph, engine: Engine, commands: int) -> int:
    """Return as `engine_cycles`."""
    if not is_own(engine.spec.emitter):
        return engine_cycles(op, graph, engine, commands)
    return busy_at_hand(op, graph, engine, commands).cycles


def engine_cycles(op: Operator, graph: Graph, engine: Engine, commands: int) -> int:
    """Return what `engine` takes for `op`, in its cycles: as its emitter says, held to its timing.

    Raises:
        AtollError: E041, E110 to E112; it cannot say.
    """
    emitter, about = emitter_of(engine), f"operator '{op.name}' ({op.kind.upper()})"
    found = emitter.call("estimate_cycles", op, graph, engine, commands, about=about)
    if whole(found) < 0:
        raise emitter.wrong("estimate_cycles", f"{found!r:.80}, no number of cycles", about)
    tuning = engine.timing.get(op.kind)
    return tuning.cycles(whole(found)) if tuning else whole(found)


@once_per_engine
def _own_emitter(engine: Engine) -> Part | None:
    """Return an emitter of Atoll's own that says what keeps its engine busy, None of others."""
    emitter = emitter_of(engine) if is_own(engine.spec.emitter) else None
    return emitter if emitter and callable(getattr(emitter.value, "busy", None)) else None


def engine_busy(op: Operator, graph: Graph, engine: Engine, commands: int) -> Busy:
    """Return what `engine` does in these cycles; it computes where its emitter has no `busy`.

    Raises:
        AtollError: as `engine_cycles`.
    """
    about = f"operator '{op.name}' ({op.kind.upper()})"
    if (own := _own_emitter(engine)) and op.kind not in engine.timing:
        return cast("Busy", own.call("busy", op, graph, engine, commands, about=about))
    emitter = emitter_of(engine)
    told = callable(getattr(emitter.value, "busy", None))
    cycles = engine_cycles(op, graph, engine, commands)
    if not told:
        return Busy(cycles=cycles, parts={Bound.COMPUTE: cycles})
    busy = emitter.call("busy", op, graph, engine, commands, about=about)
    if not isinstance(busy, Busy):
        raise emitter.wrong("busy", f"{busy!r:.80}, no Busy", about)
    return replace(busy, cycles=cycles)
