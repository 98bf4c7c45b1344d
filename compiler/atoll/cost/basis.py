# SPDX-License-Identifier: Apache-2.0
"""What estimates rest on: measurements, or what stands in for them."""

from collections.abc import Iterable

from atoll.cost.counted import further_latency, is_countable, is_counted
from atoll.cost.data.picorv32 import MEASURED_CORE
from atoll.cost.measured_targets import times_of
from atoll.ir.graph import Graph, Operator
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc

MEASURED = "measured"
"""The basis of figures that rest on no stand-in."""

EMITTER = "emitter"
"""The basis of cycles of an engine whose emitter has no `basis`."""

COUNTED = "counted"
"""The basis of cycles of a core's code by its instructions and what these take on the core."""

ASSUMED = "assumed"
"""What a core waits for instructions is that: its timing does not say."""

DRIVER = "driver "
"""What stands before the basis of a host's drivers."""

OWN_CODE = "own code"
"""The basis of cycles of a core's own code, in place of that of a target that nobody measured."""


def stands_in(core: Cpu) -> bool:
    """Tell whether the cycles of a core are those of `MEASURED_CORE` in its place."""
    return core.spec.name != MEASURED_CORE and not is_counted(core)


def basis_of(soc: ResolvedSoc, devices: Iterable[str]) -> str:
    """Return what the cycles of operators on `devices` rest on.

    An engine's are what its emitter says, and the driver's, which is the host's.
    """
    names = {*devices}
    used = [device for device in soc.devices if device.name in names]
    sources = [*(_source(device, soc) for device in used if isinstance(device, Cpu | Engine))]
    if any(isinstance(device, Engine) for device in used):
        host = _source(soc.host_cpu, soc)
        sources += [] if host == MEASURED else [DRIVER + host]
    return joint_basis(sources)


def basis_of_operator(op: Operator, graph: Graph, soc: ResolvedSoc) -> str:
    """Return what the cycles of a placed operator rest on."""
    core = soc.device(op.device)
    uncounted = isinstance(core, Cpu) and is_counted(core) and not is_countable(op, graph, core)
    sources = [MEASURED_CORE if uncounted else basis_of(soc, op.devices)]
    if op.target and isinstance(core, Cpu):
        known = (times_of(core, name, op.kind, soc) for name in (op.target, ""))
        sources += [] if all(known) else [OWN_CODE]
    return joint_basis(sources)


def joint_basis(sources: Iterable[str]) -> str:
    """Return what a sum of figures rests on beside measurements."""
    parts = {part: None for each in sources for part in each.split(", ") if part != MEASURED}
    drivers = {f"{DRIVER}{each}" for each in parts}
    alone = (each for each in parts if each not in drivers)
    return ", ".join(alone) or MEASURED


def with_basis(text: str, basis: str) -> str:
    """Return a figure with its basis, if that is not measured."""
    return text if basis == MEASURED else f"{text} (basis: {basis})"


def _source(device: Cpu | Engine, soc: ResolvedSoc) -> str:
    if isinstance(device, Cpu):
        timing = device.spec.timing
        if timing is not None and is_counted(device):
            assumed = not timing.waits and further_latency(device, soc)
            return f"{COUNTED} x {timing.basis}" + (f", {ASSUMED}" if assumed else "")
        return MEASURED_CORE if stands_in(device) else MEASURED
    if all(support.kind in device.spec.timing for support in device.spec.operators):
        return MEASURED
    told = getattr(emitter_of(device).value, "basis", EMITTER)
    told = told(device) if callable(told) else told
    return told if isinstance(told, str) and told else EMITTER
