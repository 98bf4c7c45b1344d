"""Try an accelerator: operators within its limits, broken hardware, wrong commands."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from random import Random

from atoll.description.accelerators import AcceleratorDescription
from atoll.description.build import Build, BuildRequests
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph
from atoll.ops.registry import kind_of
from atoll.pipeline import BuildOptions, Compiled, compile_graph
from atoll.progress import Progress, silent
from atoll.report.result import RunReport
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.samples import random_sample
from atoll.scratch import temporary_folder
from atoll_sim.accelerator_test.chip import FIRST, SECOND, SETTINGS, Memories, kit_chip
from atoll_sim.accelerator_test.draw import Drawn, draw
from atoll_sim.accelerator_test.joined import joined
from atoll_sim.faults.campaign import run_campaign
from atoll_sim.faults.report import passed
from atoll_sim.run import run_models
from atoll_sim.session import AcceleratorKind, CpuKind

TOGETHER = 8
"""Operators of one network: what they read and write lies in memory at the same time."""

NOWHERE = Source(".drawn", b"", Path("drawn"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was tried in one way.

    Attributes:
        name: in what way.
        tried: how often.
        faults: what was wrong.
        seconds: that it took.
    """

    name: str
    tried: int
    faults: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The values of one feature that operators had, and its limits; None where it has none."""

    operator: str
    feature: str
    least: int
    most: int
    limits: tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Cycles of an operator in a run of firmware, and what the formula of its cost says."""

    operator: str
    measured: int
    estimated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All of it.

    Attributes:
        accelerator: its name.
        in_rtl: there is RTL, which was tried.
        left_out: operators that the kit draws none of.
    """

    accelerator: str
    in_rtl: bool
    checks: tuple[Check, ...]
    coverage: tuple[Coverage, ...]
    timings: tuple[Timing, ...]
    left_out: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing was wrong, and something was tried."""
        return not any(check.faults for check in self.checks) and any(
            check.tried for check in self.checks
        )


@dataclass(slots=True)
class _Kit:
    """One run of the kit."""

    described: AcceleratorDescription
    params: Mapping[str, int]
    folder: Path
    random: Random
    progress: Progress
    toolchain: str | None
    checks: list[Check] = field(default_factory=list)

    def chip(self, memories: Memories) -> ResolvedSoc:
        """Return the chip with such memories."""
        return kit_chip(self.described, self.params, memories, self.folder)

    def note(self, name: str, tried: int, check: Callable[[], Iterator[str]]) -> None:
        """Make a check, unless one before it has found something: this one would find it too."""
        if any(check.faults for check in self.checks):
            return
        self.progress(name)
        begin = time.perf_counter()
        faults = tuple(check())
        seconds = time.perf_counter() - begin
        self.checks.append(Check(name=name, tried=tried, faults=faults, seconds=seconds))


def run_accelerator_test(
    described: AcceleratorDescription,
    params: Mapping[str, int],
    *,
    operators: int,
    faults: int,
    seed: int = 1,
    toolchain: str | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Try an accelerator.

    Args:
        described: the accelerator.
        params: of its instances.
        operators: how many of each kind are drawn.
        faults: how many faults of the hardware.
        seed: decides what is drawn.
        toolchain: see `atoll.build_tree.build`.
        progress: told what goes on.

    Raises:
        AtollError: its chip cannot be built.
    """
    with temporary_folder() as folder:
        kit = _Kit(described, params, folder, Random(seed), progress, toolchain)
        soc = kit.chip(SETTINGS[0])
        drawn = _drawn(soc, operators, kit.random)
        engine, timings = _engine(soc), list[Timing]()
        _try_all(kit, soc, drawn, faults, timings)
        kinds = [support.kind for support in engine.spec.operators]
        return Outcome(
            accelerator=engine.spec.name,
            in_rtl=bool(engine.spec.rtl_module),
            checks=tuple(kit.checks),
            coverage=tuple(_coverage(drawn, engine)),
            timings=tuple(timings),
            left_out=tuple(kind for kind in kinds if not drawn.get(kind)),
        )


def _try_all(
    kit: _Kit,
    soc: ResolvedSoc,
    drawn: Mapping[str, list[Drawn]],
    faults: int,
    timings: list[Timing],
) -> None:
    """Make one check after the other, up to the first that finds something wrong."""
    every = [each for found in drawn.values() for each in found]
    few = [found[0] for found in drawn.values() if found]
    networks = [joined(every[at : at + TOGETHER]) for at in range(0, len(every), TOGETHER)]
    in_rtl = bool(_engine(soc).spec.rtl_module)
    if not every:
        return
    count = len(every)
    kit.note("operators, by the model", count, lambda: _exact(networks, soc, in_rtl=False))
    for memories in SETTINGS if in_rtl else ():
        other = kit.chip(memories)
        name = f"operators, in RTL, memory {memories.name}"
        kit.note(name, count, partial(_exact, networks, other, in_rtl=True))
    usual = kit.chip(SETTINGS[1])
    kit.note("firmware, two instances at once", 1, lambda: _driven(few, usual, timings))
    if in_rtl and faults:
        kit.note("hardware faults", faults, lambda: _broken(few, usual, faults, kit))


def _engine(soc: ResolvedSoc) -> Engine:
    engine = soc.device(FIRST)
    assert isinstance(engine, Engine)
    return engine


def _drawn(soc: ResolvedSoc, count: int, random: Random) -> Mapping[str, list[Drawn]]:
    """Return operators of each kind; the first ones have features at the edges of their limits."""
    engine = _engine(soc)
    found: dict[str, list[Drawn]] = {}
    for support in engine.spec.operators:
        edges = [name for name, (_, most) in support.limits.items() if most is not None]
        wanted = [*edges, *[""] * max(0, count - len(edges))]
        made = (draw(support, engine, soc, random, edge) for edge in wanted[:count])
        found[support.kind] = [each for each in made if each is not None]
    return found


def _compiled(network: Graph, soc: ResolvedSoc, device: str = FIRST, other: str = "") -> Compiled:
    """Compile a network with its operators on an instance, or in turn on that and another one."""
    devices = [device, other or device]
    place = {op.name: devices[n % 2] for n, op in enumerate(network.operators)}
    requests = BuildRequests(model=Build(place=place))
    return compile_graph(soc, network, NOWHERE, BuildOptions(requests=requests))


def _exact(networks: Sequence[Graph], soc: ResolvedSoc, *, in_rtl: bool) -> Iterator[str]:
    """Yield what is wrong when a native host has one instance run networks."""
    kind = AcceleratorKind.RTL if in_rtl else AcceleratorKind.MODEL
    for network in networks:
        compiled = _compiled(network, soc)
        samples = random_sample(compiled.graph)
        (outcome,) = run_models([compiled], [samples], cpu=CpuKind.NATIVE, accelerator=kind)
        yield from _wrong(outcome.report, network)


def _wrong(report: RunReport, network: Graph) -> Iterator[str]:
    for mismatch in report.mismatches:
        op = next((op for op in network.operators if op.name == mismatch.operator), None)
        shown = "" if op is None else f" ({_shown(op.name, network)})"
        yield f"{mismatch}{shown}"
    for violation in report.violations:
        yield str(violation)
    if not report.passed and not report.mismatches and not report.violations:
        yield "; ".join(report.notes) or "the run failed"


def _shown(name: str, network: Graph) -> str:
    """Return the features of an operator."""
    op = next(op for op in network.operators if op.name == name)
    features = kind_of(op).features(op, network)
    return ", ".join(f"{word} {value}" for word, value in features.items())


def _driven(few: Sequence[Drawn], soc: ResolvedSoc, timings: list[Timing]) -> Iterator[str]:
    """Yield what is wrong when firmware has both instances work, at once if they can."""
    compiled = _compiled(joined([*few, *few]), soc, FIRST, SECOND)
    samples = random_sample(compiled.graph)
    cpu = CpuKind.RTL if _engine(soc).spec.rtl_module or not find_spec("unicorn") else CpuKind.ISS
    (outcome,) = run_models([compiled], [samples], cpu=cpu)
    yield from _wrong(outcome.report, compiled.graph)
    timings += (
        Timing(operator=layer.operator, measured=layer.worked, estimated=layer.estimate)
        for layer in outcome.report.by_layer
        if layer.device in (FIRST, SECOND)
    )


def _broken(few: Sequence[Drawn], soc: ResolvedSoc, count: int, kit: _Kit) -> Iterator[str]:
    """Yield faults of the hardware that end in a hang, or in wrong results nobody hears of."""
    compiled = _compiled(joined(list(few)), soc)
    sample = random_sample(compiled.graph)[0]
    seed = kit.random.getrandbits(16)
    campaign = run_campaign(
        compiled, sample, count, seed, progress=kit.progress, toolchain=kit.toolchain
    )
    for trial in campaign.trials:
        if not passed(replace(campaign, trials=(trial,))):
            yield f"{trial.fault}: {trial.answer.end}, status {trial.answer.status}"


def _coverage(drawn: Mapping[str, list[Drawn]], engine: Engine) -> Iterator[Coverage]:
    for support in engine.spec.operators:
        for feature, limits in support.limits.items():
            values = [each.features[feature] for each in drawn.get(support.kind, ())]
            if values:
                yield Coverage(
                    operator=support.kind.upper(),
                    feature=feature,
                    least=min(values),
                    most=max(values),
                    limits=limits,
                )
