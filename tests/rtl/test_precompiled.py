# SPDX-License-Identifier: Apache-2.0
"""Headers are read once for all models: again if they changed, and not at all if that fails."""

from pathlib import Path

import pytest

from atoll_sim.build import precompiled as module
from atoll_sim.build.precompiled import precompile
from atoll_sim.build.tools import call_tool, faster_compiler, verilator_environment

OPTIONS = ("-include-pch", "headers.pch", "-Xclang", "-fno-validate-pch")
SOURCE = "VerilatedContext context;\nint vpi = vpiModule;\n"
"""Includes nothing."""

pytestmark = pytest.mark.rtl


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compile as the makefile of a model does."""
    clang = faster_compiler()
    if not clang:
        pytest.skip("needs the clang of ziglang and g++")
    monkeypatch.setattr(module, "_USABLE", set())
    (tmp_path / "Vtop.mk").write_text(
        "source.o: source.cpp\n\t$(CXX) $(OPT_FAST) $(CXXFLAGS) -c -o $@ $<\n"
    )
    (tmp_path / "source.cpp").write_text(SOURCE)
    include = f"{verilator_environment()['VERILATOR_ROOT']}/include"
    flags = f"CXXFLAGS=-MMD -std=c++20 -I{include} -I{include}/vltstd"
    return ["make", "-C", str(tmp_path), "-f", "Vtop.mk", "OPT_FAST=-O1", *clang, flags]


def test_headers_are_read_once(tmp_path: Path, make: list[str]) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()

    def read() -> int:
        (tmp_path / "headers.pch").unlink(missing_ok=True)
        assert precompile(tmp_path, shared, make, "a test") == OPTIONS
        (tmp_path / "source.o").unlink(missing_ok=True)
        call_tool([*make, f"OPT_FAST=-O0 {' '.join(OPTIONS)}", "source.o"], "a test")
        return (shared / "headers.pch").stat().st_ino

    first = read()
    assert read() == first
    module._USABLE.clear()
    assert read() == first
    module._USABLE.clear()
    (shared / "headers.pch").write_bytes(b"CPCH of another time")
    assert read() != first


def test_a_model_is_built_without_them(tmp_path: Path, make: list[str]) -> None:
    broken = [word for word in make if not word.startswith("CXXFLAGS=")]
    assert precompile(tmp_path, tmp_path, broken, "a test") == ()
