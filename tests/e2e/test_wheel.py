# SPDX-License-Identifier: Apache-2.0
"""The wheel holds all that Atoll needs, and works where no checkout is."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
PLACES = {
    **{f"compiler/{path.name}": path.name for path in (ROOT / "compiler").glob("atoll*")},
    "hw_sim/atoll_sim": "atoll_sim",
    "socs": "atoll/share/socs",
    "schemas": "atoll/share/schemas",
}

Run = Callable[..., str]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(folder)], check=True, cwd=folder)
    (built,) = folder.glob("atoll-*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's content, to put in front of the path."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--no-compile"]
    subprocess.run([*command, "--target", str(folder), str(wheel)], check=True)
    return folder


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """Run a program of the installed wheel in a folder of its own and return what it prints."""

    def run_one(*command: str) -> str:
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        shown = done.stdout.replace(str(DIGITS), "").replace(sys.prefix, "")
        assert str(ROOT) not in shown
        return done.stdout

    return run_one


@pytest.fixture
def atoll(installed: Path) -> str:
    """The installed command."""
    return str(installed / "bin" / "atoll")


def test_every_file_of_the_packages_is_inside(wheel: Path) -> None:
    expected = {
        f"{target}/{path.relative_to(ROOT / source).as_posix()}"
        for source, target in PLACES.items()
        for path in (ROOT / source).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == expected


def test_the_modules_come_from_the_wheel(run: Run, installed: Path) -> None:
    program = "import atoll, atoll_sim; print(atoll.__file__); print(atoll_sim.__file__)"
    for line in run(sys.executable, "-c", program).splitlines():
        assert Path(line).is_relative_to(installed)


def test_the_doctor_builds_its_probe(run: Run, atoll: str) -> None:
    checks = json.loads(run(atoll, "doctor", "--json"))["checks"]
    assert all(check["ok"] for check in checks if check["required"])


def test_check_and_schema(run: Run, atoll: str) -> None:
    assert run(atoll, "check", "lagoon").endswith("lagoon: no faults\n")
    assert run(atoll, "schema") == (ROOT / "schemas" / "soc.schema.json").read_text()


def test_a_new_chip_runs_a_network_natively(run: Run, atoll: str) -> None:
    run(atoll, "new", "fresh")
    options = ("--cpu", "native", "--accelerator", "model", "--json")
    for chip in ("lagoon", "fresh.yaml"):
        report = json.loads(run(atoll, "run", chip, str(DIGITS), *options))
        assert report["bit_exact"]


def test_the_firmware_is_built(run: Run, atoll: str, tmp_path: Path) -> None:
    run(atoll, "build", "lagoon", str(DIGITS), "-o", "out")
    assert (tmp_path / "out" / "firmware.elf").read_bytes().startswith(b"\x7fELF")


@pytest.mark.rtl
def test_the_firmware_runs_in_rtl(run: Run, atoll: str) -> None:
    report = json.loads(run(atoll, "run", "lagoon", str(DIGITS), "--json"))
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
