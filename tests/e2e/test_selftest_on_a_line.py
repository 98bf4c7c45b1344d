# SPDX-License-Identifier: Apache-2.0
"""Self-tests of boards at pseudo-terminals, over lines that damage and lose bytes."""

import json
import os
import re
import shutil
import subprocess
import threading
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.small_program import request
from tests.e2e.test_board_packages import cmake
from tests.serial_line import NoisyLine
from tests.unit.selftest.lines import damage, judged

import atoll
from atoll.bsp.core_images import image_cores
from atoll.cli import main, working
from atoll.diagnostics.progress import announce_to
from atoll.resolve import load_soc
from atoll_selftest.api import judge
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate

pytestmark = pytest.mark.slow

VIRT = str(Path(__file__).parents[2] / "examples" / "08_qemu_machines" / "virt_rv32.yaml")
SEEDS = 1000
UART = """
#include "atoll_runtime.h"
void atoll_print(const char *text) {
  volatile uint8_t *const uart = (volatile uint8_t *)0x10000000u;
  for (; *text != '\\0'; text++) {
    while ((uart[5] & 0x20u) == 0u) {
    }
    *uart = (uint8_t)*text;
  }
}
void atoll_print_hex(uint32_t value) { (void)value; }
void atoll_print_decimal(int32_t value) { (void)value; }
void atoll_trace_begin(int32_t device, int32_t number) { (void)device; (void)number; }
void atoll_trace_end(int32_t device, int32_t number) { (void)device; (void)number; }
void atoll_trace_event(enum atoll_event event) { (void)event; }
enum atoll_request atoll_request(void) { return ATOLL_REQUEST_NONE; }
void atoll_result(int32_t status) { (void)status; }
void atoll_guard_start(void) {}
int32_t atoll_guard_check(int32_t status) { return status; }
void atoll_watchdog_start(void) {}
void atoll_watchdog_stop(void) {}
void atoll_exit(int32_t status) {
  (void)status;
  for (;;) {
  }
}
"""
"""A board of a user: a UART in the place of the console registers, and no guard."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the self-test of two cores prints on the instruction-set simulator."""
    pytest.importorskip("unicorn")
    folder = tmp_path_factory.mktemp("rp2040")
    assert main(["bsp", "rp2040", "--selftest", "-o", str(folder)]) == 0
    cmake(folder, "zig", "-DATOLL_SELFTEST_STEP=61")
    soc, built = load_soc("rp2040"), folder / "build" / "zig"
    others = (built / f"{core.name}.selftest.elf" for core in image_cores(soc)[1:])
    elves = (built / "firmware.selftest.elf", *others)
    asked = replace(request(soc, elves[0]), elves=elves, max_cycles=10**9, stall_cycles=10**9)
    return simulate(asked, lambda memory: make_models(soc, memory)).text.encode()


def test_no_damaged_line_counts(log: bytes) -> None:
    whole = judge(log.decode(), None)
    assert (whole.passed, whole.lost) == (True, ())
    right = {result.number: result for result in whole.results}
    count = passed = 0
    for seed in range(SEEDS):
        found = judged(damage(log, 0.01, seed))
        if found is None:
            continue
        count += 1
        passed += found.passed
        assert (found.findings, found.lost) == ((), found.missing)
        assert all(right[each.number] == each for each in found.results)
    assert count > SEEDS // 2
    assert passed == 0, "so many bytes never all arrive"


@contextmanager
def board(log: bytes) -> Iterator[tuple[str, Callable[[str], None]]]:
    """Give the terminal of a board, and what resets it: then it prints a log."""
    near, far = os.openpty()
    tty.setraw(far)
    printing = threading.Thread(target=os.write, args=(near, log))
    try:
        yield os.ttyname(far), lambda _: printing.start()
    finally:
        printing.join()
        os.close(near)
        os.close(far)


def test_a_good_line(log: bytes) -> None:
    with board(log) as (path, reset), NoisyLine(path, 0.0, 1) as line, announce_to(reset):
        found = atoll.run_selftest(line.path, soc="rp2040")
    assert (found.passed, found.lost) == (True, ())


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_bad_line(
    log: bytes,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with board(log) as (path, reset), NoisyLine(path, 0.01, seed) as line:
        monkeypatch.setattr(working, "_announce", reset)
        status = main(["selftest", "--serial", line.path, "--silence", "5s", "--json"])
    assert line.harmed
    told = json.loads(capsys.readouterr().out)
    assert status == 1
    if "faults" in told:
        assert told["faults"][0]["code"] == "E132"
    else:
        assert (told["findings"], told["lost"]) == ([], told["missing"])
        assert told["missing"]


@contextmanager
def stopped(elf: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Load an image into QEMU; give the terminal of its UART, and the process."""
    command = ["qemu-system-riscv32", "-machine", "virt", "-bios", "none", "-nodefaults", "-S"]
    command += ["-device", f"loader,file={elf},cpu-num=0", "-display", "none", "-monitor", "stdio"]
    process = subprocess.Popen(
        [*command, "-serial", "pty"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        while not (found := re.search(r"redirected to (\S+)", process.stdout.readline())):
            pass
        yield found[1], process
    finally:
        process.kill()
        process.communicate()


def test_a_machine_with_a_uart(tmp_path: Path) -> None:
    if not shutil.which("qemu-system-riscv32"):
        pytest.skip("qemu-system-riscv32 is not installed")
    assert main(["bsp", VIRT, "--selftest", "-o", str(tmp_path)]) == 0
    (board := tmp_path / "own.c").write_text(UART)
    cmake(
        tmp_path,
        "zig",
        "-DATOLL_SELFTEST_STEP=61",
        f"-DATOLL_SELFTEST_BOARD={board}",
    )
    with stopped(tmp_path / "build" / "zig" / "firmware.selftest.elf") as (terminal, process):

        def reset(what: str) -> None:
            assert process.stdin
            process.stdin.write("cont\n")
            process.stdin.flush()

        with announce_to(reset):
            found = atoll.run_selftest(terminal, soc=VIRT)
    assert found.lost == ()
    assert not found.missing
    assert {each.found for each in found.results} == {"works"}
