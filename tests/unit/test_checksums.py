# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.utils.checksums import CHECKSUMS, find_altered, write_checksums

NAMES = ("a.txt", "b.bin")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two files and their checksums."""
    (tmp_path / "a.txt").write_text("text\n")
    (tmp_path / "b.bin").write_bytes(bytes(range(256)))
    write_checksums(tmp_path, NAMES)
    return tmp_path


def test_nothing_changed(folder: Path) -> None:
    assert list(find_altered(folder, NAMES)) == []


def test_a_changed_and_a_missing_file(folder: Path) -> None:
    (folder / "a.txt").write_text("text")
    assert list(find_altered(folder, NAMES)) == ["a.txt"]
    (folder / "b.bin").unlink()
    assert list(find_altered(folder, NAMES)) == ["a.txt", "b.bin"]


def test_a_file_that_was_never_noted(folder: Path) -> None:
    (folder / "c").write_text("")
    assert list(find_altered(folder, ("a.txt", "c"))) == ["c"]


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe", b"nothing\n\n  "])
def test_damaged_checksums_vouch_for_nothing(content: bytes | None, folder: Path) -> None:
    (folder / CHECKSUMS).unlink()
    if content is not None:
        (folder / CHECKSUMS).write_bytes(content)
    assert list(find_altered(folder, NAMES)) == list(NAMES)


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_sha256sum_agrees(folder: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--quiet", CHECKSUMS], cwd=folder, check=True)
