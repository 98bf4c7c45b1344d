# SPDX-License-Identifier: Apache-2.0
"""Open a build folder that `atoll build` wrote, and refuse one that was changed since."""

import json
from collections.abc import Mapping
from pathlib import Path

from atoll.artifacts.build_tree import MARKER, RESOLVED, SUFFIX, homes_of, sources_of, texts_of
from atoll.artifacts.object_tree import KIND
from atoll.bsp.core_images import elf_names
from atoll.description.build import read_requests
from atoll.diagnostics.errors import DescriptionError, UsageError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_models
from atoll.frontend.registry import IN_MEMORY
from atoll.records import dataclass
from atoll.resolve.export import from_json
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.checksums import find_altered


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """Linked firmware and the plans that it was linked for.

    Attributes:
        models: in the order in which the firmware runs them.
        elves: the images of the cores, the host's first.
    """

    models: tuple[Compiled, ...]
    elves: tuple[Path, ...]

    @property
    def compiled(self) -> Compiled:
        """The only model."""
        (model,) = self.models
        return model


def open_build(folder: Path) -> Image:
    """Read chip, network and options back, plan again, and compare with the files.

    Planning is deterministic, so any difference means that the folder was made by another
    version, or was edited: its firmware and its plan would not belong together.

    Raises:
        UsageError: E096, not a build folder, damaged, changed, or of another version.
    """
    build = _read_marker(folder)
    if build.get(KIND):
        raise UsageError(
            "E096",
            f"{folder} holds objects for another firmware, and none to simulate",
            remedy="build it without --objects: atoll build SOC MODEL -o DIR",
        )
    names = _names(folder, build)
    homes = homes_of(names)
    suffixes = [_suffix(folder / home) for home in homes]
    if IN_MEMORY in suffixes:
        raise UsageError(
            "E096",
            f"{folder} has a network that was made in memory, and that no front end reads back",
            remedy="run it from the program that made it: atoll.run(compilation)",
        )
    _require_unchanged(folder, sources_of(names, (), suffixes))
    soc = _read_chip(folder, homes[0] / RESOLVED)
    _require_unchanged(folder, elf_names(soc))
    options = [_options(folder / home) for home in homes]
    named = zip(homes, names, suffixes, strict=True)
    files = [folder / home / f"{name}{suffix}" for home, name, suffix in named]
    models = compile_models(soc, files, options)
    for home, compiled in zip(homes, models, strict=True):
        _compare(folder, home, compiled)
    return Image(models=models, elves=tuple(folder / name for name in elf_names(soc)))


def _require_unchanged(folder: Path, names: tuple[str, ...]) -> None:
    if changed := tuple(find_altered(folder, names)):
        raise _unusable(folder, f"{', '.join(changed)} missing or changed since the build")


def _names(folder: Path, build: Mapping[str, object]) -> list[str]:
    """Return the models of a folder; more than one have folders of their own."""
    names = build.get("models", [build.get("model")])
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise _unusable(folder, f"{MARKER} is damaged")
    return [str(name) for name in names]


def _suffix(folder: Path) -> str:
    """Return the suffix of the model's file, which only formats of other packages note.

    A marker that is damaged is not judged here.
    """
    try:
        return str(_read_marker(folder).get("suffix", SUFFIX))
    except UsageError:
        return SUFFIX


def _options(folder: Path) -> BuildOptions:
    build = _read_marker(folder)
    try:
        requests = read_requests(build.get("requests"))
    except DescriptionError as error:
        raise _unusable(folder, error.faults[0].message) from error
    return BuildOptions(accelerators=bool(build.get("accelerators")), requests=requests)


def _compare(folder: Path, home: Path, compiled: Compiled) -> None:
    """Refuse a folder whose texts at `home` are not those of `compiled`."""
    for name, text in texts_of(compiled).items():
        if _content(folder / home / name) != text:
            raise _unusable(folder, f"{home / name} is not what this Atoll makes of the same input")


def _read_chip(folder: Path, name: Path) -> ResolvedSoc:
    try:
        return from_json((folder / name).read_text(encoding="utf-8"))
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
