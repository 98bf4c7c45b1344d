"""What estimates rest on: cores that were measured, or the one that stands in for all others."""

from collections.abc import Iterable

from atoll.place.measured import MEASURED_CORE
from atoll.resolve.soc import Cpu, ResolvedSoc

MEASURED = "measured"
"""The basis of figures that rest on no stand-in."""


def stands_in(core: Cpu) -> bool:
    """Tell whether the cycles of a core are those of `MEASURED_CORE` in its place."""
    return core.spec.name != MEASURED_CORE


def basis_of(soc: ResolvedSoc, devices: Iterable[str]) -> str:
    """Return what the cycles of operators on `devices` rest on; the host drives all of them."""
    used = map(soc.device, {soc.host, *devices})
    cores = (device for device in used if isinstance(device, Cpu))
    return MEASURED_CORE if any(map(stands_in, cores)) else MEASURED


def marked(text: str, basis: str) -> str:
    """Return a figure with its basis, if that is a stand-in."""
    return text if basis == MEASURED else f"{text} (basis: {basis})"
