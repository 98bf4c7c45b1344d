# SPDX-License-Identifier: Apache-2.0
"""Find the chips, cores and schemas that ship with Atoll."""

from importlib.resources import files
from pathlib import Path

from atoll.description.faults import nearest
from atoll.diagnostics.errors import DescriptionError, SourceLoc


def shared_folder(name: str) -> Path:
    """Return the folder ``socs`` or ``schemas``, in an installed wheel or in a checkout.

    The path is relative to the working directory where that is possible, so that messages
    and artefacts do not depend on where the checkout lies.
    """
    package = Path(str(files("atoll")))
    installed = package / "share" / name
    return shortest(installed if installed.is_dir() else package.parents[1] / name)


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
    if path.name in (names := shipped_names(shipped)):
        return shipped / f"{path.name}.yaml"
    raise DescriptionError(
        "E008",
        f"no chip '{source}' is shipped",
        at=at,
        remedy=nearest(path.name, names, "give a path"),
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
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
