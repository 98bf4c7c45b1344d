# SPDX-License-Identifier: Apache-2.0
"""`atoll check` promises QEMU only where the installed one has the machine, its core and memory."""

import shutil
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll_sim.hooks.soc_check import check
from atoll_sim.qemu.probe import faults_of

BOARD = Path(__file__).parents[3] / "examples/08_qemu_machines/mps2_an385.yaml"


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ((), ()),
        (("qemu.machine=mps2-an386",), ()),
        (("qemu.machine=mps2-an38",), ("'qemu-system-arm' has no machine 'mps2-an38'",)),
        (("qemu.machine=none",), ("has no machine 'none'",)),
        (
            ("qemu.machine=microbit",),
            (
                *("a cortex-m0, which does not run 'armv7-m'", "at 0x203ffffc", "0x21000000"),
                *("where the firmware has bytes of 'weights'", "console"),
            ),
        ),
        (
            ("qemu.machine=virt",),
            ("a cortex-a15, which does not run 'armv7-m'", "0x20000000", "0x21000000", "console"),
        ),
        (("memories.ssram23.size=12MiB",), ("at 0x20bffffc, where the chip has memory 'ssram23'",)),
        (
            ("memories.ssram1.origin=0x0800_0000",),
            ("0x08000000, where the firmware has bytes of 'cpu.code'", "bytes of 'weights'"),
        ),
        (
            (
                *("memories.ssram1.origin=0x0100_0000", "memories.ssram1.size=64KiB"),
                *("devices.cpu.code.size=48KiB", "pools.weights.size=16KiB"),
            ),
            ("its vector table at 0x00000000, and 'cpu' at 0x01000000",),
        ),
        (("memories.ssram1.origin=0x0040_0000",), ()),
        (
            ("memories.ssram1.size=16MiB", "pools.weights.size=15MiB"),
            ("at 0x00f1fffc, where the firmware has bytes of 'weights'",),
        ),
    ],
)
def test_a_chip_is_held_against_its_machine(change: tuple[str, ...], said: tuple[str, ...]) -> None:
    players = check(load_soc(BOARD, change), deep=False).players
    (qemu,) = (each for each in players if each.cpu == "qemu")
    assert not qemu.unknown
    assert len(qemu.faults) == len(said), qemu.faults
    for fault, words in zip(qemu.faults, said, strict=True):
        assert fault.code == "E103"
        assert words in fault.message
        assert fault.remedy


@pytest.mark.skipif(shutil.which("qemu-system-aarch64") is None, reason="needs qemu-system-aarch64")
def test_a_machine_that_does_not_start_is_there() -> None:
    soc = load_soc(BOARD.with_name("xlnx_zcu102.yaml"), ("qemu.machine=virt",))
    (fault,) = faults_of(soc, "qemu-system-aarch64")
    assert fault.message == "QEMU's machine 'virt' does not start"
