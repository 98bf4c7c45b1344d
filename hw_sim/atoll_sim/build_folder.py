"""Open a build folder that `atoll build` wrote, and refuse one that was changed since."""

import json
from dataclasses import dataclass
from pathlib import Path

from atoll.bsp.cores import elf_names
from atoll.build_tree import MARKER, RESOLVED, sources_of, texts_of
from atoll.checksums import altered
from atoll.description.build import read_requests
from atoll.errors import UsageError
from atoll.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve.export import from_json
from atoll.resolve.soc import ResolvedSoc


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Linked firmware, the host's image first, and the plan that it was linked for."""

    compiled: Compiled
    elves: tuple[Path, ...]


def open_build(folder: Path) -> Image:
    """Read chip, network and options back, plan again, and compare with the files.

    Planning is deterministic, so any difference means that the folder was made by another
    version, or was edited: its firmware and its plan would not belong together.

    Raises:
        UsageError: E096, not a build folder, damaged, changed, or of another version.
    """
    build = _read_marker(folder)
    if "models" in build:
        raise _unusable(folder, "it holds several models, which `atoll_sim.turns` runs")
    name = str(build.get("model"))
    _require_unchanged(folder, sources_of(name))
    soc = _read_chip(folder)
    _require_unchanged(folder, elf_names(soc))
    options = BuildOptions(
        accelerators=bool(build.get("accelerators")), requests=read_requests(build.get("requests"))
    )
    compiled = compile_file(soc, folder / f"{name}.tflite", options)
    for text_name, text in texts_of(compiled).items():
        if _content(folder / text_name) != text:
            raise _unusable(folder, f"{text_name} is not what this Atoll makes of the same input")
    return Image(compiled=compiled, elves=tuple(folder / name for name in elf_names(soc)))


def _require_unchanged(folder: Path, names: tuple[str, ...]) -> None:
    if changed := tuple(altered(folder, names)):
        raise _unusable(folder, f"{', '.join(changed)} missing or changed since the build")


def _read_chip(folder: Path) -> ResolvedSoc:
    try:
        return from_json((folder / RESOLVED).read_text(encoding="utf-8"))
    except UsageError as error:
        raise _unusable(folder, error.faults[0].message) from error


def _read_marker(folder: Path) -> dict[str, object]:
    try:
        build = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise _unusable(folder, f"it has no readable {MARKER}") from fault
    if not isinstance(build, dict):
        raise _unusable(folder, f"{MARKER} is damaged")
    return build


def _content(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _unusable(folder: Path, reason: str) -> UsageError:
    return UsageError(
        "E096",
        f"{folder} is not a usable build folder: {reason}",
        remedy="build it again: atoll build SOC MODEL -o DIR",
    )
