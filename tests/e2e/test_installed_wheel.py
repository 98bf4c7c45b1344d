# SPDX-License-Identifier: Apache-2.0
"""A user's script is typed and runs against the wheel, as `pip install` leaves it."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = '''"""What a user may write."""

from pathlib import Path

import atoll


def smallest(network: str, sizes: list[int]) -> int | None:
    """Return the least size of a pool with which a network fits."""
    chip = atoll.load_soc("lagoon")
    for size_bytes in sorted(sizes):
        try:
            made = atoll.compile(chip.with_({"pools.shared.size": size_bytes}), network)
        except atoll.AtollError as error:
            place: atoll.SourceLoc | None = error.place
            print(error.code, place, error.remedy)
            continue
        peak: int = made.network.peak_bytes["shared"]
        cycles: int = made.network.estimated_cycles
        print(peak, cycles, made.network.estimated_cycles_basis)
        rows: list[dict[str, object]] = made.rows()
        print(len(rows), atoll.estimate(made).network.total_cycles)
        run: atoll.Run = atoll.run(made, cpu="native", accelerator="model")
        clocked: int | None = run.network.total_cycles
        print(run.passed, clocked, run.network.total_cycles_basis)
        return size_bytes
    return None


print("size", smallest(str(Path("digits_int8.tflite")), [64, 65536]))
'''

WRONG = """import atoll

made = atoll.compile("lagoon", 3)
made.network.peak_bytes + 1
atoll.run(made, cpu="magic")
atoll.no_such_name
atoll.compile("lagoon", "net.tflite", plase={"a": "cpu"})
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python that has the wheel, and our own's packages for what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
    (wheel,) = folder.glob("atoll-*.whl")
    venv.create(folder / "venv", with_pip=False)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", site, wheel], check=True)
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "venv" / "bin" / "python"


def mypy(python: Path, script: Path) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--python-executable",
        str(python),
        str(script),
    ]
    return subprocess.run(command, cwd=script.parent, env={}, capture_output=True, text=True)


@pytest.mark.slow
def test_a_script_is_typed_and_runs(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    digits = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
    (tmp_path / digits.name).write_bytes(digits.read_bytes())
    checked = mypy(python, script)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    where = [str(python), "-c", "import atoll; print(atoll.__file__)"]
    told = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True, env={})
    assert "site-packages" in told.stdout
    ran = subprocess.run([python, script], cwd=tmp_path, capture_output=True, text=True, env={})
    assert ran.returncode == 0, ran.stderr
    assert "True None unknown" in ran.stdout
    assert ran.stdout.endswith("size 65536\n")


@pytest.mark.slow
def test_what_is_wrong_in_a_script_is_noticed(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    checked = mypy(python, script)
    lines = {line.split(":")[1] for line in checked.stdout.splitlines() if ": error:" in line}
    assert lines == {"3", "4", "5", "6", "7"}, checked.stdout
