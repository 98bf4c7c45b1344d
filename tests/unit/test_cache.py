# SPDX-License-Identifier: Apache-2.0
"""Where the cache lies: where the user says, else where the system keeps caches."""

import sys
from pathlib import Path

import pytest

from atoll.utils.cache import cache_folder


def test_the_cache_lies_where_the_user_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ATOLL_CACHE", "here")
    assert cache_folder() == tmp_path / "here"


@pytest.mark.skipif(sys.platform != "linux", reason="the names are those of Linux")
def test_the_cache_lies_where_linux_keeps_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ATOLL_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "atoll"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    assert cache_folder() == tmp_path / "caches" / "atoll"
