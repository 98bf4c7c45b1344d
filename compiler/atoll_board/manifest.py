# SPDX-License-Identifier: Apache-2.0
"""The list of the files that Atoll made in a package, and what was in each."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from atoll.diagnostics.errors import UsageError
from atoll_board.paths import is_path

MANIFEST = "atoll-bsp.json"
FORMAT = 1

Manifest = Mapping[str, Mapping[str, str]]
"""By emitter, the SHA-256 of each generated file by its path."""


def manifest_text(soc: str, files: Manifest) -> str:
    """Return the text of a manifest."""
    emitters = {name: dict(sorted(files[name].items())) for name in sorted(files)}
    return json.dumps({"format": FORMAT, "soc": soc, "files": emitters}, indent=2) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Return what Atoll made in a folder: nothing if it is new or empty.

    Raises:
        UsageError: E091, the folder holds something else; E128, the manifest cannot be used.
    """
    if (folder / MANIFEST).exists():
        return _parse(folder / MANIFEST)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            "E091",
            f"{folder} exists and is not a board support package: it has no {MANIFEST}",
            remedy="choose another folder, or remove this one yourself",
        )
    return {}


def require_package(folder: Path) -> None:
    """Refuse a folder without a package.

    Raises:
        UsageError: E091.
    """
    if not (folder / MANIFEST).is_file():
        raise UsageError(
            "E091",
            f"{folder} holds no board support package: it has no {MANIFEST}",
            remedy="write one: run `atoll bsp` without --check",
        )


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; "" if it is none."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def _parse(path: Path) -> Manifest:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        data = None
    if not _is_manifest(data):
        raise UsageError(
            "E128",
            f"{path} is damaged, or of another version of Atoll",
            remedy="remove it and the generated files, keep app/, and run `atoll bsp` again",
        )
    files: Manifest = data["files"]
    return files


def _is_manifest(data: Any) -> bool:
    return (
        isinstance(data, dict)
        and data.get("format") == FORMAT
        and isinstance(data.get("files"), dict)
        and all(map(_are_sums, data["files"].values()))
    )


def _are_sums(paths: object) -> bool:
    return isinstance(paths, dict) and all(
        isinstance(digest, str) and is_path(PurePosixPath(name)) for name, digest in paths.items()
    )
