# SPDX-License-Identifier: Apache-2.0
"""What kernels take by the instructions that they run, and what these take on a core."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from operator import mul
from pathlib import Path
from typing import get_args

from atoll.cost.data.assumed import CODE_BYTES, DRIVER_BYTES, FETCHES
from atoll.cost.data.picorv32 import MEASURED_CORE, MEASURED_ISA
from atoll.cost.executed import (
    ALIKE,
    ANY_SHIFTS,
    BITS,
    COPIED_BYTES,
    SPILLED,
    Executed,
    Nest,
    UncountableError,
    count_executed,
)
from atoll.cost.kernel_runs import runs_of
from atoll.description.core import EXTRAS, CycleClass
from atoll.description.core_files import find_core, load_core
from atoll.ir.graph import Graph, Operator
from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import Arithmetic, Family
from atoll.ops.loops.fixed_point_loops import LIBRARY
from atoll.ops.loops.parallel_loops import ParallelLoop, part_of
from atoll.ops.registry import kind_of
from atoll.resolve.core_instances import spec_of
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.resolve.specs import CoreSpec, InstructionCache, Timing
from atoll.utils.remember import remember

CLASSES: tuple[str, ...] = get_args(CycleClass)
INSTRUCTIONS = tuple(float(name not in EXTRAS) for name in CLASSES)
"""How many instructions each of them is."""

Counts = tuple[float, ...]
"""Instructions of each class, in the order of `CLASSES`."""

EACH, DRIVER = "each", "driver"
"""In files of counts: what each kernel has once, and what drivers, steps and start-up code have for
each cycle that they take on the core that was measured."""

FLOATS = "+fp"
"""Instruction sets that differ from here on run the same kernels, which are of whole numbers."""

SAME = {
    "armv8-m.main+dsp": "armv7e-m",
    "rv32imac": "rv32imc",
    "rv32imafc": "rv32imc",
    "rv64gc": "rv64imac",
}
"""Instruction sets whose kernels are compiled to the same instructions as those of another."""

UNTOLD = (SPILLED, *(f"{what}_{how}" for what in ("alu", "wide_alu") for how in (BITS, ANY_SHIFTS)))
"""What sets lack that were counted without bits of shifts."""

CROSSED_CYCLES = 3.5
"""Of each of two clocks, that a request and its answer take to cross both (`atoll_bus_crossing`).

Each leaves a register of its own side, and passes two of the other one, whose clock it meets half a
cycle late in the mean.
"""

WORD, WORDS = 4, 0.84
"""Bytes that a core without an instruction cache fetches at once; how often it does so for an
instruction of kernels where some have two bytes (RV32IMC, `benchmarks.calibrate`'s networks)."""

COMPUTES = ("multiply", "divide")
"""Classes of instructions that take longer without memory."""

KERNELS_AT_HAND = 4096
"""What kernels execute, that a process keeps."""


def knows_kernels(core: Cpu) -> bool:
    """Tell whether the instructions of kernels were counted for a core's instruction set."""
    return knows_kernels_of(core.instructions.name)


def knows_kernels_of(isa: str) -> bool:
    """Tell whether the instructions of kernels were counted for an instruction set."""
    return bool(read_counts(_like(isa)))


def is_counted(core: Cpu) -> bool:
    """Tell whether it is known what instructions take on a core, and which of them kernels run."""
    timing, counts = core.spec.timing, _counts_of(core)
    if timing is None or not counts:
        return False
    return len(counts[EACH]) == len(CLASSES) or not timing.cycles.get("shifted")


def core_to_count(op: Operator, graph: Graph, core: Cpu) -> Cpu | None:
    """Return the core by whose instructions a kernel is counted, None if it can't be.

    That is the core itself, or the one that was measured in its place.
    """
    if runs_of(op, graph, core):
        return core
    if is_counted(core) and _kernel_counts(op, graph, core):
        return core
    measured = _stand_in_for(core)
    return measured if _kernel_counts(op, graph, measured) else None


def timed_core(core: Cpu) -> Cpu:
    """Return a core of which it is known what instructions take: itself, or the measured one."""
    return core if is_counted(core) else _stand_in_for(core)


def _stand_in_for(core: Cpu) -> Cpu:
    instructions = instruction_set(MEASURED_ISA)
    return replace(core, spec=_measured_spec(), instructions=instructions, unit=None)


@cache
def _measured_spec() -> CoreSpec:
    return spec_of(load_core(find_core(MEASURED_CORE, "", Path(), None), None))


def counted_cycles(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> int | None:
    """Predict the cycles of a core that a kernel takes, None if they can't be counted."""
    timing = core.spec.timing
    if timing is None:
        return None
    if runs := run_cycles(op, graph, core, soc):
        return max(runs)
    cycles = _weigh(op, graph, core, _assumed_cycles(core, timing, soc))
    if cycles is None or timing.cache is None or timing.cache.size == WORD:
        return cycles
    fetched = _fetch_bytes(op, graph, core, timing.cache)
    return cycles + int(fetched * _byte_cycles(timing.cache, core, soc))


def run_cycles(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> tuple[int, ...]:
    """Return the cycles of what each core ran that made a part of a kernel, () if none did."""
    timing, runs = core.spec.timing, runs_of(op, graph, core)
    if timing is None or not runs:
        return ()
    takes, cache = cycles_by_class(core, timing, soc), timing.cache
    line = cache.line * _byte_cycles(cache, core, soc) if cache else 0.0
    return tuple(int(_dot(each.classes, takes) + each.lines * line) for each in runs)


def cached_fetches(op: Operator, graph: Graph, core: Cpu) -> int | None:
    """Predict the bytes of instructions that an instruction cache takes from memory for a kernel.

    Of several cores it is what each takes. None without such a cache, or if they can't be counted.
    """
    cache = core.spec.timing.cache if core.spec.timing else None
    if cache is None:
        return None
    if runs := runs_of(op, graph, core):
        return max(each.lines for each in runs) * cache.line
    if not (is_counted(core) and _kernel_counts(op, graph, core)):
        return None
    fetched = int(_fetch_bytes(op, graph, core, cache))
    return fetched // len(op.devices) if cache.size == WORD else fetched


def _fetch_bytes(op: Operator, graph: Graph, core: Cpu, cache: InstructionCache) -> float:
    if cache.size == WORD:
        return WORD * _words_of(core) * (_weigh(op, graph, core, INSTRUCTIONS) or 0)
    nest, code = _count_kernel(op, graph, core.arithmetic).nest, _code_of(core)
    return code[EACH] + fetched_bytes(nest, cache.size, code)


def data_waits(op: Operator, graph: Graph, core: Cpu) -> Mapping[str, float] | None:
    """Predict what a kernel waits for each tensor for each further cycle of its memory's latency.

    Of "" is what it waits for memory of its own. None if that can't be counted.
    """
    timing, accesses = core.spec.timing, counted_accesses(op, graph, core)
    if timing is None or accesses is None:
        return None
    found: defaultdict[str, float] = defaultdict(float)
    for (name, tensor), number in accesses.items():
        found[tensor] += timing.data_waits.get(name, 0.0) * number
    return found


def counted_accesses(
    op: Operator, graph: Graph, core: Cpu
) -> Mapping[tuple[str, str], float] | None:
    """Predict a kernel's instructions that access tensors, by ``load`` or ``store`` and tensor.

    None if they can't be counted. Of a kernel in parts they are those of a part, in the mean.
    """
    if runs := runs_of(op, graph, core):
        return {
            each: sum(run.accesses.get(each, 0) for run in runs) / len(runs)
            for each in dict.fromkeys(each for run in runs for each in run.accesses)
        }
    if not _kernel_counts(op, graph, core):
        return None
    counts, kernel = _counts_of(core), _count_kernel(op, graph, core.arithmetic)
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for touched, name in ((kernel.reads, "load"), (kernel.writes, "store")):
        place = CLASSES.index(name)
        for (tensor, what), number in touched.items():
            found[name, tensor] += number * counts[what][place]
    return found


def counted_instructions(op: Operator, graph: Graph, core: Cpu) -> int | None:
    """Predict how many instructions of a core a kernel runs, None if they can't be counted."""
    if runs := runs_of(op, graph, core):
        return sum(each.instructions for each in runs)
    return _weigh(op, graph, core, INSTRUCTIONS)


def _share_key(op: Operator, graph: Graph, core: Cpu, loop: ParallelLoop) -> Hashable:
    return _kernel(op, graph, core.arithmetic), core.instructions.name, loop


@remember(_share_key, most=KERNELS_AT_HAND)
def repeated_share(op: Operator, graph: Graph, core: Cpu, loop: ParallelLoop) -> float:
    """Return the share of a kernel's instructions that every part of it runs, if a loop is shared.

    That is 0 if they can't be counted.
    """
    whole, left_out = _kernel_counts(op, graph, core), loop.iterations // 2
    if not whole:
        return 0.0
    lowered = kind_of(op).lower_for(op, graph, core.arithmetic)
    half = count_executed(
        part_of(lowered.function, loop, 1, 2), (*LIBRARY, *lowered.library)
    ).things
    if not half.keys() <= _counts_of(core).keys():
        return 0.0
    number, less = (_sum(each, core, INSTRUCTIONS) for each in (whole, half))
    return max(0.0, 1 - (number - less) / number * loop.iterations / left_out)


def driver_times(core: Cpu, soc: ResolvedSoc) -> float | None:
    """Return how many times the cycles of the measured core drivers take, None if as many."""
    timing = core.spec.timing
    if timing is None or core.spec.name == MEASURED_CORE or not is_counted(core):
        return None
    times = _dot(_counts_of(core)[DRIVER], _assumed_cycles(core, timing, soc))
    if timing.cache is None or timing.cache.size == WORD:
        return times
    return times + DRIVER_BYTES * _byte_cycles(timing.cache, core, soc)


def fetched_bytes(nest: Nest, size: int, code: Mapping[str, float], around: float = 0.0) -> float:
    """Return how many bytes of instructions a kernel fetches into a cache of a size.

    What fits is fetched once. A loop that does not fit overwrites some of its code in each round:
    what lies as far beyond the cache's end, and as much at its begin.

    Args:
        nest: a kernel's code, or a loop of it.
        size: of the cache.
        code: bytes of what kernels are made of.
        around: which share of the code around is overwritten in each of its rounds.
    """
    whole = _bytes(nest, code)
    again = min(1.0, max(0.0, 2 * (1 - size / whole))) if whole else 0.0
    if not again:
        return whole * (1 + max(0.0, nest.entered - 1) * around)
    own = whole - sum(_bytes(each, code) for each in nest.inner)
    inner = sum(fetched_bytes(each, size, code, again) for each in nest.inner)
    return own * (1 + max(0.0, nest.rounds - 1) * again) + inner


def _bytes(nest: Nest, code: Mapping[str, float]) -> float:
    own = sum(count * code.get(name, 0.0) for name, count in nest.code.items())
    return own + sum(_bytes(each, code) for each in nest.inner)


def _byte_cycles(cache: InstructionCache, core: Cpu, soc: ResolvedSoc) -> float:
    cycles = cache.cycles
    if cycles is None:
        beats = -(-cache.line // soc.memory(core.code.memory).width)
        cycles = (beats - 1) * core.clock / soc.host_cpu.clock
    return (cycles + cache.waits * further_latency(core, soc)) / cache.line


def cycles_by_class(core: Cpu, timing: Timing, soc: ResolvedSoc) -> Counts:
    """Return what instructions take with the latency of their memory.

    A core that fetches words fetches the next one while it computes, which hides some of a wait.
    """
    further, waits, cycles = further_latency(core, soc), timing.waits, dict(timing.cycles)
    if timing.cache and timing.cache.size == WORD:
        for name in COMPUTES:
            hidden = min(timing.cache.waits * further, cycles[name] - cycles["other"])
            cycles[name] -= _words_of(core) * max(0.0, hidden)
    if not waits and timing.cache is None:
        waits = {name: FETCHES for name in CLASSES if name not in EXTRAS}
    return tuple(cycles[name] + waits.get(name, 0.0) * further for name in CLASSES)


def _assumed_cycles(core: Cpu, timing: Timing, soc: ResolvedSoc) -> Counts:
    """Return likewise what instructions take of which nobody counted the words that come."""
    takes, cache = cycles_by_class(core, timing, soc), timing.cache
    if cache is None or cache.size != WORD:
        return takes
    words = WORD * _words_of(core) * _byte_cycles(cache, core, soc)
    return tuple(cycles + words * one for cycles, one in zip(takes, INSTRUCTIONS, strict=True))


def _words_of(core: Cpu) -> float:
    """Return the words that a core without a cache fetches for an instruction."""
    features = core.instructions.llvm.features.split(",")
    return 1.0 if core.instructions.family is Family.RISCV and "+c" not in features else WORDS


def class_cycles(core: Cpu, soc: ResolvedSoc, counts: Mapping[str, int]) -> float:
    """Return what instructions take on a core with `timing`, by their class how many they are."""
    assert core.spec.timing
    takes = dict(zip(CLASSES, cycles_by_class(core, core.spec.timing, soc), strict=True))
    return sum(number * takes[name] for name, number in counts.items())


def less_beside_code(core: Cpu, soc: ResolvedSoc) -> float:
    """Return what a load takes less whose data is in the memory that holds instructions."""
    timing = core.spec.timing
    if timing is None or timing.beside_code is None:
        return 0.0
    further, less = further_latency(core, soc), timing.beside_code
    load = timing.cycles["load"] + further * timing.data_waits.get("load", 0.0)
    load += further * timing.waits.get("load", 0.0)
    return min(load, less.cycles + less.waits * further)


def less_across(core: Cpu, soc: ResolvedSoc) -> Mapping[str, float]:
    """Return what a load and a store of other memory take less on a core with a clock of its own.

    They cross right behind the fetches, whose answers are awaited on the other side: only what the
    memories themselves take counts one after the other.
    """
    timing, crossing = core.spec.timing, crossing_cycles(core, soc)
    if timing is None or timing.beside_code is None or not crossing:
        return {}
    waits = (
        (name, timing.waits.get(name, 0.0) + timing.data_waits.get(name, 0.0))
        for name in ("load", "store")
    )
    return {name: crossing * min(timing.beside_code.waits, each) for name, each in waits}


def further_latency(core: Cpu, soc: ResolvedSoc) -> float:
    """Return the latency of the memory of instructions beyond that of the fastest memories."""
    return latency_in_core_cycles(core, core.code.memory, soc) - 1


def latency_in_core_cycles(core: Cpu, memory: str, soc: ResolvedSoc) -> float:
    """Return after how many of a core's own cycles a memory answers it."""
    latency = soc.memory(memory).read_latency
    return latency * core.clock / soc.host_cpu.clock + crossing_cycles(core, soc)


def crossing_cycles(core: Cpu, soc: ResolvedSoc) -> float:
    """Return the core's own cycles in which a request and its answer cross to the host's clock."""
    if core.clock == soc.host_cpu.clock:
        return 0.0
    return CROSSED_CYCLES * (1 + core.clock / soc.host_cpu.clock)


def _weigh(op: Operator, graph: Graph, core: Cpu, weights: Counts) -> int | None:
    found = _kernel_counts(op, graph, core) if is_counted(core) else {}
    return int(_sum({**found, EACH: 1}, core, weights)) if found else None


def _sum(things: Mapping[str, float], core: Cpu, weights: Counts) -> float:
    """Return the weighted instructions of what is executed."""
    counts = _counts_of(core)
    return sum(number * _dot(counts[name], weights) for name, number in things.items())


def _dot(counts: Iterable[float], weights: Counts) -> float:
    return sum(map(mul, counts, weights), 0.0)


def _kernel_counts(op: Operator, graph: Graph, core: Cpu) -> Mapping[str, float]:
    """Return what a kernel executes, {} if nobody knows what some of that comes to."""
    found = _count_kernel(op, graph, core.arithmetic).things
    return found if found.keys() <= _counts_of(core).keys() else {}


def _kernel(op: Operator, graph: Graph, arithmetic: Arithmetic) -> Hashable:
    return graph.key_of(op), arithmetic


@remember(_kernel, most=KERNELS_AT_HAND)
def _count_kernel(op: Operator, graph: Graph, arithmetic: Arithmetic) -> Executed:
    """Return what a kernel executes, with tensors in place of buffers; nothing if nobody can tell.

    What is no tensor is "".
    """
    lowered = kind_of(op).lower_for(op, graph, arithmetic)
    try:
        found = count_executed(lowered.function, (*LIBRARY, *lowered.library))
    except (UncountableError, RecursionError):
        return Executed({}, {}, {}, Nest())
    names = (each.name for each in lowered.function.buffers)
    tensors = dict(zip(names, lowered.arguments, strict=True))
    reads, writes = (_by_tensor(each, tensors) for each in (found.reads, found.writes))
    return Executed(found.things, reads, writes, found.nest)


def _by_tensor(
    touched: Mapping[tuple[str, str], float], tensors: Mapping[str, str]
) -> Mapping[tuple[str, str], float]:
    found: defaultdict[tuple[str, str], float] = defaultdict(float)
    for (buffer, what), count in touched.items():
        found[tensors.get(buffer, ""), what] += count
    return dict(found)


def _counts_of(core: Cpu) -> Mapping[str, Counts]:
    return read_counts(_isa_of(core))


def _code_of(core: Cpu) -> Mapping[str, float]:
    return _code_bytes(_isa_of(core))


def _isa_of(core: Cpu) -> str:
    return _like(core.instructions.name)


def _like(isa: str) -> str:
    """Return the instruction set that was counted in place of one."""
    name = isa.split(FLOATS)[0]
    return SAME.get(name, name)


@cache
def _code_bytes(isa: str) -> Mapping[str, float]:
    """Return bytes of code for each thing that kernels are made of."""
    found = read_counts(isa).items()
    return {name: CODE_BYTES * _dot(each, INSTRUCTIONS) for name, each in found}


@cache
def read_counts(isa: str) -> Mapping[str, Counts]:
    """Return what `python -m benchmarks.calibrate` counted for an instruction set, {} if nothing.

    By `EACH`, `DRIVER` and what kernels execute: how many instructions of each class that comes to.
    Some sets were counted before bits of shifts, copies by words and what is loaded again were.
    """
    file = files("atoll.cost.data") / "counts" / f"{isa}.json"
    if not file.is_file():
        return {}
    read = json.loads(file.read_text(encoding="utf-8"))
    counts = {name: tuple(map(float, each)) for name, each in read.items()}
    if len(counts[EACH]) == len(CLASSES):
        return counts
    untold = {f"{ALIKE}{name}": counts[name] for name in COPIED_BYTES if name in counts}
    return dict.fromkeys(UNTOLD, (0.0,) * len(CLASSES)) | untold | counts
