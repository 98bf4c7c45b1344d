# SPDX-License-Identifier: Apache-2.0
"""The compiled search: built once, kept whole in the cache, and done without where it cannot be."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from random import Random
from typing import Any

import pytest
from benchmarks.random_cuts import random_cuts

from atoll.memory import search_native
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import solve
from atoll.utils.children import Done
from atoll.utils.tools import run_tool

HARD = random_cuts(40, 1 << 12, 0.5, Random(1), slack=1.0)


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return the commands that compile, with an empty cache and nothing loaded."""
    commands: list[tuple[str, ...]] = []

    def recorded(command: tuple[str, ...], **more: Any) -> Done:
        commands.append(command)
        return run_tool(command, **more)

    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setattr(search_native, "run_tool", recorded)
    search_native.machine_code.cache_clear()
    return commands


def kept(tmp_path: Path) -> Path:
    (library,) = (tmp_path / "kernels").glob("search-*.so")
    return library


@pytest.mark.usefixtures("compiled")
def test_a_small_problem_compiles_nothing(tmp_path: Path) -> None:
    easy = solve(random_cuts(8, 1 << 12, 0.0, Random(1)))
    assert isinstance(easy, MemoryPlan)
    assert not (tmp_path / "kernels").exists()


def test_it_is_compiled_once(compiled: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert isinstance(solve(HARD), MemoryPlan)
    assert len(compiled) == 1
    search_native.machine_code.cache_clear()
    assert search_native.machine_code() is not None
    assert len(compiled) == 1
    assert kept(tmp_path).stat().st_size < 1 << 16


@pytest.mark.parametrize("keep", [0, 20, -1])
def test_a_file_that_is_not_whole_is_made_again(
    compiled: list[tuple[str, ...]], tmp_path: Path, keep: int
) -> None:
    assert search_native.machine_code() is not None
    whole = kept(tmp_path).read_bytes()
    broken = kept(tmp_path)
    broken.unlink()
    broken.write_bytes(whole[:keep])
    search_native.machine_code.cache_clear()
    assert search_native.machine_code() is not None
    assert len(compiled) == 2
    assert broken.read_bytes() == whole


def test_without_a_compiler_the_plan_is_the_same(
    compiled: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = solve(HARD)

    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(search_native, "version", missing)
    search_native.machine_code.cache_clear()
    assert solve(HARD) == expected
    assert search_native.machine_code() is None
    assert len(compiled) == 1


def test_a_compiler_that_fails_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = tmp_path / "wrong.c"
    wrong.write_text("int no(")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setattr(search_native, "SOURCE", wrong)
    search_native.machine_code.cache_clear()
    assert search_native.machine_code() is None


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file" / "cache"))
    search_native.machine_code.cache_clear()
    assert search_native.machine_code() is None


@pytest.fixture(autouse=True)
def as_before() -> Any:
    """Leave nothing loaded from a folder that is gone."""
    yield
    search_native.machine_code.cache_clear()
