# SPDX-License-Identifier: Apache-2.0
"""`atoll check` promises QEMU only where the installed one has the machine, its core and memory."""

import re
import shutil
from pathlib import Path

import pytest

from atoll.description.core_files import find_core
from atoll.diagnostics.errors import SimulationError
from atoll.isa import riscv
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.hooks.soc_check import check
from atoll_sim.qemu import probe
from atoll_sim.qemu.machines import core_options
from atoll_sim.qemu.probe import faults_of
from atoll_sim.qemu.supported import check_chip

BOARD = Path(__file__).parents[3] / "examples/08_qemu_machines/mps2_an385.yaml"


def found(soc: ResolvedSoc, program: str) -> list[str]:
    return [each.message for each in faults_of(soc, program)]


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
        (
            ("memories.ssram23.size=12MiB",),
            (
                "no memory at 0x20bffffc, where the chip has memory 'ssram23'",
                "same bytes at 0x20000000, where the chip has memory 'ssram23', and at 0x20400000",
            ),
        ),
        (
            ("memories.ssram1.origin=0x0800_0000",),
            ("0x08000000, where the firmware has bytes of 'cpu.code'", "bytes of 'weights'"),
        ),
        (
            (
                *("memories.ssram1.origin=0x0100_0000", "memories.ssram1.size=64KiB"),
                *("devices.cpu.code.size=48KiB", "pools.weights.size=16KiB"),
            ),
            (
                "its vector table at 0x00000000, and 'cpu' at 0x01000000",
                "same bytes at 0x01000000, where the firmware has bytes of 'cpu.code', "
                "and at 0x01004000, where the firmware has bytes of 'cpu.code'",
                "same bytes at 0x01000000, where the firmware has bytes of 'cpu.code', "
                "and at 0x0100c000, where the firmware has bytes of 'weights'",
            ),
        ),
        (("memories.ssram1.origin=0x0040_0000",), ()),
        (
            ("memories.psram.origin=0x0040_0000", "memories.psram.size=1MiB"),
            (
                "same bytes at 0x00400000, where the chip has memory 'psram', and at 0x00000000, "
                "where the firmware has bytes of 'cpu.code'",
                "same bytes at 0x00420000, where the chip has memory 'psram', and at 0x00020000, "
                "where the firmware has bytes of 'weights'",
            ),
        ),
        (
            (
                *("memories.ssram23.size=2MiB", "memories.psram.size=1MiB"),
                "memories.psram.origin=0x2050_0000",
            ),
            ("same bytes at 0x20100000, where the chip has memory 'ssram23', and at 0x20500000",),
        ),
        (
            (
                *("memories.ssram23.size=1MiB", "memories.psram.size=1MiB"),
                "memories.psram.origin=0x2050_0000",
            ),
            (),
        ),
        (
            ("memories.ssram1.size=16MiB", "pools.weights.size=15MiB"),
            (
                "at 0x00f1fffc, where the firmware has bytes of 'weights'",
                "same bytes at 0x00000000, where the firmware has bytes of 'cpu.code', and at",
                "same bytes at 0x00020000, where the firmware has bytes of 'weights', and at",
            ),
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


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
@pytest.mark.parametrize(
    ("chip", "machine", "isa", "lacks"),
    [
        ("mps2_an505", "mps2-an521", "armv8-m.main", ""),
        ("mps2_an505", "mps2-an521", "armv8-m.main+dsp", "a cortex-m33 without dsp"),
        ("mps2_an505", "mps2-an521", "armv8-m.main+dsp+fp", "a cortex-m33 without dsp, fp"),
        ("mps2_an505", "mps2-an505", "armv8-m.main+dsp+fp", ""),
        ("mps2_an500", "mps2-an500", "armv7e-m+fp.dp", ""),
        ("mps2_an500", "mps2-an386", "armv7e-m+fp.dp", "a cortex-m4 without fp.dp"),
        ("mps3_an547", "mps3-an547", "armv8.1-m.main+mve", ""),
    ],
)
def test_units_of_arm_are_held_against_the_core(
    chip: str, machine: str, isa: str, lacks: str
) -> None:
    changes = (f"qemu.machine={machine}", f"devices.cpu.isa={isa}")
    said = found(load_soc(BOARD.with_name(f"{chip}.yaml"), changes), "qemu-system-arm")
    wanted = f"QEMU's machine '{machine}' has {lacks}, which '{isa}' of 'cpu' has"
    assert [each for each in said if "without" in each] == [wanted] * bool(lacks)


@pytest.mark.skipif(shutil.which("qemu-system-riscv32") is None, reason="needs qemu-system-riscv32")
@pytest.mark.parametrize(
    ("machine", "isa", "lacks"),
    [
        ("virt", "rv32imac", ""),
        ("virt", "rv32imafc", ""),
        ("virt", "rv32imc_zba_zbb_zbs", ""),
        ("virt", "rv32emc", ""),
        ("virt", "rv32imafdc_zve32x", ""),
        ("sifive_u", "rv32imac", ""),
        ("sifive_u", "rv32imafc", "f"),
        ("sifive_u", "rv32imc_zba_zbb_zbs", "zba, zbb, zbs"),
    ],
)
def test_extensions_of_risc_v_are_tried_on_the_core(machine: str, isa: str, lacks: str) -> None:
    changes = (f"qemu.machine={machine}", f"devices.cpu.isa={isa}")
    said = found(load_soc(BOARD.with_name("virt_rv32.yaml"), changes), "qemu-system-riscv32")
    wanted = f"'sifive_u' has a sifive-e31 without {lacks}, which '{isa}' of 'cpu' has"
    assert said == [f"QEMU's machine {wanted}"] * bool(lacks)


@pytest.mark.skipif(shutil.which("qemu-system-riscv32") is None, reason="needs qemu-system-riscv32")
def test_a_core_without_vectors_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    soc = load_soc(BOARD.with_name("virt_rv32.yaml"), ("devices.cpu.isa=rv32imafdc_zve32x",))
    monkeypatch.setattr(probe, "core_options", lambda host: ("-cpu", "rv32"))
    (said,) = found(soc, "qemu-system-riscv32")
    assert "without zve32x, which 'rv32imafdc_zve32x' of 'cpu' has" in said


@pytest.mark.parametrize(
    ("isa", "length", "longest"),
    [("rv32imafdc_zve32x", 128, 32), ("rv64gcv", 128, 64), ("rv64gcv_zvl256b", 256, 64)],
)
def test_the_core_has_vectors_as_the_isa_says(isa: str, length: int, longest: int) -> None:
    soc = load_soc(BOARD.with_name(f"virt_{isa[:4]}.yaml"), (f"devices.cpu.isa={isa}",))
    option, core = core_options(soc.host_cpu)
    assert option == "-cpu"
    assert core.split(",")[0] == isa[:4]
    assert {f"vlen={length}", f"elen={longest}"} <= {*core.split(",")}


def test_vectors_longer_than_qemus_are_refused(tmp_path: Path) -> None:
    core = find_core("riscv", "cpu", Path(), None).read_text()
    path = tmp_path / "long.yaml"
    path.write_text(core.replace("rv64gcv,", "rv64gcv, rv64gcv_zvl2048b,"))
    changes = (f"devices.cpu.core={path}", "devices.cpu.isa=rv64gcv_zvl2048b")
    with pytest.raises(SimulationError, match="at most 1024 bits") as caught:
        check_chip(load_soc(BOARD.with_name("virt_rv64.yaml"), changes))
    (fault,) = caught.value.faults
    assert (fault.code, fault.remedy) == ("E103", "use --cpu native")


def test_every_extension_has_a_trial() -> None:
    names = set(re.findall(r"_(z\w+?)\)", riscv.PATTERN)) | {*"imafdcv", "zve32x"}
    assert names == {*probe._TRIALS} - {"zicsr"}
    assert probe._extensions(load_soc(BOARD.with_name("virt_rv64.yaml"), ()).host_cpu)


@pytest.mark.skipif(shutil.which("qemu-system-arm") is None, reason="needs qemu-system-arm")
def test_memories_that_qemu_does_not_list_are_not_known_to_be_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probe, "keep_made", lambda key, make: make())
    monkeypatch.setattr(probe, "_segments", lambda listing: [])
    (said,) = found(load_soc(BOARD, ()), "qemu-system-arm")
    assert said == (
        "QEMU does not list the memories of machine 'mps2-an385'; whether two of chip "
        "'mps2_an385' are one there is not known"
    )
