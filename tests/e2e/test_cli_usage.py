# SPDX-License-Identifier: Apache-2.0
"""Arguments that make no sense, help, version, and the promise of `--json`."""

import json
from pathlib import Path

import pytest

from atoll import __version__
from atoll.cli import main, working

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
NATIVE = ["run", "lagoon", DIGITS, "--cpu", "native", "--accelerator", "model"]
COMMANDS = (
    *("accelerator", "check", "check-image", "explain", "plan", "schema", "new", "build", "doctor"),
    *(
        "core",
        "bsp",
        "estimate",
        "import",
        "lsp",
        "operators",
        "opt",
        "diff",
        "prove",
        "report",
        "run",
        "run-image",
        "export-rtl",
        "selftest",
        "serve",
        "simulate",
        "sweep",
        "validate",
    ),
)

MISUSES: tuple[tuple[list[str], str, str], ...] = (
    (["chek"], "'chek'", "atoll --help"),
    (["--verbose", "check"], "--verbose", "atoll --help"),
    (["check"], "SOC", "atoll check --help"),
    (["check", "lagoon", "more"], "more", "atoll check --help"),
    (["check", "lagoon", "--jason"], "--jason", "atoll check --help"),
    (["check", "lagoon", "--set"], "--set", "atoll --help"),
    (["build", "lagoon", "m.tflite"], "--output", "atoll build --help"),
    (["run", "lagoon", "m.tflite", "--cpu", "fpga"], "'rtl', 'iss', 'qemu'", "atoll run --help"),
    (["accelerator", "try", "reef"], "'test'", "atoll accelerator --help"),
    (["accelerator", "test"], "ACCELERATOR", "atoll accelerator --help"),
    (["core", "try", "ibex"], "'test'", "atoll core --help"),
    (["core", "test"], "CORE", "atoll core --help"),
    (["run-image", "lagoon"], "IMAGE", "atoll run-image --help"),
    (["report"], "SOC", "atoll report --help"),
    (["serve"], "SOC", "atoll serve --help"),
    (["selftest"], "LOG", "atoll selftest --help"),
    (["simulate"], "DIR", "atoll simulate --help"),
    (["validate", "lagoon"], "MODEL", "atoll validate --help"),
    (["validate", "lagoon", "m.tflite", "--mutants", "-1"], "--mutants", "atoll validate --help"),
    (["validate", "lagoon", "m.tflite", "--jobs", "0"], "--jobs", "atoll validate --help"),
)


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must succeed silently but for its output, and return that."""
    capsys.readouterr()
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize(("arguments", "words", "remedy"), MISUSES, ids=str)
def test_misuse(
    arguments: list[str], words: str, remedy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    first, second = captured.err.splitlines()
    assert first.startswith("error[E090]: ")
    assert words in first
    assert second == f"  help: see {remedy}"


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_the_overview_names_every_command(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(arguments, capsys)
    listed = [line.split()[0] for line in text.partition("Commands:")[2].splitlines() if line]
    assert sorted(listed) == sorted(COMMANDS)
    assert "..." not in text.partition("Commands:")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed([command, "--help"], capsys)
    usage, _, rest = text.partition("\n\n")
    assert usage.startswith(f"Usage: atoll {command} [OPTIONS]")
    assert rest.lstrip().split(".")[0] in printed(["--help"], capsys)
    if command != "doctor":
        assert f"Example: atoll {command} " in text


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("run", "--cpu <rtl|iss|qemu|native> [default: rtl]"),
        ("run", "--accelerator none|[NAME=]rtl|model"),
        ("run", "--input FILE default: a seeded random one"),
        ("run", "--keep DIR"),
        ("run", "--json"),
        ("new", "--output FILE default: by the name"),
        ("schema", "[default: soc]"),
        ("build", "--toolchain NAME default: the description's"),
        ("build", "--dump-after STAGE frontend, place, lower, overlap-runs, memory."),
    ],
)
def test_help_names_options_and_defaults(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(printed([command, "--help"], capsys).split())
    assert all(word in text for word in words.split())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(["--version"], capsys) == f"atoll {__version__}\n"


def test_check_ends_with_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(["check", "lagoon"], capsys).endswith("\n\nlagoon: no faults\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "lagoon", "--json"],
        ["explain", "atoll2", "--json"],
        ["schema"],
        ["schema", "accelerator"],
        [*NATIVE, "--json"],
        ["run", "lagoon", DIGITS, "--cpu", "native", "--accelerator", "none", "--json"],
    ],
    ids=lambda arguments: "-".join(arguments[0:1] + arguments[-2:]),
)
def test_json_is_one_object_and_nothing_else(
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(working, "SECONDS_BETWEEN", 1e9)
    assert isinstance(json.loads(printed(arguments, capsys)), dict)


@pytest.mark.slow
def test_doctor_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["doctor", "--json"])
    found = json.loads(capsys.readouterr().out)
    required = [check["ok"] for check in found["checks"] if check["required"]]
    assert found["ok"] is all(required)
    assert status == (0 if found["ok"] else 1)


def test_the_object_of_a_run_has_the_promised_keys(capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(printed([*NATIVE, "--json"], capsys))
    assert {"soc", "model", "samples", "bit_exact", "layers_compared"} <= report.keys()
    assert {
        "layers_equal",
        "placement",
        "stack",
        "pools",
        "cycles",
        "wall_seconds",
    } <= report.keys()
    assert report["placement"]["violations"] == []
    assert {"accesses", "violations"} <= report["placement"].keys()
    figures = {"size_bytes", "used_bytes", "peak_bytes", "bound_bytes"}
    assert all(figures <= use.keys() for use in report["pools"].values())
    figures = {"bound_bytes", "watermark_bytes", "limit_bytes"}
    assert all(figures <= use.keys() for use in report["stack"].values())
    assert {"total", "cpu", "npu", "by_layer"} <= report["cycles"].keys()


@pytest.mark.parametrize("size", ["244 KiB", "1 KiB"], ids=("whole", "in stripes"))
def test_a_dumped_stage_is_all_that_a_build_prints(
    size: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    asked = ["build", "lagoon", DIGITS, "-o", str(folder), "--set", f"pools.shared.size={size}"]
    assert main([*asked, "--dump-after", "memory"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "plan.json").read_text())
