# SPDX-License-Identifier: Apache-2.0
"""What estimates rest on: measurements, or what stands in for them."""

from collections.abc import Iterable
from dataclasses import replace

from atoll.cost.bands import Band, Source
from atoll.cost.counted import core_to_count, further_latency, is_counted
from atoll.cost.data.picorv32 import (
    COMPARED,
    DRIVER_BAND,
    FARTHEST_LATENCY,
    MEASURED_CORE,
    MEASURED_DATA_LATENCY,
    OTHER_BAND,
)
from atoll.cost.kernel_runs import runs_of
from atoll.cost.measured_targets import times_of
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.plugins.loading import is_own
from atoll.reach.candidates import CONSTANT_ROLES, pools_for
from atoll.resolve.data_cache import REGISTERS
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.soc import Access, Cpu, Engine, ResolvedSoc, once_per_chip, once_per_device
from atoll.resolve.specs import Timing, Tuning

MEASURED = "measured"
"""The basis of figures that rest on no stand-in."""

NOT_KNOWN = "band not known"
"""What is said where nobody measured how far an estimate is off."""

FARTHEST_TIMED = 9
"""Latency of the slowest memory with which `atoll accelerator calibrate` times operators."""

EMITTER = "emitter"
"""The basis of cycles of an engine whose emitter has no `basis`."""

COUNTED = "counted"
"""The basis of cycles of a core's code by its instructions and what these take on the core."""

SIMULATED = "simulated"
"""Likewise, where the instructions are those that ran on the instruction-set simulator."""

ASSUMED = "assumed"
"""What a core waits for is that: for instructions, its timing does not say; its data cache always
has what it may keep; registers that maintain it answer at the second look. An accelerator with a
data cache works as fast as without.
"""

TOLD = "told"
"""The basis of cycles that a kind of operator says itself."""

PUBLISHED = "published"
"""The basis of a timing that rests on tables, which are of memories that answer in the next cycle.
"""

PUBLISHED_OTHER_BAND = Band(0.64, 2.67)
"""How far kernels of kinds that are none of `COMPARED` may be off there: of those of 300 cycles, 95
of 100 that `python -m benchmarks.published_bands` ran.
"""

DRIVER = "driver "
"""What stands before the basis of a host's drivers."""

OWN_CODE = "own code"
"""The basis of cycles of a core's own code, in place of that of a target that nobody measured."""


def stands_in(core: Cpu) -> bool:
    """Tell whether the cycles of a core are those of `MEASURED_CORE` in its place."""
    return not is_counted(core)


def basis_of(soc: ResolvedSoc, devices: Iterable[str]) -> str:
    """Return what the cycles of operators on `devices` rest on.

    An engine's are what its emitter says, and the driver's, which is the host's.
    """
    names = frozenset(devices)
    key = "basis of devices", names
    if key not in soc.known:
        soc.known[key] = _basis_of(soc, names)
    found: str = soc.known[key]
    return found


def _basis_of(soc: ResolvedSoc, names: frozenset[str]) -> str:
    used = [device for device in soc.devices if device.name in names]
    sources = [
        *(source_of(device, soc).basis for device in used if isinstance(device, Cpu | Engine))
    ]
    if any(isinstance(device, Engine) for device in used):
        host = driver_source(soc).basis
        sources += [] if host == MEASURED else [DRIVER + host]
    return joint_basis(sources)


def basis_of_operator(op: Operator, graph: Graph, soc: ResolvedSoc, *, lines: str = "") -> str:
    """Return what the cycles of a placed operator rest on; see `source_of_operator`."""
    core = soc.device(op.device)
    if isinstance(core, Cpu) and runs_of(op, graph, core):
        return source_of_operator(op, graph, core, soc, lines).basis
    kernel = _kernel_basis(op, graph, core) if isinstance(core, Cpu) else ""
    if lines and not kernel:
        assert isinstance(core, Cpu)
        kernel = source_of_operator(op, graph, core, soc, lines).basis
    sources = [kernel or basis_of(soc, op.devices)]
    if op.target and isinstance(core, Cpu):
        known = (times_of(core, name, op.kind, soc) for name in (op.target, ""))
        sources += [] if all(known) else [OWN_CODE]
    return joint_basis(sources)


def _kernel_basis(op: Operator, graph: Graph, core: Cpu) -> str:
    """Return what the cycles of a kernel rest on that is not counted as those of its core are."""
    counted = core_to_count(op, graph, core)
    if counted is None:
        return ASSUMED if kind_of(op).cycles(op, graph) is None else TOLD
    return "" if counted is core else MEASURED_CORE


def joint_basis(sources: Iterable[str]) -> str:
    """Return what a sum of figures rests on beside measurements."""
    told = dict.fromkeys(each for each in sources if each != MEASURED)
    if not told:
        return MEASURED
    parts = {part: None for each in told for part in each.split(", ") if part != MEASURED}
    drivers = {f"{DRIVER}{each}" for each in parts}
    alone = (each for each in parts if each not in drivers)
    return ", ".join(alone) or MEASURED


WEAKEST = (ASSUMED, "stand-in", TOLD, "published", COUNTED, SIMULATED, MEASURED)
"""What figures can rest on, the weakest first; `told` is what an accelerator's own maker says."""


def weakest(basis: str) -> str:
    """Return which of `WEAKEST` a figure rests on: the weakest of its sources."""
    return min(map(_rank, basis.split(", ")), key=WEAKEST.index)


def _rank(basis: str) -> str:
    words = basis.removeprefix(DRIVER)
    if words in WEAKEST:
        return words
    known = {MEASURED_CORE: "stand-in", OWN_CODE: "stand-in"}
    if words.startswith((COUNTED, SIMULATED)):
        return words.split()[0] if words.endswith(MEASURED) else "published"
    return known.get(words, "told")


def with_basis(text: str, basis: str) -> str:
    """Return a figure with its basis, if that is not measured."""
    return text if basis == MEASURED else f"{text} (basis: {basis})"


def with_band(figure: str, basis: str, band: Band | None, between: str = " ") -> str:
    """Return a figure with its band, and what it rests on if that is not measured."""
    shown = f"{figure}{between}{band}" if band else figure
    notes = ([] if basis == MEASURED else [f"basis: {basis}"]) + ([] if band else [NOT_KNOWN])
    return f"{shown} ({', '.join(notes)})" if notes else shown


def source_of(device: Cpu | Engine, soc: ResolvedSoc) -> Source:
    """Return what the cycles of a device rest on, and how far they may be off.

    Of a core, that counts only where it was measured: with the host's clock, and instructions in
    memories as near as those of the measurement.
    """
    if isinstance(device, Engine) and not is_own(device.spec.emitter):
        return _engine_source(device)
    return _source_at_hand(device, soc)


@once_per_device
def _source_at_hand(device: Cpu | Engine, soc: ResolvedSoc) -> Source:
    """Return as `source_of`: what Atoll's own code says stays the same."""
    return _core_source(device, soc) if isinstance(device, Cpu) else _engine_source(device)


@once_per_chip
def driver_source(soc: ResolvedSoc) -> Source:
    """Return what the cycles of drivers, steps and start-up code rest on: those of the host."""
    host = soc.host_cpu
    source = replace(source_of(host, soc), name=f"{DRIVER}{host.spec.name}")
    if host.spec.name != MEASURED_CORE:
        return replace(source, band=OTHER_BAND) if source.band else source
    return replace(source, basis=MEASURED, band=DRIVER_BAND if source.band else None)


def _core_source(core: Cpu, soc: ResolvedSoc) -> Source:
    timing = core.spec.timing
    if timing is not None and is_counted(core):
        return _timed_source(core, soc, timing, COUNTED, timing.band)
    return Source(core.spec.name, MEASURED_CORE, None)


def _timed_source(
    core: Cpu,
    soc: ResolvedSoc,
    timing: Timing,
    how: str,
    band: tuple[float, float] | None,
    lines: str = "",
) -> Source:
    """Return what cycles rest on that are instructions times what these take on a core.

    Args:
        core: which.
        soc: its chip.
        timing: of the core.
        how: it is known which instructions run, `COUNTED` or `SIMULATED`.
        band: how far they may be off where all is as it was when that was measured.
        lines: how it is known what lines of its data cache move; "" if it is not.
    """
    near = core.clock == soc.host_cpu.clock and further_latency(core, soc) < FARTHEST_LATENCY
    if timing.basis == PUBLISHED:
        own = (soc.memory(each.memory).read_latency for each in (core.code, *core.stacks))
        near = near and max(own) <= MEASURED_DATA_LATENCY
    told = timing.waits or timing.cache
    cached = _uses_cache(core, soc)
    unmeasured = cached and (not lines or core.maintained_by == REGISTERS)
    assumed = unmeasured or (not told and further_latency(core, soc))
    basis = f"{how} x {timing.basis}" + (f", {ASSUMED}" if assumed else "")
    if lines == COUNTED and how == SIMULATED:
        basis += f", {COUNTED} x {timing.basis}"
    name = core.spec.name if how == COUNTED else f"{how} {core.spec.name}"
    near = near and not (assumed or cached)
    return Source(name, basis, Band(*band) if band and near else None)


def _is_published(core: Cpu) -> bool:
    return core.spec.timing is not None and core.spec.timing.basis == PUBLISHED


def _uses_cache(core: Cpu, soc: ResolvedSoc) -> bool:
    """Tell whether a core has a data cache, and a pool or stack whose bytes that may keep."""
    pools = (each.region for each in soc.pools if each.reach[core.name] is not Access.NONE)
    return core.cache is not None and any(map(soc.is_kept, (*pools, *core.stacks)))


def _engine_source(engine: Engine) -> Source:
    emitter = emitter_of(engine).value
    told = getattr(emitter, "basis", EMITTER)
    told = told(engine) if callable(told) else told
    basis = told if isinstance(told, str) and told else EMITTER
    params = " ".join(f"{key}={value}" for key, value in engine.params.items())
    name, timing = f"{engine.spec.name} {params}", engine.timing
    if all(support.kind in timing for support in engine.spec.operators):
        basis = MEASURED
    if engine.cache:
        return Source(name, joint_basis((basis, ASSUMED)), None)
    return Source(name, basis, _emitter_band(emitter))


def _tuned_source(source: Source, kind: str, tuning: Tuning, *, far: bool) -> Source:
    band = Band(*tuning.band) if tuning.band and not far else None
    return Source(f"{kind} {source.name}", MEASURED, band)


def _emitter_band(emitter: object) -> Band | None:
    match getattr(emitter, "band", None):
        case (int() | float() as low, int() | float() as high) if 0 <= low <= 1 and high >= 0:
            return Band(low, high)
    return None


def source_of_operator(
    op: Operator, graph: Graph, device: Cpu | Engine, soc: ResolvedSoc, lines: str = ""
) -> Source:
    """Return what a device's own cycles for an operator rest on, placed or not.

    The band is not known of what was not measured: kernels that nobody counted, code for other
    targets, activations in far memory, and data caches. How it is known what lines of such a cache
    move is `lines`, `COUNTED` or `SIMULATED`; "" where it is taken to have everything.
    """
    source, unmeasured = source_of(device, soc), False
    if isinstance(device, Cpu) and device.spec.timing and runs_of(op, graph, device):
        timing = device.spec.timing
        source = _timed_source(device, soc, timing, SIMULATED, timing.simulated_band, lines)
    elif isinstance(device, Cpu):
        if basis := _kernel_basis(op, graph, device):
            return Source(f"{op.kind} {source.name}", basis, None)
        if lines and device.spec.timing:
            return _timed_source(device, soc, device.spec.timing, COUNTED, None, lines)
        if source.band and op.kind not in COMPARED:
            band = PUBLISHED_OTHER_BAND if _is_published(device) else OTHER_BAND
            source = replace(source, name=f"{op.kind} {source.name}", band=band)
        unmeasured = bool(op.target)
    elif op.kind in device.timing and not device.cache:
        far = _is_far(op, graph, device, soc, FARTHEST_TIMED)
        return _tuned_source(source, op.kind, device.timing[op.kind], far=far)
    far = _is_far(op, graph, device, soc)
    if isinstance(device, Cpu) and _is_published(device):
        far = far or _has_far_constants(op, graph, device, soc)
    return replace(source, band=None) if unmeasured or far else source


def _is_far(
    op: Operator,
    graph: Graph,
    device: Cpu | Engine,
    soc: ResolvedSoc,
    farthest: int = MEASURED_DATA_LATENCY,
) -> bool:
    """Tell whether an activation of an operator is in memory that answers later than measured."""
    late, near = _late_pools(device, soc, farthest)
    if near and not late:
        return False
    tensors = map(graph.tensor, (*op.reads, *op.outputs))
    return any(late.issuperset(each.pools or near) for each in tensors if each.data is None)


def _has_far_constants(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> bool:
    """Tell whether constants of an operator are in memory that answers later than measured."""
    late, _ = _late_pools(core, soc, MEASURED_DATA_LATENCY)
    if not late:
        return False
    needs = {core.name: Access.READ}
    constants = [each for each in map(graph.tensor, op.reads) if each.data is not None]
    homes = ((each.pool, *pools_for(soc, needs, CONSTANT_ROLES, each.size)) for each in constants)
    return any(next(filter(None, each), "") in late for each in homes)


def _late_pools(
    device: Cpu | Engine, soc: ResolvedSoc, farthest: int
) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the pools that answer later, and those in which a device may have activations."""
    key = "late pools", device.name, farthest
    if key not in soc.known:
        latencies = {each.name: soc.memory(each.region.memory).read_latency for each in soc.pools}
        near = (
            pool.name
            for pool in soc.pools
            if pool.role in ("workspace", "both")
            and pool.reach.get(device.name, Access.NONE) is not Access.NONE
        )
        late = frozenset(name for name, latency in latencies.items() if latency > farthest)
        soc.known[key] = late, tuple(near)
    found: tuple[frozenset[str], tuple[str, ...]] = soc.known[key]
    return found
