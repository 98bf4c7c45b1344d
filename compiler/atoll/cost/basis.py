# SPDX-License-Identifier: Apache-2.0
"""What estimates rest on: measurements, or what stands in for them."""

from collections.abc import Iterable

from atoll.cost.data.picorv32 import MEASURED_CORE
from atoll.cost.measured_targets import times_of
from atoll.ir.graph import Operator
from atoll.resolve.engine_parts import emitter_of
from atoll.resolve.soc import Cpu, Engine, ResolvedSoc

MEASURED = "measured"
"""The basis of figures that rest on no stand-in."""

EMITTER = "emitter"
"""The basis of cycles of an engine whose emitter has no `basis`."""


OWN_CODE = "own code"
"""The basis of cycles of a core's own code, in place of that of a target that nobody measured."""


def stands_in(core: Cpu) -> bool:
    """Tell whether the cycles of a core are those of `MEASURED_CORE` in its place."""
    return core.spec.name != MEASURED_CORE


def basis_of(soc: ResolvedSoc, devices: Iterable[str]) -> str:
    """Return what the cycles of operators on `devices` rest on.

    An engine's are what its emitter says, and the driver's, which is the host's.
    """
    names = {*devices}
    used = [device for device in soc.devices if device.name in names]
    sources = [*(_source(device) for device in used if isinstance(device, Cpu | Engine))]
    engines = any(isinstance(device, Engine) for device in used)
    if engines and stands_in(soc.host_cpu) and MEASURED_CORE not in sources:
        sources.append(f"driver {MEASURED_CORE}")
    return joint_basis(sources)


def basis_of_operator(op: Operator, soc: ResolvedSoc) -> str:
    """Return what the cycles of a placed operator rest on."""
    sources = [basis_of(soc, op.devices)]
    core = soc.device(op.device)
    if op.target and isinstance(core, Cpu):
        known = (times_of(core, name, op.kind, soc) for name in (op.target, ""))
        sources += [] if all(known) else [OWN_CODE]
    return joint_basis(sources)


def joint_basis(sources: Iterable[str]) -> str:
    """Return what a sum of figures rests on beside measurements."""
    parts = {part: None for each in sources for part in each.split(", ") if part != MEASURED}
    if MEASURED_CORE in parts:
        parts.pop(f"driver {MEASURED_CORE}", None)
    return ", ".join(parts) or MEASURED


def with_basis(text: str, basis: str) -> str:
    """Return a figure with its basis, if that is not measured."""
    return text if basis == MEASURED else f"{text} (basis: {basis})"


def _source(device: Cpu | Engine) -> str:
    if isinstance(device, Cpu):
        return MEASURED_CORE if stands_in(device) else MEASURED
    told = getattr(emitter_of(device).value, "basis", EMITTER)
    told = told(device) if callable(told) else told
    return told if isinstance(told, str) and told else EMITTER
