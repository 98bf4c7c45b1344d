"""Where the RTL of cores and accelerators lies, and what of it is not there."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.errors import Fault
from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import AcceleratorSpec, CoreSpec, Cpu, Engine, ResolvedSoc

RTL = Path(__file__).parents[1] / "rtl"
ENGINES = RTL.with_name("engines")
FOLDERS = (RTL, *sorted(path.parent for path in ENGINES.glob("*/__init__.py")))
"""Where the RTL lies that Atoll ships; each file's name is unique."""


def rtl_sources(spec: CoreSpec | AcceleratorSpec | FunctionUnit) -> tuple[Path, ...]:
    """Return the sources that a description names: shipped ones, others by absolute path."""
    return tuple(found(name) for name in spec.rtl_sources)


def built_devices(soc: ResolvedSoc) -> tuple[Cpu | Engine, ...]:
    """Return the devices of which there is RTL."""
    return (*soc.cpus, *soc.engines)


def kind_of(device: Cpu | Engine) -> str:
    """Return what messages call that of which `device` is an instance."""
    return "core" if isinstance(device, Cpu) else "accelerator"


def found(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    """Return the file that ships under `name`, a path as it is."""
    return next((path for folder in folders if (path := folder / name).is_file()), RTL / name)


def source_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each source that cannot be read, once for all instances."""
    found: dict[str, Fault] = {}
    for device in built_devices(soc):
        for index, path in enumerate(rtl_sources(device.spec)):
            if reason := unreadable(path):
                found.setdefault(str(path), _fault(device, index, path, reason))
    yield from found.values()


def _fault(device: Cpu | Engine, index: int, path: Path, reason: str) -> Fault:
    spec, kind = device.spec, kind_of(device)
    word = spec.rtl_sources[index]
    shipped = "/" not in word
    place = f"Atoll ships no file '{word}'" if shipped else f"'{path}': {reason}"
    return Fault(
        code="E113",
        message=f"RTL source of {kind} '{spec.name}' cannot be read: {place}",
        at=spec.places.get(f"rtl.sources.{index}") or device.at,
        remedy=f"write './{word}' if it is beside the {kind}'s YAML, or correct the name"
        if shipped
        else f"correct the path; it is relative to the {kind}'s YAML",
    )


def unreadable(path: Path) -> str:
    """Return why a file cannot be read; "" if it can."""
    try:
        with path.open("rb"):
            return ""
    except OSError as fault:
        return fault.strerror or type(fault).__name__
