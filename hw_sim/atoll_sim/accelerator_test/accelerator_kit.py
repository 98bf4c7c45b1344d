# SPDX-License-Identifier: Apache-2.0
"""Try an accelerator: operators within its limits, broken hardware, wrong commands."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from random import Random

from atoll.api.kits import AcceleratorCheck, AcceleratorTrial, FeatureCoverage, OperatorTiming
from atoll.artifacts.samples import random_sample
from atoll.cost.engines import EngineCost, crossing_cycles, driver_cycles
from atoll.description.accelerator_files import AcceleratorDescription
from atoll.description.build import Build, BuildRequests
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import Progress, Steps, current, report_to, silent
from atoll.driver.pipeline import BuildOptions, Compiled, compile_graph
from atoll.frontend.registry import Source
from atoll.ir.busy import Bound
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.report.result import RunReport
from atoll.resolve.soc import Dma, Engine, ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.campaigns import Campaigns
from atoll_sim.accelerator_test.chip import (
    FIRST,
    SECOND,
    SETTINGS,
    Memories,
    kit_chip,
    one_at_a_time,
    private_chip,
    without_timing,
)
from atoll_sim.accelerator_test.copies import Copy, draw_copies, try_copies
from atoll_sim.accelerator_test.draw import Drawn, draw
from atoll_sim.accelerator_test.joined import join
from atoll_sim.accelerator_test.makers import MOST_BYTES
from atoll_sim.accelerator_test.setbacks import (
    may_abort,
    may_fail,
    may_reset,
    try_aborts,
    try_failures,
    try_registers,
    try_resets,
)
from atoll_sim.backends.session import AcceleratorKind, CpuKind, Written
from atoll_sim.build.model import build_model
from atoll_sim.coverage.kit import add_kit
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import ModelAccelerators
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.runs.checked_run import run_models
from atoll_sim.shadow.access_kinds import unanswerable
from atoll_sim.trace.simulation import START_SEED, USUAL, Conditions

MOVED = ("here", "there")
"""Pools between which DMA engines copy."""

TOGETHER = 8
"""Operators of one network: what they read and write lies in memory at the same time."""

OTHER_SEED = 2
"""Decides with which values registers and memories begin, unless they are reset."""

BYTES = "bytes of a tensor"
"""More than 4 KiB of them cross a page."""

NOT_COVERED = (
    f"not covered: tensors of more than {MOST_BYTES:,} bytes, accelerators of different kinds at"
    " once, and clocks other than the host's"
)

COUNTED = SETTINGS[1]
"""With these memories runs in RTL add what they reach."""

SLOW = SETTINGS[2]
"""With these, too, accesses fail: others are under way then, which an engine has to await."""

COUNTED_RUNS = (
    f"of the RTL, runs with memory {COUNTED.name} count, without firmware, DMA copies, hardware"
    " faults and wrong builds"
)

Pairs = dict[str, list[tuple[int, int]]]
"""Expected and measured cycles of an engine, by kind of operator."""

NOWHERE = Source(".drawn", b"", Path("drawn"))


@dataclass(slots=True)
class _Kit:
    """One run of the kit.

    Attributes:
        reached: folder to which the runs in RTL with `COUNTED` memories add what they reach.
    """

    described: AcceleratorDescription
    params: Mapping[str, int]
    folder: Path
    random: Random
    progress: Progress
    toolchain: str | None
    reached: Path | None = None
    checks: list[AcceleratorTrial] = field(default_factory=list)

    def chip(self, memories: Memories) -> ResolvedSoc:
        """Return the chip with such memories."""
        return kit_chip(self.described, self.params, memories, self.folder)

    def note(self, name: str, tried: int, check: Callable[[], Iterator[str]]) -> None:
        """Make a check, unless one before it has found something: this one would find it too."""
        if any(check.faults for check in self.checks):
            return
        self.progress(name)
        begin = time.perf_counter()
        with report_to(lambda what, /, *, left=None: self.progress(f"{name}: {what}", left=left)):
            faults = tuple(check())
        seconds = time.perf_counter() - begin
        self.checks.append(AcceleratorTrial(name=name, tried=tried, faults=faults, seconds=seconds))


def run_accelerator_test(
    described: AcceleratorDescription,
    params: Mapping[str, int],
    *,
    operators: int,
    faults: int,
    mutants: int,
    seed: int = 1,
    toolchain: str | None = None,
    progress: Progress = silent,
    coverage: Path | None = None,
) -> AcceleratorCheck:
    """Try an accelerator.

    Args:
        described: the accelerator.
        params: of its instances.
        operators: how many of each kind are drawn.
        faults: how many faults of the hardware.
        mutants: how many wrong builds.
        seed: decides what is drawn.
        toolchain: see `atoll.artifacts.build_tree.build`.
        progress: told what goes on.
        coverage: folder to which what is reached is added.

    Raises:
        UsageError: E092, E258; nothing can be added to that folder.
        AtollError: its chip cannot be built.
    """
    with temporary_folder() as folder:
        reached = folder / "reached" if coverage else None
        kit = _Kit(described, params, folder, Random(seed), progress, toolchain, reached)
        soc = kit.chip(SETTINGS[0])
        drawn = _draw_operators(soc, operators, kit.random)
        engine, timings = _engine(soc), list[OperatorTiming]()
        _try_all(kit, soc, drawn, faults, mutants, timings)
        kinds = [support.kind for support in engine.spec.operators]
        tried, notes = tuple(_coverage(drawn, engine)), [NOT_COVERED, *_not_tried(engine)]
        if coverage and reached:
            counts = {kind: len(found) for kind, found in drawn.items()}
            said = add_kit(coverage, engine, (FIRST, SECOND), counts, tried, reached)
            notes.append(f"{said}; {COUNTED_RUNS}")
        return AcceleratorCheck(
            accelerator=engine.spec.name,
            in_rtl=bool(engine.spec.rtl_module),
            trials=tuple(kit.checks),
            coverage=tried,
            timings=tuple(timings),
            left_out=tuple(kind for kind in kinds if not drawn.get(kind)),
            notes=tuple(notes),
        )


def measure_operators(
    described: AcceleratorDescription,
    params: Mapping[str, int],
    *,
    operators: int,
    seed: int = 1,
    progress: Progress = silent,
) -> tuple[tuple[OperatorTiming, ...], tuple[str, ...]]:
    """Time operators of an accelerator in RTL, with memories of each kind.

    Returns:
        What they took by the formula or emitter alone and in RTL, and kinds of which there is none.

    Raises:
        SimulationError: E165; there is no RTL, or something is wrong with it.
        AtollError: its chip cannot be built.
    """
    with temporary_folder() as folder:
        kit = _Kit(described, params, folder, Random(seed), progress, None)
        pairs: Pairs = {}
        socs = {memories.name: without_timing(kit.chip(memories)) for memories in SETTINGS}
        soc = socs[SETTINGS[0].name]
        name = _engine(soc).spec.name
        if not _engine(soc).spec.rtl_module:
            raise _no_timing(name, "there is no RTL", "describe it with 'rtl'")
        drawn = _draw_operators(soc, operators, kit.random)
        every = [each for found in drawn.values() for each in found]
        networks = [join(every[at : at + TOGETHER]) for at in range(0, len(every), TOGETHER)]
        for memory, each in socs.items():
            kit.note(
                f"memory {memory}", len(every), partial(_time_operators, networks, each, pairs)
            )
        if faults := [fault for check in kit.checks for fault in check.faults]:
            raise _no_timing(name, faults[0], "run 'atoll accelerator test' until it passes")
        kinds = [support.kind for support in _engine(soc).spec.operators]
        timings = tuple(_by_kind(pairs))
        timed = {each.operator.lower() for each in timings}
        return timings, tuple(kind for kind in kinds if kind not in timed)


def _no_timing(name: str, why: str, remedy: str) -> SimulationError:
    return SimulationError("E165", f"cycles of '{name}' cannot be measured: {why}", remedy=remedy)


def _try_all(
    kit: _Kit,
    soc: ResolvedSoc,
    drawn: Mapping[str, list[Drawn]],
    faults: int,
    mutants: int,
    timings: list[OperatorTiming],
) -> None:
    """Make one check after the other, up to the first that finds something wrong."""
    every = [each for found in drawn.values() for each in found]
    few = [found[0] for found in drawn.values() if found]
    networks = [join(every[at : at + TOGETHER]) for at in range(0, len(every), TOGETHER)]
    in_rtl = bool(_engine(soc).spec.rtl_module)
    if not every:
        return
    count = len(every)
    for aligned in (True, False) if isinstance(_engine(soc), Dma) else ():
        _try_copies(kit, aligned=aligned)
    kit.note("operators, by the model", count, lambda: _exact(networks, soc, None))
    for memories in SETTINGS if in_rtl else ():
        other = kit.chip(memories)
        name = f"operators, in RTL, memory {memories.name}"
        reached = kit.reached if memories is COUNTED else None
        kit.note(name, count, partial(_exact, networks, other, memories.conditions, reached))
    usual = kit.chip(COUNTED)
    if in_rtl:
        _try_setbacks(kit, usual, few)
    if private := private_chip(kit.described, kit.params, kit.folder):
        for each in (False, in_rtl)[: 1 + in_rtl]:
            name = f"operators, {'in RTL' if each else 'by the model'}, private memory"
            kit.note(name, len(few), partial(_exact, [join(few)], private, USUAL if each else None))
    if in_rtl:
        kit.note("operators, by firmware", count, lambda: _time(networks, soc, timings))
    kit.note("firmware, two instances at once", 1, lambda: _drive_both(few, usual))
    if in_rtl:
        name = f"operators, by firmware, registers begin otherwise (seed {OTHER_SEED})"
        kit.note(name, min(count, TOGETHER), lambda: _begin_otherwise(networks[0], soc))
    if not in_rtl or any(check.faults for check in kit.checks):
        return
    compiled = _compile_network(join([*few, *few]), usual)
    drawn_with = Campaigns(compiled, kit.random.getrandbits(16), kit.toolchain, kit.progress)
    kit.checks += drawn_with.hardware(faults) if faults else ()
    kit.checks += drawn_with.builds(mutants) if mutants else ()


def _try_setbacks(kit: _Kit, soc: ResolvedSoc, few: Sequence[Drawn]) -> None:
    """Have an instance fail, and be aborted, before it runs operators rightly."""
    engine, hole = _engine(soc), soc.memory("dtcm").origin
    seed = kit.random.getrandbits(16)
    compiled = _compile_network(join(few), soc)
    if may_reset(engine):
        name = "operators, in RTL, after accesses that no register allows"
        folder = kit.folder / "registers"
        check = partial(try_registers, compiled, COUNTED.conditions, folder)
        kit.note(name, len(few), partial(check, kit.reached))
        name, folder = "operators, in RTL, after resets", kit.folder / "resets"
        check = partial(try_resets, compiled, COUNTED.conditions, folder)
        kit.note(name, len(few), partial(check, Random(seed), kit.reached))
    for memories in (COUNTED, SLOW) if may_fail(engine) else ():
        name = "operators, in RTL, after failed accesses"
        name += "" if memories is COUNTED else f", memory {memories.name}"
        failing = (
            compiled if memories is COUNTED else _compile_network(join(few), kit.chip(memories))
        )
        where, reached = kit.folder / f"failures {memories.name}", kit.reached
        check = partial(try_failures, failing, memories.conditions, where, hole)
        kit.note(name, len(few), partial(check, reached if memories is COUNTED else None))
    if may_abort(engine):
        name, folder = "operators, in RTL, after aborts", kit.folder / "aborts"
        random = Random(seed)
        check = partial(try_aborts, compiled, COUNTED.conditions, folder, random, kit.reached)
        kit.note(name, len(few), check)


def _try_copies(kit: _Kit, *, aligned: bool) -> None:
    """Have an instance of a DMA engine copy alone, by its model if it has one, and in RTL."""
    where = "aligned" if aligned else "anywhere"
    seed = kit.random.getrandbits(16)
    for memories in SETTINGS:
        soc = kit.chip(memories)
        dma = soc.dmas[0]
        copies = draw_copies(soc, dma, Random(seed), aligned=aligned)
        if dma.spec.model and memories is SETTINGS[0]:
            name = f"copies {where}, by the model"
            kit.note(name, len(copies), partial(_copy_by_model, copies, soc, seed))
        if dma.spec.rtl_module:
            name = f"copies {where}, in RTL, memory {memories.name}"
            where_to = kit.folder / memories.name
            check = partial(_copy_in_rtl, copies, soc, seed, where_to, memories.conditions)
            kit.note(name, len(copies), check)


def _copy_by_model(copies: Sequence[Copy], soc: ResolvedSoc, seed: int) -> Iterator[str]:
    memory = HostMemory(soc)
    model = ModelAccelerators(soc, memory)
    yield from try_copies(copies, soc, soc.dmas[0], model, memory, Random(seed))


def _copy_in_rtl(
    copies: Sequence[Copy], soc: ResolvedSoc, seed: int, folder: Path, conditions: Conditions
) -> Iterator[str]:
    memory = HostMemory(soc)
    executable = build_model(soc, external_host=True, progress=current())
    in_rtl = RtlAccelerators(
        *(soc, memory, executable, folder), watched=True, conditions=conditions
    )
    with in_rtl:
        wrong = [*try_copies(copies, soc, soc.dmas[0], in_rtl, memory, Random(seed))]
    yield from (str(each.violation) for each in in_rtl.findings)
    yield from wrong


def _engine(soc: ResolvedSoc) -> Engine:
    engine = soc.device(FIRST)
    assert isinstance(engine, Engine)
    return engine


def _not_tried(engine: Engine) -> Iterator[str]:
    """Yield what cannot be tried of an engine in RTL, as its description leaves it open."""
    if not engine.spec.rtl_module:
        return
    if not may_reset(engine):
        yield "not tried: resets, and accesses that no register allows: its driver is not known"
    elif silent := unanswerable(engine.spec):
        yield f"not tried: {silent} that no register allows: its module answers none with an error"


def _draw_operators(soc: ResolvedSoc, count: int, random: Random) -> Mapping[str, list[Drawn]]:
    """Return operators of each kind; the first ones have features at the edges of their limits."""
    engine = _engine(soc)
    found: dict[str, list[Drawn]] = {}
    for support in engine.spec.operators:
        edges = [name for name, (_, most) in support.limits.items() if most is not None]
        wanted = [*edges, *[""] * max(0, count - len(edges))]
        made = (draw(support, engine, soc, random, edge) for edge in wanted[:count])
        found[support.kind] = [each for each in made if each is not None]
    return found


def _compile_network(
    network: Graph, soc: ResolvedSoc, device: str = FIRST, other: str = ""
) -> Compiled:
    """Compile a network with its operators on an instance, or in turn on that and another one.

    What DMA engines copy lies in turn here and there.
    """
    devices = [device, other or device]
    place = {op.name: devices[n % 2] for n, op in enumerate(network.operators)}
    pins: dict[str, str] = {}
    copies = isinstance(_engine(soc), Dma)
    for number, op in enumerate(network.operators if copies else ()):
        pools = MOVED if number % 2 else MOVED[::-1]
        pins |= dict(zip((op.inputs[0], op.outputs[0]), pools, strict=True))
    requests = BuildRequests(model=Build(place=place, pin=pins))
    return compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))


def _exact(
    networks: Sequence[Graph],
    soc: ResolvedSoc,
    conditions: Conditions | None,
    reached: Path | None = None,
) -> Iterator[str]:
    """Yield what is wrong when a native host has one instance run networks.

    Its model runs them if there are no conditions for RTL, which adds what it reaches to a folder.
    """
    kind = AcceleratorKind.RTL if conditions else AcceleratorKind.MODEL
    for network in _follow(networks):
        compiled = _compile_network(network, soc)
        samples = random_sample(compiled.graph)
        (outcome,) = run_models(
            [compiled],
            [samples],
            cpu=CpuKind.NATIVE,
            accelerator=kind,
            conditions=conditions or USUAL,
            written=Written(coverage=reached),
        )
        yield from _wrong(outcome.report, network)


def _follow(networks: Sequence[Graph]) -> Iterator[Graph]:
    """Yield networks and tell how far they are, which are about equally large."""
    steps = Steps(len(networks), current())
    for number, network in enumerate(networks):
        steps.tell(number, f"network {number + 1} of {len(networks)}")
        yield network


def _wrong(report: RunReport, network: Graph) -> Iterator[str]:
    """Yield what is wrong in a run: rules that were broken first, as they say more of the cause."""
    for violation in report.violations:
        yield str(violation)
    for mismatch in report.mismatches:
        op = next((op for op in network.operators if op.name == mismatch.operator), None)
        shown = "" if op is None else f" ({_show_features(op.name, network)})"
        yield f"{mismatch}{shown}"
    if not report.passed and not report.mismatches and not report.violations:
        yield f"device {FIRST}: {'; '.join(report.notes) or 'the run failed'} (A12)"


def _show_features(name: str, network: Graph) -> str:
    """Return the features of an operator."""
    op = next(op for op in network.operators if op.name == name)
    features = kind_of(op).features(op, network)
    return ", ".join(f"{word} {value}" for word, value in features.items())


def _drive_both(few: Sequence[Drawn], soc: ResolvedSoc) -> Iterator[str]:
    """Yield what is wrong when firmware has both instances work, at once if they can."""
    compiled = _compile_network(join([*few, *few]), soc, FIRST, SECOND)
    samples = random_sample(compiled.graph)
    cpu = CpuKind.RTL if _engine(soc).spec.rtl_module or not find_spec("unicorn") else CpuKind.ISS
    (outcome,) = run_models([compiled], [samples], cpu=cpu)
    yield from _wrong(outcome.report, compiled.graph)


def _begin_otherwise(network: Graph, soc: ResolvedSoc) -> Iterator[str]:
    """Yield what differs when registers and memories begin with other values."""
    compiled = _compile_network(network, soc)
    samples = random_sample(compiled.graph)
    ran = [
        run_models([compiled], [samples], conditions=Conditions(seed=seed))[0]
        for seed in (START_SEED, OTHER_SEED)
    ]
    yield from _wrong(ran[1].report, compiled.graph)
    yield from first_difference(*(each.report for each in ran))


def first_difference(one: RunReport, other: RunReport) -> Iterator[str]:
    """Yield what tells two runs apart that began with other values: an interrupt, or a layer."""
    begun = f"where registers begin otherwise (seed {other.start_seed})"
    because = f"{begun}: something is not reset (A13)"
    for line, second in zip(one.interrupts or (), other.interrupts or (), strict=False):
        if line.pulses != second.pulses:
            edges = ([at for pulse in each.pulses for at in pulse] for each in (line, second))
            pairs = zip_longest(*edges)
            first, then = next((a, b) for a, b in pairs if a != b)
            told = [f"at cycle {at:,}" if at is not None else "never" for at in (first, then)]
            which = f"the interrupt of device {line.source}"
            yield f"{which} changes {told[0]}, and {told[1]} {because}"
            return
    for layer, again in zip(one.by_layer, other.by_layer, strict=False):
        if layer.cycles != again.cycles:
            which = f"{layer.operator} on device {layer.device}"
            yield f"{which} takes {layer.cycles:,} cycles, and {again.cycles:,} {because}"
            return


def _time(
    networks: Sequence[Graph], soc: ResolvedSoc, timings: list[OperatorTiming]
) -> Iterator[str]:
    """Yield what is wrong when firmware has one instance run all operators; note their cycles."""
    pairs: Pairs = {}
    yield from _time_operators(networks, soc, pairs)
    timings += _by_kind(pairs)


def _time_operators(networks: Sequence[Graph], soc: ResolvedSoc, pairs: Pairs) -> Iterator[str]:
    """Yield what is wrong when firmware has one instance run all operators; add their cycles.

    The host waits for each of them, so that nothing else is under way, and what it takes to start
    an operator and to see that it is done does not count. Operators of which it should have more to
    do than the engine tell too little of that.
    """
    soc = one_at_a_time(soc)
    engine = _engine(soc)
    start, finish, least = driver_cycles(soc)
    driving = start + finish + crossing_cycles(engine, soc)
    for network in _follow(networks):
        compiled = _compile_network(network, soc)
        samples = random_sample(compiled.graph)
        (outcome,) = run_models([compiled], [samples], cpu=CpuKind.RTL)
        yield from _wrong(outcome.report, compiled.graph)
        operators = {op.name: op for op in compiled.graph.operators}
        for layer in outcome.report.by_layer:
            if layer.device != FIRST or layer.estimate <= max(least, 2 * driving):
                continue
            spent = EngineCost(engine, soc).predict(operators[layer.operator], compiled.graph)
            if spent.bound is not Bound.DRIVER:
                found = pairs.setdefault(layer.kind.upper(), [])
                found.append((layer.estimate - driving, layer.cycles - driving))


def _by_kind(pairs: Pairs) -> Iterator[OperatorTiming]:
    for kind, found in sorted(pairs.items()):
        if kept := tuple(each for each in found if min(each) > 0):
            yield OperatorTiming(operator=kind, pairs=kept)


def _coverage(drawn: Mapping[str, list[Drawn]], engine: Engine) -> Iterator[FeatureCoverage]:
    for support in engine.spec.operators:
        found = drawn.get(support.kind, ())
        for feature, limits in support.limits.items() if found else ():
            values = [each.features[feature] for each in found]
            yield FeatureCoverage(
                operator=support.kind.upper(),
                feature=feature,
                least=min(values),
                most=max(values),
                limits=limits,
            )
        if sizes := [tensor.size for each in found for tensor in each.graph.tensors]:
            yield FeatureCoverage(
                operator=support.kind.upper(),
                feature=BYTES,
                least=min(sizes),
                most=max(sizes),
                limits=(None, None),
            )
