# SPDX-License-Identifier: Apache-2.0
"""Shells complete chips, and the names of the chip and the network that are typed already."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
CHIPS = sorted(path.stem for path in (Path(__file__).parents[2] / "socs").glob("*.yaml"))
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
TARGETS = str(ROOT / "tests" / "data" / "targets.yaml")
ISLANDS = str(ROOT / "tests" / "data" / "islands.yaml")


@pytest.fixture(autouse=True)
def _any_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")


def offered(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """Return what bash offers for the last of the words."""
    monkeypatch.setenv("_ATOLL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(["atoll", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    assert main([]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["ch"], ["check", "check-image"]),
        (["check", "la"], ["lagoon"]),
        (["plan", "lagoon", DIGITS, "--pin", "image=shared,p"], ["image=shared,private"]),
        (
            ["plan", "lagoon", DIGITS, "--scope", "image=global.s"],
            ["image=global.stack", "image=global.shared"],
        ),
        (["plan", "lagoon", DIGITS, "--set-scope", "softmax_9=l"], ["softmax_9=local"]),
        (["plan", "lagoon", "--pin-role", "inputs=w"], ["inputs=weights"]),
        (["plan", TARGETS, DIGITS, "--target", "softmax_9", "="], ["plain", "small", "own"]),
        (["plan", TARGETS, DIGITS, "--target", "softmax_9", "=", "p"], ["plain"]),
        (["run", ""], CHIPS),
        (["run", "t"], ["twin"]),
        (["new", "mine", "--core", "ib"], ["ibex"]),
        (["run", "stm32h747", DIGITS, "--place", "softmax_9", "="], ["cm4", "cm7"]),
        (["plan", "tw"], ["twin"]),
        (["check", "./la"], []),
        (["plan", "lagoon", "examples/"], []),
        (["run", "lagoon", DIGITS, "--place", "softmax"], ["softmax_9=cpu", "softmax_9=npu"]),
        (["run", "lagoon", DIGITS, "--place", "softmax_9", "="], ["cpu", "npu"]),
        (["run", "twin", DIGITS, "--place", "softmax_9", "=", "d"], ["dsp"]),
        (["plan", "lagoon", DIGITS, "--pin", "softmax_9_out", "=", "s"], ["shared"]),
        (["plan", "lagoon", DIGITS, "--pin", "image", "=", "shared", ":", "o"], ["out"]),
        (["plan", "lagoon", DIGITS, "--free", "softmax"], ["softmax_9_out"]),
        (["explain", "lagoon", DIGITS, "--buffer", "im"], ["image"]),
        (["simulate", "build", "--waves-operator", ""], []),
        (["run", "lagoon", DIGITS, "--waves-operator", "so"], ["softmax_9"]),
        (["check", "lagoon", "--set", "memories.flash.o"], ["memories.flash.origin="]),
        (["build", "lagoon", DIGITS, "--dump-after", "spe"], ["specialize-storage"]),
        (["build", "lagoon", DIGITS, "--toolchain", ""], ["clang", "gcc", "zig"]),
        (["schema", "run-o"], ["run-output"]),
        (["run", "no_chip", DIGITS, "--pin", "image", "="], []),
        (["run", "lagoon", "no_network.tflite", "--free", ""], []),
    ],
    ids=lambda value: "-".join(value[-3:]).replace("/", "_")[-40:],
)
def test_bash(
    words: list[str],
    wanted: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert offered(words, monkeypatch, capsys) == wanted


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(
    shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_ATOLL_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"atoll plan lagoon {DIGITS} --pin image=sh")
    assert main([]) == 0
    assert "image=shared" in capsys.readouterr().out


@pytest.mark.parametrize(("word", "status"), [("image=sh", 0), ("image=x", 1)])
def test_fish_asks_whether_there_is_anything(
    word: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_ATOLL_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "is-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"atoll plan lagoon {DIGITS} --pin {word}")
    assert main([]) == status


def test_names_that_shells_would_evaluate_are_not_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "$(touch x).yaml").write_text("soc: x")
    monkeypatch.chdir(tmp_path)
    assert offered(["check", "$"], monkeypatch, capsys) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-completion", shell]) == 0
    assert "_ATOLL_COMPLETE" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_in_a_real_bash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--show-completion", "bash"]) == 0
    program = tmp_path / "atoll"
    lines = f"#!{sys.executable}\nimport sys\nfrom atoll.cli import main\nsys.exit(main())\n"
    program.write_text(lines)
    program.chmod(0o755)
    script = capsys.readouterr().out + (
        f"COMP_WORDS=(atoll run lagoon {DIGITS} --place softmax_9 = np); COMP_CWORD=7\n"
        f"_atoll_completion {program}; printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    )
    found = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True
    )
    assert (found.stdout, found.stderr) == ("npu\n", "")
