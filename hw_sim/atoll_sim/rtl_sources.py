"""Where the RTL of accelerators lies, and what of it is not there."""

from collections.abc import Iterator
from pathlib import Path

from atoll.errors import Fault
from atoll.resolve.soc import Engine, ResolvedSoc

RTL = Path(__file__).parent / "rtl"


def engine_sources(engine: Engine) -> tuple[Path, ...]:
    """Return the sources of an accelerator: shipped ones by name, others by absolute path."""
    return tuple(RTL / name for name in engine.spec.rtl_sources)


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
    place = f"atoll_sim/rtl has no file '{word}'" if shipped else f"'{path}': {reason}"
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
