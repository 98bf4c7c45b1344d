# SPDX-License-Identifier: Apache-2.0
"""Write a package beside what the user made of it, and tell whether it is still the chip's."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from atoll.diagnostics.errors import Fault, UsageError
from atoll.records import dataclass
from atoll.utils.files import write_bytes, write_text
from atoll_board.manifest import (
    MANIFEST,
    Manifest,
    digest_of,
    manifest_text,
    read_manifest,
    require_package,
)
from atoll_board.package import Entry

Files = Mapping[str, Mapping[str, Entry]]
"""Files by path, by emitter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of the files of a package.

    Attributes:
        written: paths of files that are new or changed.
        same: paths of files that were as they should be.
        kept: paths of the user's files that were there.
        removed: paths of files that no emitter makes any more.
    """

    written: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def write_package(soc: str, files: Files, folder: Path) -> Written:
    """Write what is new, leave the user's files, remove what is no longer made.

    Args:
        soc: name of the chip.
        files: those of some emitters; what others wrote before stays.
        folder: a new or empty one, or one that this function wrote.

    Raises:
        UsageError: E090, there is nothing to write; E091, the folder is something else; E092, it
            cannot be written; E127, a generated file was edited; E128, the manifest cannot be read.
    """
    before = read_manifest(folder)
    made = _by_path(files)
    if not made and not before:
        message = f"chip '{soc}' has nothing that is asked for"
        raise UsageError("E090", message, remedy="leave --only out, or name other parts")
    _refuse_edits(made, before, folder)
    written, same, kept = [], [], []
    for path, entry in sorted(made.items()):
        target = folder / path
        if digest_of(target) == entry.digest:
            same.append(path)
        elif entry.kept and target.exists():
            kept.append(path)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(target, entry.data)
            written.append(path)
    removed = tuple(_remove(_stale(files, before), folder))
    write_text(folder / MANIFEST, manifest_text(soc, {**before, **_sums(files)}))
    return Written(written=tuple(written), same=tuple(same), kept=tuple(kept), removed=removed)


def require_same(files: Files, folder: Path) -> None:
    """Refuse generated files in a folder that are not what the description makes.

    Raises:
        UsageError: E091, no package is there; E128, its manifest cannot be read; E129, for each
            file that differs, is missing or is no longer made.
    """
    require_package(folder)
    faults = []
    for path, entry in sorted(_by_path(files).items()):
        target = folder / path
        if not target.exists():
            faults.append(_differs(f"{target} is missing"))
        elif not entry.kept and digest_of(target) != entry.digest:
            faults.append(_differs(f"{target} is not what the description makes"))
    faults += [
        _differs(f"{folder / path} is no longer made")
        for path in sorted(_stale(files, read_manifest(folder)))
    ]
    if faults:
        raise UsageError.all(faults)


def _by_path(files: Files) -> Mapping[str, Entry]:
    return {path: entry for each in files.values() for path, entry in each.items()}


def _sums(files: Files) -> Manifest:
    return {
        emitter: {path: entry.digest for path, entry in entries.items() if not entry.kept}
        for emitter, entries in files.items()
    }


def _stale(files: Files, before: Manifest) -> Mapping[str, str]:
    """Return the digest by path of what these emitters made before and make no more."""
    made = _by_path(files)
    return {
        path: digest
        for emitter in files
        for path, digest in before.get(emitter, {}).items()
        if path not in made
    }


def _refuse_edits(made: Mapping[str, Entry], before: Manifest, folder: Path) -> None:
    """Refuse to write over a generated file that was edited."""
    sums = {path: digest for paths in before.values() for path, digest in paths.items()}
    edited = [
        path
        for path, entry in sorted(made.items())
        if not entry.kept
        and (folder / path).exists()
        and digest_of(folder / path) not in {sums.get(path), entry.digest}
    ]
    if edited:
        remedy = "move the edit to a file of app/ or to the description, and remove this file"
        raise UsageError.all(
            Fault(code="E127", message=f"{folder / path} was edited by hand", remedy=remedy)
            for path in edited
        )


def _remove(stale: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Remove files that nobody edited; yield their paths."""
    for path, digest in sorted(stale.items()):
        if digest_of(folder / path) == digest:
            (folder / path).unlink()
            yield path


def _differs(message: str) -> Fault:
    return Fault(code="E129", message=message, remedy="run `atoll bsp` without --check")
