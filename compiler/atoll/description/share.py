# SPDX-License-Identifier: Apache-2.0
"""Find the chips, cores and schemas that ship with Atoll, and what installed packages bring."""

import sys
from functools import cache, lru_cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from atoll.description.faults import nearest_part
from atoll.diagnostics.errors import DescriptionError, SourceLoc
from atoll.utils.remember import remember

PACKAGES_AT_HAND = 64
"""Packages whose folders a process knows, where it looks for packages now."""


def shared_folder(name: str) -> Path:
    """Return the folder ``socs`` or ``schemas``, in an installed wheel or in a checkout.

    The path is relative to the working directory where that is possible, so that messages
    and artefacts do not depend on where the checkout lies.
    """
    return shortest(_shared_folder(name))


@cache
def _shared_folder(name: str) -> Path:
    package = Path(str(files("atoll")))
    installed = package / "share" / name
    return installed if installed.is_dir() else package.parents[1] / name


def find_soc(source: Path | str, folder: Path = Path(), at: SourceLoc | None = None) -> Path:
    """Return the description that `source` means: a path, or the name of a shipped chip.

    Args:
        source: such as ``chips/mine.yaml`` or ``lagoon``.
        folder: what a path is relative to.
        at: where `source` was written, if it was.

    Raises:
        DescriptionError: `source` is a bare word that names neither.
    """
    path = Path(source)
    if path.suffix or len(path.parts) != 1 or _is_there(folder / path):
        return folder / path
    shipped = shared_folder("socs")
    found = shipped / f"{path.name}.yaml"
    if found.exists():
        return found
    raise DescriptionError(
        "E008",
        f"no chip '{source}' is shipped",
        at=at,
        remedy=nearest_part(path.name, shipped_names(shipped), "give a path"),
    )


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def shipped_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the descriptions in `folder`, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.yaml")))


def shortest(path: Path) -> Path:
    """Return `path` relative to the working directory if it lies below it."""
    return _shortest(path, Path.cwd())


@lru_cache(maxsize=256)
def _shortest(path: Path, here: Path) -> Path:
    return path.relative_to(here) if path.is_relative_to(here) else path


def is_path(word: str) -> bool:
    """Tell whether a chip means a file by `word`, and not an installed name."""
    return "/" in word or word.endswith((".yaml", ".yml"))


def description_in(package: str, name: str, group: str, at: SourceLoc | None) -> Path:
    """Return ``NAME.yaml`` in the folder of a package, whose code does not run.

    Raises:
        DescriptionError: E041; the package, which an entry point of `group` names, is not there.
    """
    folder = _folder_of(package)
    if folder is None:
        raise DescriptionError(
            "E041",
            f"cannot find '{package}', which entry points of {group} name",
            at=at,
            remedy="install the package again that brings it",
        )
    return shortest(folder / f"{name}.yaml")


@remember(lambda package: (package, *sys.path), most=PACKAGES_AT_HAND)
def _folder_of(package: str) -> Path | None:
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:
        return None
    locations = spec.submodule_search_locations if spec else None
    return Path(next(iter(locations))) if locations else None
