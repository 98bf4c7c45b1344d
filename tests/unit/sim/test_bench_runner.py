# SPDX-License-Identifier: Apache-2.0
"""The verdict of a cocotb bench, with scripts in the place of Verilator and of the model."""

import os
from pathlib import Path

import pytest
from tests.benches import runner

from atoll.diagnostics.errors import ToolchainError
from atoll_sim.build import tools as build_tools

PASSED = '<testsuite><testcase name="resets"/></testsuite>'
FAILED = (
    '<testsuite><testcase name="resets"/><testcase name="stalls"><failure/></testcase></testsuite>'
)


def script(path: Path, text: str) -> Path:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOLL_CACHE", str(tmp_path / "cache"))


def use_model(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every bench run on a model that is a shell script."""
    model = script(folder / "model", text)
    monkeypatch.setattr(runner, "build_model", lambda *arguments: model)


def test_a_bench_that_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(f"echo '{PASSED}' > results.xml", tmp_path, monkeypatch)
    runner.run_bench("any", "top", ())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"echo '{FAILED}' > results.xml", "1 of 2 tests of bench 'any' failed (status 0): stalls"),
        (f"echo '{PASSED}' > results.xml; exit 6", "0 of 1 tests of bench 'any' failed (status 6)"),
        ("echo no tests", "0 of 0 tests of bench 'any' failed (status 0)"),
    ],
    ids=["a failed test", "an assertion", "no test"],
)
def test_a_bench_that_fails(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_model(f"echo said; {text}", tmp_path, monkeypatch)
    with pytest.raises(runner.BenchError) as caught:
        runner.run_bench("any", "top", ())
    said, _, log = str(caught.value).partition("; read the log in ")
    assert said == words
    assert "said" in Path(log).read_text()


def test_sources_that_verilator_rejects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "verilator", "echo '%Error: top.sv:1:1: syntax error'; exit 1")
    search = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    monkeypatch.setattr(
        build_tools, "verilator_environment", lambda: {**os.environ, "PATH": search}
    )
    monkeypatch.setenv("PATH", search)
    with pytest.raises(ToolchainError, match=r"while building 'top' .*\n.*syntax error") as caught:
        runner.build_model("top", (), {})
    assert caught.value.faults[0].code == "E077"
