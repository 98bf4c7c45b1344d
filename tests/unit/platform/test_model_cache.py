# SPDX-License-Identifier: Apache-2.0
"""A model is built once for each content, and again only if it is broken."""

import fcntl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atoll.diagnostics.errors import ToolchainError
from atoll.resolve import load_soc
from atoll.utils.cache import cache_folder
from atoll_sim.build import verilator
from atoll_sim.build.model import build_model
from atoll_sim.build.module import build_module
from atoll_sim.build.wave_formats import WaveFormat

SOC = load_soc("lagoon")


class Tools:
    """Stands in for Verilator, make and the compiler; leaves a file where make would."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failing = ""
        self.shared = 0

    def __call__(self, command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        self.calls.append(command[0])
        if command[0] == self.failing:
            return subprocess.CompletedProcess(command, 1, "", "line\n" * 100 + "the last word")
        if command[0] == "verilator":
            Path(command[command.index("-Mdir") + 1]).mkdir()
        if command[-1] == "shared":
            self.shared += 1
            assert nobody_else_may(cache_folder() / "runtime")
        if command[0] == "make" and "-n" not in command:
            Path(command[command.index("-C") + 1], "model").write_text("an executable")
        return subprocess.CompletedProcess(command, 0, "compiler 1.0\n", "")

    def builds(self) -> int:
        return self.calls.count("verilator")


def nobody_else_may(build: Path) -> bool:
    """Say whether another process would wait for a folder of shared objects."""
    (path,) = build.glob(".*.lock")
    with path.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Tools]:
    """Make up the tools; nothing that they say may stay for other tests."""
    tools = Tools()
    monkeypatch.setenv("CXX", "g++")  # so that no faster compiler is tried
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setattr("atoll_sim.build.tools.run", tools)
    verilator.version_of.cache_clear()
    yield tools
    verilator.version_of.cache_clear()


def test_a_second_call_builds_nothing(tools: Tools) -> None:
    lines: list[str] = []

    def tell(what: str, /, *, left: float | None = None) -> None:
        lines.append(what)

    first = build_model(SOC, progress=tell)
    assert [line.partition(": ")[2] for line in lines] == [
        "step 1 of 3, Verilator (kept for later runs)",
        "step 2 of 3, C++ compiler (kept for later runs)",
    ]
    assert build_model(SOC, progress=tell) == first
    assert (tools.builds(), len(lines)) == (1, 2)
    assert first.read_text() == "an executable"
    kept = [path.name for path in first.parent.parent.iterdir() if path.suffix != ".lock"]
    assert kept == [first.parent.name]


def test_other_content_is_another_model(tools: Tools) -> None:
    variants = {
        build_model(SOC),
        build_model(SOC, waves=WaveFormat.VCD),
        build_model(SOC, waves=WaveFormat.FST),
        build_model(SOC, external_host=True),
        build_model(load_soc("lagoon", ["memories.sram.banks=2"])),
    }
    assert (len(variants), tools.builds()) == (5, 5)


def test_modules_that_differ_in_parameters_share_the_runtime(tools: Tools, tmp_path: Path) -> None:
    rtl = [tmp_path / "top.sv"]
    rtl[0].write_text("module top #(parameter int Depth = 1); endmodule\n")
    one = build_module("top", rtl, {"Depth": 1}, {})
    shared = {*(tmp_path / "runtime").iterdir()}
    assert shared
    assert build_module("top", rtl, {"Depth": 2}, {}) != one
    assert tools.builds() == 2
    assert {*(tmp_path / "runtime").iterdir()} == shared


def test_what_models_share_is_compiled_by_one_process_once(tools: Tools) -> None:
    build_model(SOC)
    assert tools.shared == 1
    build_model(load_soc("lagoon", ["memories.sram.banks=2"]))
    assert (tools.shared, tools.builds()) == (1, 2)


@pytest.mark.parametrize("damage", ["truncated", "no marker", "odd marker", "no model"])
def test_a_broken_model_is_built_again(tools: Tools, damage: str) -> None:
    model = build_model(SOC)
    marker = model.parent / "complete.json"
    match damage:
        case "truncated":
            model.write_text("an exec")
        case "no marker":
            marker.unlink()
        case "odd marker":
            marker.write_text("[1")
        case _:
            model.unlink()
    assert build_model(SOC).read_text() == "an executable"
    assert tools.builds() == 2


@pytest.mark.parametrize("tool", ["verilator", "make"])
def test_a_failing_tool_is_named_with_its_last_words(tools: Tools, tool: str) -> None:
    tools.failing = tool
    with pytest.raises(ToolchainError, match=f"'{tool}' failed") as caught:
        build_model(SOC)
    (fault,) = caught.value.faults
    assert fault.code == "E077"
    assert fault.message.endswith("the last word")
    assert len(fault.message.splitlines()) < 40
    tools.failing = ""
    assert build_model(SOC).is_file()


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolchainError, match="cannot run 'no-such-compiler'") as caught:
        build_model(SOC)
    assert caught.value.faults[0].code == "E070"
