# SPDX-License-Identifier: Apache-2.0
"""What is kept in the cache is whole, or made again."""

import os
from pathlib import Path

import pytest

from atoll.utils.kept import keep_made, name_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def never() -> bytes:
    pytest.fail("made again")


def test_what_is_kept_is_not_made_again(folder: Path) -> None:
    assert keep_made("a/b", lambda: b"bytes") == b"bytes"
    assert keep_made("a/b", never) == b"bytes"
    assert keep_made("a/c", lambda: b"") == b""
    assert keep_made("a/c", never) == b""
    assert sorted(path.name for path in (folder / "a").iterdir()) == ["b", "c"]


def test_what_is_damaged_is_made_again(folder: Path) -> None:
    keep_made("a", lambda: b"some bytes")
    path = folder / "a"
    whole = path.read_bytes()
    for damaged in (whole.replace(b"some", b"same"), whole[:-1], whole[:10], b""):
        assert damaged != whole
        path.write_bytes(damaged)
        assert keep_made("a", lambda: b"some bytes") == b"some bytes"
        assert path.read_bytes() == whole


def test_the_oldest_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("atoll.utils.kept.MOST", 8)
    for number in range(8):
        keep_made(f"a/{number}", lambda: b"bytes")
        os.utime(folder / "a" / str(number), (number, number))
    assert len([*(folder / "a").iterdir()]) == 8
    keep_made("a/8", lambda: b"bytes")
    assert sorted(path.name for path in (folder / "a").iterdir()) == [*"345678"]


def test_a_cache_that_takes_nothing_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file"))
    assert keep_made("a", lambda: b"bytes") == b"bytes"


def test_a_name_depends_on_each_part_and_on_where_it_ends() -> None:
    names = {name_of("ab", "c"), name_of("a", "bc"), name_of("abc"), name_of("ab", "c", "")}
    assert len(names) == 4
    assert name_of("ab", b"c") == name_of(b"ab", "c")
