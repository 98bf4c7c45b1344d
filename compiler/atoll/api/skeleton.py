# SPDX-License-Identifier: Apache-2.0
"""Write the package of an accelerator to start from."""

from pathlib import Path

from atoll.description.accelerator_files import known_accelerators
from atoll.description.fields import is_name
from atoll.description.json_schemas import schema_text
from atoll.diagnostics.errors import UsageError
from atoll.utils.files import new_folder, write_text

SKELETON = Path(__file__).parents[1] / "description" / "skeleton"
"""A package that passes its tests: Atoll's own tests run it as it is."""

NAMED = "widget"
"""What the accelerator in `SKELETON` is called, in its files and in their names."""

MARKER = "pyproject.toml"
_NOT_WRITTEN = {"__pycache__", ".pytest_cache", "soc.schema.json", "accelerator.schema.json"}
_RESERVED = ("mailbox", "console", "guard", "atoll", "ripple", "reef")


def write_skeleton(name: str, target: Path) -> tuple[Path, ...]:
    """Write the package into a folder that must not exist, and return its files.

    Raises:
        UsageError: E091, the folder is there; E092, it cannot be written; E099, an accelerator
            cannot have the name.
    """
    taken = {*_RESERVED, *known_accelerators()}
    if not is_name(name) or name in taken:
        why = "it is the name of another" if name in taken else "use a-z, 0-9 and _, a letter first"
        raise UsageError(
            "E099",
            f"'{name}' cannot name an accelerator: {why}",
            remedy="choose a name such as my_engine",
        )
    if target.exists():
        remedy = "choose another name or -o FOLDER, or remove it"
        raise UsageError("E091", f"{target} exists already", remedy=remedy)
    with new_folder(target, marker=MARKER) as folder:
        made = [_copy(path, folder, name) for path in sorted(_files())]
        for which in ("soc", "accelerator"):
            path = folder / f"{which}.schema.json"
            write_text(path, schema_text(which))
            made.append(path)
        inside = [path.relative_to(folder) for path in made]
    return tuple(target / path for path in inside)


def _files() -> list[Path]:
    inside = (path for path in SKELETON.rglob("*") if path.is_file())
    return [path for path in inside if not _NOT_WRITTEN & {*path.parts}]


def _copy(path: Path, folder: Path, name: str) -> Path:
    made = folder / str(path.relative_to(SKELETON)).replace(NAMED, name)
    made.parent.mkdir(parents=True, exist_ok=True)
    write_text(made, path.read_text(encoding="utf-8").replace(NAMED, name))
    return made
