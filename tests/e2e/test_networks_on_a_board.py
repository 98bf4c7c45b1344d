# SPDX-License-Identifier: Apache-2.0
"""A package's image in QEMU behind a pseudo-terminal, over a line that damages and loses bytes.

QEMU models the UART; the image is as it would be flashed, without the bench of `--cpu qemu`.
"""

import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.e2e.test_board_packages import cmake
from tests.refusal import refusal
from tests.serial_line import NoisyLine

import atoll
from atoll.cli import main
from atoll_sim.board import link

ROOT = Path(__file__).parents[2]
MACHINES = ROOT / "examples" / "08_qemu_machines"
EXAMPLE = ROOT / "examples" / "01_digits"
DIGITS = str(EXAMPLE / "digits_int8.tflite")
BOARDS = {
    "virt_rv32": (
        "ns16550@0x1000_0000",
        ["qemu-system-riscv32", "-machine", "virt", "-bios", "none"],
        ("xp /1bx 0x10000003", "0x03"),
    ),
    "mps2_an385": (
        "cmsdk@0x4000_4000",
        ["qemu-system-arm", "-machine", "mps2-an385"],
        ("xp /1wx 0x40004008", "0x00000003"),
    ),
}
"""A UART, the command of its machine, and how QEMU's monitor tells that the UART is ready."""

SAMPLES = 100

PATIENCE = 60.0
"""Seconds that an image may take to make its UART ready."""

NOTED = 100
"""Instructions that noting the begin and end of an operator may take more or less."""


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A core that polls its UART is slow to begin on a busy machine."""
    monkeypatch.setattr(link, "FIRST_TRIES", link.SILENT_TRIES)


@contextmanager
def running(machine: str, elf: Path) -> Iterator[str]:
    """Start an image, and give the terminal that its UART is at."""
    _, program, ready = BOARDS[machine]
    image = ["-kernel", str(elf)]
    if "-bios" in program:
        image = ["-device", f"loader,file={elf},cpu-num=0"]
    command = [*program, *image, "-nodefaults", "-display", "none", "-monitor", "stdio"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [*command, "-icount", "shift=0", "-serial", "pty"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield wait_for_uart(process, *ready)
        finally:
            process.kill()
            process.communicate()


def wait_for_uart(process: subprocess.Popen[str], question: str, ready: str) -> str:
    """Return the terminal of a UART once the image has made it ready.

    If it is connected earlier, QEMU does not notice that `cmsdk` can take a byte from then on.
    """
    assert process.stdin
    assert process.stdout
    terminal, deadline = "", time.monotonic() + PATIENCE
    for line in process.stdout:
        if line.endswith(f": {ready}\n"):
            return terminal
        if found := re.search(r"redirected to (\S+)", line):
            terminal = found[1]
        assert time.monotonic() < deadline, "the image does not make its UART ready"
        if found or ": 0x" in line:
            process.stdin.write(f"{question}\n")
            process.stdin.flush()
    raise AssertionError(f"QEMU has ended: {process.wait()}")


def image_of(machine: str, folder: Path) -> tuple[str, Path]:
    """Write a package and build it; return the chip and the image."""
    chip, (uart, program, _) = str(MACHINES / f"{machine}.yaml"), BOARDS[machine]
    if not shutil.which(program[0]):
        pytest.skip(f"{program[0]} is not installed")
    assert main(["bsp", chip, DIGITS, "--serial", uart, "-o", str(folder)]) == 0
    cmake(folder, "zig")
    return chip, folder / "build" / "zig" / "firmware.serial.elf"


@pytest.mark.slow
@pytest.mark.parametrize("machine", BOARDS)
def test_samples_on_a_bad_line(
    machine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chip, elf = image_of(machine, tmp_path / "bsp")
    with np.load(EXAMPLE / "digits_test.npz") as held_out:
        given, labels = held_out["x"][:SAMPLES], held_out["y"][:SAMPLES]
    with running(machine, elf) as terminal, NoisyLine(terminal, 0.01, seed=2026) as line:
        found = atoll.run_on_board(atoll.compile(chip, DIGITS), elf, line.path, given)
        words = ["run-image", chip, str(elf), "--serial", line.path, "--network", DIGITS]
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        other = refusal([*words, "--set", "pools.arena.offset=4 KiB"], capsys)
    [network] = found.networks
    assert network.passed, network.text()
    assert network.layers_compared == SAMPLES
    assert line.harmed > line.carried / 200
    assert any(re.search(r"[1-9]\d* sent again", note) for note in network.notes)
    scores = [scores for each in network.outputs for scores in each.values()]
    classes = [int(np.argmax(each)) for each in scores]
    assert sum(map(int, np.equal(classes, labels))) >= SAMPLES * 9 // 10
    assert (told["cpu"], told["accelerator"], told["layers_compared"]) == ("board", "board", 1)
    assert 0 < told["stack"]["cpu"]["watermark_bytes"] <= told["stack"]["cpu"]["bound_bytes"]
    assert other.startswith("error[E273]: ")
    assert ("nothing counts cycles" in " ".join(network.notes)) == (machine == "mps2_an385")


@pytest.mark.slow
def test_cycles_of_layers_are_those_of_the_machine(tmp_path: Path) -> None:
    """QEMU counts an instruction as a cycle, in `mcycle` and in the bench of `--cpu qemu` alike."""
    chip, elf = image_of("virt_rv32", tmp_path / "bsp")
    made = atoll.compile(chip, DIGITS)
    with running("virt_rv32", elf) as terminal, NoisyLine(terminal, 0.0, seed=1) as line:
        [board] = atoll.run_on_board(made, elf, line.path).networks
    [simulated] = atoll.run(made, cpu="qemu").networks
    ours_of, theirs_of = (each.to_json()["cycles"]["by_layer"] for each in (board, simulated))
    assert ours_of
    for ours, theirs in zip(ours_of, theirs_of, strict=True):
        assert ours["operator"] == theirs["operator"]
        assert abs(ours["cycles"] - theirs["cycles"]) < NOTED, ours
