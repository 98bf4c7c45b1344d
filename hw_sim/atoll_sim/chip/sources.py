"""Where the RTL of accelerators lies, and what of it is not there."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.errors import Fault
from atoll.resolve.soc import Engine, ResolvedSoc

RTL = Path(__file__).parents[1] / "rtl"
ENGINES = RTL.with_name("engines")
FOLDERS = (RTL, *sorted(path.parent for path in ENGINES.glob("*/__init__.py")))
"""Where the RTL lies that Atoll ships; each file's name is unique."""


def engine_sources(engine: Engine) -> tuple[Path, ...]:
    """Return the sources of an accelerator: shipped ones by name, others by absolute path."""
    return tuple(found(name) for name in engine.spec.rtl_sources)


def found(name: str, folders: Sequence[Path] = FOLDERS) -> Path:
    """Return the file that ships under `name`, a path as it is."""
    return next((path for folder in folders if (path := folder / name).is_file()), RTL / name)


def source_faults(soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for each source that cannot be read, once for all instances."""
    found: dict[str, Fault] = {}
    for engine in soc.engines:
        for index, path in enumerate(engine_sources(engine)):
            if reason := _unreadable(path):
                found.setdefault(str(path), _fault(engine, index, path, reason))
    yield from found.values()


def _fault(engine: Engine, index: int, path: Path, reason: str) -> Fault:
    spec = engine.spec
    word = spec.rtl_sources[index]
    shipped = "/" not in word
    place = f"Atoll ships no file '{word}'" if shipped else f"'{path}': {reason}"
    return Fault(
        code="E113",
        message=f"RTL source of accelerator '{spec.name}' cannot be read: {place}",
        at=spec.places.get(f"rtl.sources.{index}") or engine.at,
        remedy=f"write './{word}' if it is beside the accelerator's YAML, or correct the name"
        if shipped
        else "correct the path; it is relative to the accelerator's YAML",
    )


def _unreadable(path: Path) -> str:
    try:
        with path.open("rb"):
            return ""
    except OSError as fault:
        return fault.strerror or type(fault).__name__
