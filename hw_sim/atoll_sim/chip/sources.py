# SPDX-License-Identifier: Apache-2.0
"""Where the RTL of cores and accelerators lies, and what of it is not there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import Fault, SourceLoc
from atoll.isa.function_unit import FunctionUnit
from atoll.resolve.soc import AcceleratorSpec, CoreSpec, Cpu, Engine, ResolvedSoc
from atoll_sim.chip.file_list import FileList, read_list

RTL = Path(__file__).parents[1] / "rtl"
ENGINES = RTL.with_name("engines")
FOLDERS = (RTL, *sorted(path.parent for path in ENGINES.glob("*/__init__.py")))
"""Where the RTL lies that Atoll ships; each file's name is unique."""


LIST = ".f"

Rtl = CoreSpec | AcceleratorSpec | FunctionUnit


def rtl_sources(spec: Rtl) -> tuple[Path, ...]:
    """Return the sources that a description names: shipped ones, others by absolute path.

    Raises:
        AtollError: E146; a file list is wrong.
    """
    every = (path for each in _entries(spec) for path in each.sources)
    return tuple(dict.fromkeys(every))


def rtl_includes(spec: Rtl) -> tuple[Path, ...]:
    """Return the folders in which sources find what they include; errors as `rtl_sources`."""
    return tuple(dict.fromkeys(path for each in _entries(spec) for path in each.includes))


def rtl_defines(spec: Rtl) -> Mapping[str, str]:
    """Return the macros of the sources and their values; errors as `rtl_sources`."""
    named = {name: text for each in _entries(spec) for name, text in each.defines.items()}
    return {**named, **(spec.rtl_defines if isinstance(spec, AcceleratorSpec) else {})}


def _entries(spec: Rtl) -> Iterator[FileList]:
    """Yield what each source of a description stands for: a file, a folder, a list."""
    for name in spec.rtl_sources:
        path = find_source(name)
        if name.endswith("/"):
            yield FileList(includes=(path,))
        elif path.suffix == LIST:
            yield read_list(path)
        else:
            yield FileList(sources={path: SourceLoc(path, 1, 1)})


def built_devices(soc: ResolvedSoc) -> tuple[Cpu | Engine, ...]:
    """Return the devices of which there is RTL."""
    return (*soc.cpus, *soc.engines)


def kind_of(device: Cpu | Engine) -> str:
    """Return what messages call that of which `device` is an instance."""
    return "core" if isinstance(device, Cpu) else "accelerator"


def find_source(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    """Return the file that ships under `name`, a path as it is."""
    return next((path for folder in folders if (path := folder / name).is_file()), RTL / name)


def source_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each source that cannot be read, once for all instances."""
    found: dict[str, Fault] = {}
    for device in built_devices(soc):
        for index, listed in enumerate(_entries(device.spec)):
            named = device.spec.rtl_sources[index].endswith(LIST)
            for path, at in listed.sources.items():
                if reason := unreadable(path):
                    fault = _fault(device, index, path, reason)
                    fault = _locate_fault(fault, path, at) if named else fault
                    found.setdefault(str(path), fault)
            for path in listed.includes:
                if not path.is_dir():
                    fault = _fault(device, index, path, "it is no folder")
                    found.setdefault(str(path), fault)
    yield from found.values()


def _locate_fault(fault: Fault, path: Path, at: SourceLoc) -> Fault:
    remedy = f"correct the line; names are relative to '{at.path.name}'"
    return replace(fault, at=at, remedy=remedy)


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
