# SPDX-License-Identifier: Apache-2.0
"""Packages of others that add commands, doctor's checks and chip's checks may be broken."""

import importlib
import json
import re
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from atoll.bsp import doctor
from atoll.bsp.doctor import Check, diagnose
from atoll.cli import main
from atoll.diagnostics.errors import SimulationError, ToolchainError
from atoll.resolve import load_soc
from atoll_sim.backends.session import CpuKind

Package = Callable[..., None]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Package:
    """Install a package with one module and one entry point named ``extra`` in `group`."""

    def install(group: str, code: str, name: str = "extra", target: str = "call") -> None:
        module = f"theirs_{abs(hash((group, code, str(tmp_path))))}"
        (tmp_path / f"{module}.py").write_text(code)
        folder = tmp_path / f"{module}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        points = f"[{group}]\n{name} = {module}:{target}\n"
        (folder / "entry_points.txt").write_text(points)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


BROKEN = {
    "no module": "import nothing_like_it\n",
    "raises": "1 / 0\n",
    "says control characters": "raise ValueError('\\x1b[31mred\\u202e')\n",
    "syntax": "def call(:\n",
    "exits": "raise SystemExit(2)\n",
    "no attribute": "other = 1\n",
    "no function": "call = 3\n",
    "odd parameters": "def call(values: int | str): ...\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_command_leaves_the_others(
    name: str, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    package("atoll.commands", BROKEN[name])
    assert main(["schema", "build"]) == 0
    assert not capsys.readouterr().err, "who does not ask for it is not told"
    for arguments, status in ((["--help"], 0), (["extra"], 1)):
        assert main(arguments) == status
        said = capsys.readouterr()
        assert "note: command 'extra' is not available: 'theirs_" in said.err
        assert "Traceback" not in said.err
        assert not {"\x1b", "\u202e"} & {*said.err}
    assert "error[E090]: No such command 'extra'" in said.err


def test_a_command_of_a_package_is_in_the_help(
    package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    package("atoll.commands", 'def call() -> None:\n    """Count sheep."""\n')
    assert main(["--help"]) == 0
    assert re.search(r"\n  extra +Count sheep\.\n", capsys.readouterr().out)


@pytest.mark.parametrize("body", ["1 / 0", "raise FileNotFoundError('a')", "raise SystemExit(7)"])
def test_a_command_that_fails_is_one_error(
    body: str, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    package("atoll.commands", f"def call(number: int = 3) -> None:\n    {body}\n")
    assert main(["extra", "--number", "4"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("error[E111]: the command 'extra' of package 'theirs_")
    assert ".py, line 2)" in said


def test_a_command_that_works_and_its_status(
    package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import typer\ndef call(n: int = 3) -> None:\n    print(n)\n    raise typer.Exit(n)\n"
    package("atoll.commands", code)
    assert main(["extra", "--n", "4"]) == 4
    assert capsys.readouterr().out == "4\n"
    assert main(["extra", "--n", "x"]) == 1
    assert "E090" in capsys.readouterr().err


def theirs_alone(*, group: str) -> list[EntryPoint]:
    """Leave out the simulator's checks, which build a chip."""
    return [each for each in entry_points(group=group) if each.name == "extra"]


@pytest.mark.parametrize(
    "code",
    [*BROKEN.values(), "def call():\n    return [1]\n", "def call():\n    yield 1 / 0\n"],
)
def test_a_broken_check_of_doctor_is_a_check_that_fails(
    code: str, package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("atoll.doctor", code)
    monkeypatch.setattr(doctor, "entry_points", theirs_alone)
    (broken,) = (check for check in diagnose() if check.name == "plug-in extra")
    assert isinstance(broken, Check)
    assert not broken.ok
    assert "theirs_" in broken.found
    assert broken.remedy.startswith("correct or remove the package 'theirs_")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        *((code, "E111") for code in BROKEN.values() if code != BROKEN["odd parameters"]),
        ("def call(soc, deep):\n    return soc.absent\n", "E111"),
        ("def call(soc, deep):\n    return []\n", "E112"),
    ],
)
def test_a_broken_check_of_chips_is_one_error(
    code: str, error: str, package: Package, capsys: pytest.CaptureFixture[str]
) -> None:
    package("atoll.check", code)
    assert main(["check", "lagoon"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error[{error}]: plug-in 'theirs_")
    assert "Traceback" not in said
    assert main(["check", "lagoon", "--no-simulate"]) == 0


def test_check_says_what_it_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lagoon", "--json"]) == 0
    quick = json.loads(capsys.readouterr().out)["not_checked"]
    assert main(["check", "lagoon", "--json", "--no-simulate"]) == 0
    without = json.loads(capsys.readouterr().out)["not_checked"]
    assert "whether the RTL elaborates (atoll check --simulate)" in quick
    assert "whether the chip can be simulated" in without
    assert any("atoll doctor" in words for words in quick)


def test_without_a_simulator_none_can_be_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atoll.soc_checks.entry_points", lambda group: [])
    assert main(["check", "lagoon"]) == 0
    assert "whether the chip can be simulated" in capsys.readouterr().out
    assert main(["check", "lagoon", "--simulate"]) == 1
    assert "error[E090]: --simulate: no simulator is installed" in capsys.readouterr().err


def test_clocks_that_run_refuses_are_no_fault_of_a_chip_that_is_only_built(
    capsys: pytest.CaptureFixture[str],
) -> None:
    odd = ["check", "lagoon", "--set", "devices.npu.clock=1 MHz"]
    assert main(odd) == 1
    assert "error[E082]" in capsys.readouterr().err
    assert main([*odd, "--no-simulate"]) == 0


def test_check_says_who_can_play_the_cores(capsys: pytest.CaptureFixture[str]) -> None:
    """The verdicts are those of `run`: each kind's own check, its tools aside."""
    for chip in ("lagoon", "corstone300", "zynqmp", "quad"):
        assert main(["check", chip, "--json"]) == 0
        players = json.loads(capsys.readouterr().out)["players"]
        assert [each["cpu"] for each in players] == list(CpuKind)
        for each in players:
            if each["not_known"]:
                continue
            assert each["plays"] == (not each["why_not"])
            refused: tuple[dict[str, object], ...] = ()
            try:
                CpuKind[each["cpu"].upper()].check_chip(load_soc(chip))
            except SimulationError as error:
                refused = tuple(fault.to_json() for fault in error.faults)
            assert tuple(each["why_not"]) == refused
        able = ", ".join(each["cpu"] for each in players if each["plays"])
        assert main(["check", chip]) == 0
        said = capsys.readouterr().out
        assert f"\n\nruns with --cpu {able}\n" in said
        refusals = any(each["why_not"] for each in players)
        assert refusals == ("\ndoes not run with --cpu\n" in said)
        for each in players:
            assert not each["note"] or f"\n  {each['cpu']}: {each['note']}\n" in said
            for fault in each["why_not"]:
                assert f"\n  {each['cpu']}: {fault['message']}\n" in said


def test_without_a_tool_nobody_knows_what_it_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atoll_sim.qemu.supported.shutil.which", lambda program: None)
    assert main(["check", "corstone300", "--json"]) == 0
    players = json.loads(capsys.readouterr().out)["players"]
    assert [each["cpu"] for each in players if each["plays"]] == ["native"]
    (qemu,) = (each for each in players if each["plays"] is None)
    assert (qemu["cpu"], qemu["why_not"]) == ("qemu", [])
    assert main(["check", "corstone300"]) == 0
    said = capsys.readouterr().out
    assert f"\nnot known to run with --cpu\n  qemu: {qemu['not_known']}\n" in said
    assert "'qemu-system-arm', which is not on the PATH" in qemu["not_known"]
    with pytest.raises(ToolchainError):
        CpuKind.QEMU.check_chip(load_soc("corstone300"))


def test_without_the_simulator_nobody_knows_who_plays(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "lagoon", "--json", "--no-simulate"]) == 0
    assert json.loads(capsys.readouterr().out)["players"] is None
    assert main(["check", "lagoon", "--no-simulate"]) == 0
    assert "--cpu" not in capsys.readouterr().out
