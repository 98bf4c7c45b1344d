# SPDX-License-Identifier: Apache-2.0
"""Write files and folders whole or not at all."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from atoll.diagnostics.errors import UsageError
from atoll.utils.held import held_file, held_folder

DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What a write that was begun can still meet: a full, limited, locked or failing disk."""


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` under a temporary name, then rename it to `path`.

    Raises:
        UsageError: E092, `path` is a folder or a device, or its folder is not writable.
    """
    with _beside(path) as (temporary, target):
        temporary.write_bytes(data)
        temporary.chmod(0o644)
        temporary.replace(target)


SOURCES = (
    *(".c", ".cpp", ".dts", ".dtsi", ".h", ".py", ".sv", ".svh", ".v", ".yaml", ".yml"),
    *(".onnx", ".tflite"),
)
"""Suffixes of files that people write; no result takes the place of one."""


def is_no_source(path: Path) -> bool:
    """Tell whether a result may take the place of a file, by its name."""
    return path.suffix.lower() not in SOURCES


def require_writable(path: Path, ours: Callable[[Path], bool] = is_no_source) -> None:
    """Refuse a file that `write_bytes` could not or should not write, before the work for it.

    Args:
        path: of the file.
        ours: whether a file that is there, without links, may be replaced.

    Raises:
        UsageError: E091, the file there is none of ours; E092, it cannot be written.
    """
    with _beside(path) as (_, target):
        if target.is_file() and target.stat().st_size and not ours(target):
            raise UsageError(
                "E091",
                f"{path} exists, and this command did not make it",
                remedy="name another file, or remove this one yourself",
            )


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield an empty file that becomes `path` when the block ends without an error.

    Raises:
        UsageError: E092, see `write_bytes`.
    """
    with _temporary(path) as (temporary, target):
        try:
            yield temporary
        except OSError as fault:
            if fault.errno not in DISK_FAULTS:
                raise
            raise unwritable(path, OSError(fault.errno, os.strerror(fault.errno))) from fault
        _rename(temporary, target, path)


@contextmanager
def _beside(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield an empty file in the folder of `path`, and `path` without links."""
    with _temporary(path) as (temporary, target):
        try:
            yield temporary, target
        except OSError as fault:
            raise unwritable(path, fault) from fault


@contextmanager
def _temporary(path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield an empty file in the folder of `path`, and `path` without links."""
    with ExitStack() as stack:
        try:
            target = _real(path)
            if target.exists() and not target.is_file():
                raise unwritable(path, OSError(errno.EINVAL, "it is not a regular file"))
            temporary = stack.enter_context(held_file(target.parent, f".{target.name}"))
        except OSError as fault:
            raise unwritable(path, fault) from fault
        yield temporary, target


def _rename(temporary: Path, target: Path, path: Path) -> None:
    try:
        temporary.chmod(0o644)
        temporary.replace(target)
    except OSError as fault:
        raise unwritable(path, fault) from fault


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    write_bytes(path, text.encode())


def unwritable(path: Path, fault: OSError) -> UsageError:
    """Describe why `path` cannot be written."""
    return UsageError(
        "E092",
        f"cannot write {path}: {fault.strerror or fault}",
        remedy="free some space, or choose another place"
        if fault.errno in DISK_FAULTS
        else "choose a folder that exists and that you may write to",
    )


@contextmanager
def new_folder(target: Path, *, marker: str) -> Iterator[Path]:
    """Fill a temporary folder that replaces `target` when the block ends without an error.

    Args:
        target: the folder to make; replaced only if it holds `marker` or nothing.
        marker: name of a file that says that the folder is ours.

    Raises:
        UsageError: E091, `target` is something else; E092, it cannot be written.
    """
    place = _real(target)
    try:
        if place.exists() and not _replaceable(place, marker):
            raise UsageError(
                "E091",
                f"{target} exists and was not made by Atoll: it has no {marker}",
                remedy="choose another folder, or remove this one yourself",
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        stack = ExitStack()
        temporary = stack.enter_context(held_folder(place.parent, f".{place.name}"))
    except OSError as fault:
        raise unwritable(target, fault) from fault
    try:
        yield temporary
        _swap(temporary, place)
    except OSError as fault:
        if fault.errno in DISK_FAULTS:
            raise unwritable(target, fault) from fault
        raise
    finally:
        stack.close()


def _real(path: Path) -> Path:
    """Return where `path` leads; unlike `Path.resolve`, accept links that form a loop."""
    return Path(os.path.realpath(path))


def _swap(fresh: Path, target: Path) -> None:
    old = fresh.with_name(f"{fresh.name}.old")
    try:
        fresh.chmod(0o755)
        if target.exists():
            target.replace(old)
        fresh.replace(target)
    except OSError as fault:
        raise unwritable(target, fault) from fault
    shutil.rmtree(old, ignore_errors=True)


def _replaceable(target: Path, marker: str) -> bool:
    return target.is_dir() and ((target / marker).is_file() or not any(target.iterdir()))
