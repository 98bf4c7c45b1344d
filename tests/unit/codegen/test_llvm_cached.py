"""Kernels that are compiled once: the code is kept, and made again when the file is damaged."""

from pathlib import Path

import pytest

from atoll.codegen.llvm_cached import CachedKernel
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add
from atoll.ir.tir import Direction, PrimFunc, Type


def successor() -> PrimFunc:
    builder = FunctionBuilder("successor")
    given = builder.buffer("given", Type.I64, 4, Direction.READ)
    made = builder.buffer("made", Type.I64, 4, Direction.WRITE)
    with builder.loop("index", 0, 4) as index:
        made[index] = add(given[index], 1)
    return builder.kernel()


def results() -> list[int]:
    kernel = CachedKernel(successor())
    arrays = {name: kernel.memory(name) for name in ("given", "made")}
    arrays["given"][:] = [1, 2, 3, 1 << 40]
    kernel(arrays)
    made: list[int] = arrays["made"].tolist()
    return made


EXPECTED = [2, 3, 4, (1 << 40) + 1]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    return tmp_path / "kernels"


def test_the_code_is_kept_and_used_again(kept: Path) -> None:
    assert results() == EXPECTED
    (code,) = kept.glob("successor-*.o")
    written = code.stat().st_mtime_ns
    assert results() == EXPECTED
    assert code.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", [b"", b"no code at all", None])
def test_damaged_code_is_made_again(kept: Path, damage: bytes | None) -> None:
    results()
    (code,) = kept.glob("successor-*.o")
    whole = code.read_bytes()
    code.write_bytes(whole[:-9] if damage is None else damage)
    assert results() == EXPECTED
    assert code.read_bytes() == whole


def test_without_a_cache_the_code_is_made_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "file"))
    assert results() == EXPECTED
