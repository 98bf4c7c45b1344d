# SPDX-License-Identifier: Apache-2.0
"""The networks run in tasks of FreeRTOS. Set ATOLL_FREERTOS to a folder with FreeRTOS-Kernel 11."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.e2e.test_board_packages import CHIPS, DIGITS, iss

from atoll.bsp.core_images import elf_names
from atoll.cli import main
from atoll.resolve import load_soc
from atoll_sim.qemu.qemu_run import simulate as qemu
from atoll_sim.trace.simulation import SimResult

KERNEL = os.environ.get("ATOLL_FREERTOS", "")
MACHINES = Path(__file__).parents[2] / "examples" / "08_qemu_machines"
SAMPLER = str(Path(__file__).parents[2] / "examples" / "03_two_networks" / "sampler.tflite")
RIGHT = "digits_int8.softmax_9_out: -121 -127 -127 -125 -95 -127 -127 -124 65 -116 (right)\n"
THREADS = (
    "devices.cpu.stack.size=2KiB",
    "devices.cpu.stack.threads.aside=2KiB",
    "devices.cpu.stack.threads.io=4KiB",
    "devices.cpu.stack.runs=io",
)
BOTH = ("devices.cpu.core=ibex", "devices.dsp.core=cv32e40p")

pytest.importorskip("unicorn")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not KERNEL, reason="ATOLL_FREERTOS names no kernel"),
]


def built(chip: str, overrides: tuple[str, ...], preset: str, folder: Path, *options: str) -> Path:
    """Build the images of a package with the kernel; a warning is a failure."""
    settings = [word for each in overrides for word in ("--set", each)]
    package = folder / "bsp"
    assert main(["bsp", chip, DIGITS, "-o", str(package), *settings, *options]) == 0
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for words in (
        ["--preset", preset, f"-DATOLL_FREERTOS={KERNEL}"],
        ["--build", "--preset", preset],
    ):
        done = subprocess.run(
            ["cmake", *words],
            cwd=package,
            env={**os.environ, "PATH": tools},
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert "warning" not in said.lower(), said
    return package / "build" / preset


def run(chip: str, overrides: tuple[str, ...], preset: str, folder: Path) -> SimResult:
    images = built(chip, overrides, preset, folder)
    soc = load_soc(chip, overrides)
    elves = tuple(images / name for name in elf_names(soc))
    started = replace(request(soc, elves[0]), elves=elves, run_dir=folder)
    return (qemu if soc.qemu_machine else iss)(started)


@pytest.mark.parametrize(
    ("chip", "overrides", "preset"),
    [
        ("lagoon", CHIPS["ibex"], "zig"),
        ("lagoon", CHIPS["ibex"], "clang"),
        ("lagoon", CHIPS["ibex"], "riscv64-unknown-elf-gcc"),
        ("lagoon", (*CHIPS["ibex"], *THREADS), "zig"),
        ("twin", BOTH, "zig"),
        ("x_heep", (), "zig"),
        ("esp32c6", (), "zig"),
    ],
)
def test_a_task_runs_the_network(
    chip: str, overrides: tuple[str, ...], preset: str, tmp_path: Path
) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    result = run(chip, overrides, preset, tmp_path)
    assert (result.exit_status, result.findings, result.text) == (0, (), RIGHT)


def test_k1_tasks_run_the_networks_of_their_threads(tmp_path: Path) -> None:
    overrides = (*CHIPS["ibex"], *THREADS)
    asked = (SAMPLER, "--thread", "digits_int8:cpu=aside", "--thread", "sampler:cpu=io")
    images = built("lagoon", overrides, "zig", tmp_path, *asked)
    elf = images / "firmware.elf"
    result = iss(replace(request(load_soc("lagoon", overrides), elf), run_dir=tmp_path))
    assert (result.exit_status, result.findings) == (0, ())
    assert result.text.count(" (right)\n") == 2


@pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="QEMU is not installed")
@pytest.mark.parametrize("preset", ["zig", "arm-none-eabi-gcc"])
@pytest.mark.parametrize(
    "chip", ["corstone300", *(f"mps2_{name}" for name in ("an385", "an386", "an500", "an505"))]
)
def test_a_task_runs_the_network_on_a_cortex_m(chip: str, preset: str, tmp_path: Path) -> None:
    """Its status says that outputs are right: the bench may see a store twice, around a tick."""
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    path = str(MACHINES / f"{chip}.yaml") if chip.startswith("mps2") else chip
    result = run(path, (), preset, tmp_path)
    assert (result.exit_status, result.findings) == (0, ())


@pytest.mark.parametrize(("chip", "core"), [("rp2040", "m0plus"), ("stm32h747", "m7")])
@pytest.mark.parametrize("preset", ["zig", "arm-none-eabi-gcc"])
def test_the_port_of_a_core_without_a_simulator_links(
    chip: str, core: str, preset: str, tmp_path: Path
) -> None:
    if preset != "zig" and not shutil.which(preset):
        pytest.skip(f"{preset} is not installed")
    assert load_soc(chip).host_cpu.spec.name == f"cortex_{core}"
    assert (built(chip, (), preset, tmp_path) / "firmware.elf").exists()


def test_the_self_test_has_no_kernel(tmp_path: Path) -> None:
    images = built("lagoon", CHIPS["ibex"], "zig", tmp_path, "--selftest")
    assert b"vTaskStartScheduler" in (images / "firmware.elf").read_bytes()
    assert b"vTaskStartScheduler" not in (images / "firmware.selftest.elf").read_bytes()
