# SPDX-License-Identifier: Apache-2.0
"""A user's script is typed and runs against the wheel, as `pip install` leaves it."""

import os
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
    chip = atoll.load_soc("lagoon").with_({"pools.private.size": 64})
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


def others(network: str) -> None:
    """Ask what needs no compilation, and what packages beside the core do."""
    chip = atoll.load_soc("lagoon")
    smaller = chip.with_({"pools.shared.size": "64 KiB"})
    changes: list[atoll.Change] = [*atoll.diff(chip, smaller)]
    print(len(changes), changes[0].text)
    names: tuple[str, ...] = atoll.operators(chip).names
    title: object = atoll.schema("run-output")["title"]
    print("CONV_2D" in names, title, atoll.passes().rows()[0]["name"])
    graph: str = atoll.run_passes(network, ["fuse-activations"]).text()
    log = "selftest begin version=1 chip=lagoon tests=1\\nselftest end failed=0\\n"
    found: atoll.SelftestCheck = atoll.check_selftest(log, soc=chip)
    print(graph[:5], found.passed, found.missing)
    files: tuple[Path, ...] = atoll.new_soc("mine", cores=["ibex"]).files
    made = atoll.compile(chip, network)
    package: atoll.BoardPackage = atoll.write_bsp(chip, "bsp", networks=made, only=["svd"])
    built = atoll.build(made, "build")
    (elf,) = built.folder.rglob("firmware.elf")
    questions: atoll.StackQuestions = {"nested": True}
    image = atoll.check_image(chip, elf, **questions)
    needed: int | None = image.stack.total_bytes if image.stack else None
    print(files, len(package.written), image.passed, needed)
    judged = atoll.run(
        made, cpu="native", accelerator="model", oracle=False, dataset="digits_test.npz"
    )
    accuracy: atoll.Accuracy | None = judged.network.accuracy
    print("right", accuracy and accuracy.right)


def typed_only() -> None:
    """Name what takes long, or needs tools; mypy reads it."""
    tools: bool = atoll.doctor().ok
    begun: atoll.Import = atoll.import_files(["chip.svd"], device="x")
    ran: atoll.ImageRun = atoll.run_image("lagoon", ["fw.elf"], cpu="iss", max_cycles=1000)
    core: atoll.CoreCheck = atoll.check_core("ibex", isa="rv32imc")
    kit: atoll.AcceleratorCheck = atoll.check_accelerator("reef", params={"input_lanes": 8})
    rows: list[dict[str, object]] = [*core.rows(), *kit.rows(), *begun.rows()]
    print(tools, ran.passed, rows, atoll.new_accelerator("mine").files)


others("digits_int8.tflite")
print("size", smallest(str(Path("digits_int8.tflite")), [64, 65536]))
'''

WRONG = """import atoll

made = atoll.compile("lagoon", 3)
made.network.peak_bytes + 1
atoll.run(made, cpu="magic")
atoll.no_such_name
atoll.compile("lagoon", "net.tflite", plase={"a": "cpu"})
atoll.check_image("lagoon", "x.elf", nestet=True)
atoll.run_image("lagoon", ["x.elf"], cpu="native")
atoll.diff("lagoon")
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
    for name in ("digits_int8.tflite", "digits_test.npz"):
        (tmp_path / name).write_bytes((ROOT / "examples" / "01_digits" / name).read_bytes())
    checked = mypy(python, script)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    where = [str(python), "-c", "import atoll; print(atoll.__file__)"]
    told = subprocess.run(where, cwd=tmp_path, capture_output=True, text=True, check=True, env={})
    assert "site-packages" in told.stdout
    path = {"PATH": os.environ["PATH"]}  # of the C++ compiler, where its library is not at hand
    ran = subprocess.run([python, script], cwd=tmp_path, capture_output=True, text=True, env=path)
    assert ran.returncode == 0, ran.stderr
    assert "1 pool 'shared' shrank from 256 KiB to 64 KiB" in ran.stdout
    assert "right 3" in ran.stdout
    assert "True None unknown" in ran.stdout
    assert ran.stdout.endswith("size 65536\n")


@pytest.mark.slow
def test_what_is_wrong_in_a_script_is_noticed(python: Path, tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    checked = mypy(python, script)
    lines = {line.split(":")[1] for line in checked.stdout.splitlines() if ": error:" in line}
    assert lines == {"3", "4", "5", "6", "7", "8", "9", "10"}, checked.stdout
