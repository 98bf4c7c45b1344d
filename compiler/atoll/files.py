"""Write files and folders whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atoll.errors import UsageError


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` under a temporary name, then rename it to `path`.

    Raises:
        UsageError: the folder is missing or not writable.
    """
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            file.write(data)
        temporary = Path(file.name)
        temporary.chmod(0o644)
        temporary.replace(path)
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
        remedy="choose a folder that exists and that you may write to",
    )


@contextmanager
def new_folder(target: Path, *, marker: str) -> Iterator[Path]:
    """Fill a temporary folder that replaces `target` when the block ends without an error.

    Args:
        target: the folder to make; an existing one is replaced only if it holds `marker` or nothing.
        marker: name of a file that says that the folder is ours.

    Raises:
        UsageError: `target` is something else, or its parent is not writable.
    """
    target = target.absolute()
    if target.exists() and not _replaceable(target, marker):
        raise UsageError(
            "E091",
            f"{target} exists and was not made by Atoll: it has no {marker}",
            remedy="choose another folder, or remove this one yourself",
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    except OSError as fault:
        raise unwritable(target, fault) from fault
    try:
        yield temporary
        temporary.chmod(0o755)
        _swap(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _swap(fresh: Path, target: Path) -> None:
    old = fresh.with_name(f"{fresh.name}.old")
    if target.exists():
        target.replace(old)
    fresh.replace(target)
    shutil.rmtree(old, ignore_errors=True)


def _replaceable(target: Path, marker: str) -> bool:
    return target.is_dir() and ((target / marker).is_file() or not any(target.iterdir()))
