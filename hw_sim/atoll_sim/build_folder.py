"""Open a build folder that `atoll build` wrote, and refuse one that was changed since."""

import json
from dataclasses import dataclass
from pathlib import Path

from atoll.errors import UsageError
from atoll.pipeline import MARKER, BuildOptions, Compiled, compile_file, texts_of
from atoll.resolve.export import from_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A linked firmware and the plan that it was linked for."""

    compiled: Compiled
    elf: Path


def open_build(folder: Path) -> Image:
    """Read chip, network and options back, plan again, and compare with the files.

    Planning is deterministic, so any difference means that the folder was made by another
    version, or was edited: its firmware and its plan would not belong together.

    Raises:
        UsageError: E096, not a build folder, damaged, or changed.
    """
    build = _read_marker(folder)
    try:
        soc = from_json((folder / "resolved.json").read_text(encoding="utf-8"))
        options = BuildOptions(accelerators=bool(build["accelerators"]))
        model = folder / f"{build['model']}.tflite"
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise _unusable(folder, f"resolved.json or {MARKER} is damaged: {fault}") from fault
    compiled = compile_file(soc, model, options)
    for name, text in texts_of(compiled).items():
        if _content(folder / name) != text:
            raise _unusable(folder, f"{name} is not what this version makes of the same input")
    elf = folder / "firmware.elf"
    if not elf.is_file():
        raise _unusable(folder, "firmware.elf is missing")
    return Image(compiled=compiled, elf=elf)


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
        remedy="make it with: atoll build SOC MODEL -o DIR",
    )
