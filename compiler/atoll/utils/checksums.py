# SPDX-License-Identifier: Apache-2.0
"""Note what files held, and tell later which of them were changed: the format of ``sha256sum``."""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from atoll.utils.files import write_text

CHECKSUMS = "checksums.txt"


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write what the files `names` of `folder` hold now into its ``checksums.txt``."""
    write_text(folder / CHECKSUMS, "".join(f"{_digest(folder / name)}  {name}\n" for name in names))


def find_altered(folder: Path, names: Iterable[str]) -> Iterator[str]:
    """Yield those of `names` that are missing, unlisted, or not as ``checksums.txt`` has them."""
    noted = _read(folder / CHECKSUMS)
    for name in names:
        try:
            if noted.get(name) != _digest(folder / name):
                yield name
        except OSError:
            yield name


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _read(path: Path) -> Mapping[str, str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    rows = (line.partition("  ") for line in lines)
    return {name: digest for digest, _, name in rows}
