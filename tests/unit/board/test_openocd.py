# SPDX-License-Identifier: Apache-2.0
"""OpenOCD reads the configuration, and has the chip's cores, scratch and flash."""

import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Access, ResolvedSoc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
CHIPS = sorted([*(ROOT / "socs").glob("*.yaml"), ROOT / "tests" / "data" / "bay.yaml"])
CHIPS = [path for path in CHIPS if path.stem != "zynqmp"]
ASK = """
foreach t [target names] {
  set area [list [$t cget -work-area-phys] [$t cget -work-area-size] [$t cget -work-area-backup]]
  echo "target $t [$t cget -type] [$t cget -coreid] $area"
}
foreach bank [flash list] { echo "bank $bank" }
shutdown
"""

needs_openocd = pytest.mark.skipif(not shutil.which("openocd"), reason="openocd is not installed")


def asked(soc: ResolvedSoc, folder: Path, *variables: str) -> list[str]:
    """Return the lines that OpenOCD prints, of a chip behind an adapter that is none."""
    (entry,) = package_files(Board(soc=soc), ["openocd"])["openocd"].values()
    (folder / "openocd.cfg").write_bytes(entry.data)
    (folder / "ask.tcl").write_text(ASK)
    command = ["openocd"]
    for each in ("ATOLL_ADAPTER dummy", *variables):
        command += ["-c", f"set {each}"]
    command += ["-f", "openocd.cfg", "-f", "ask.tcl"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not [line for line in said.splitlines() if line.startswith(("Warn", "Error"))], said
    return said.splitlines()


def check_work_area(soc: ResolvedSoc, core: str, begin: int, size: int, backup: int) -> None:
    """Hold a work area against the pools and data of a core, where the core sees them."""
    assert 0 < size <= 16 * 1024
    assert size % 4 == 0
    regions = [
        pool.region
        for pool in soc.pools
        if pool.role == "workspace" and pool.reach[core] is Access.WRITE
    ]
    if backup:
        assert not regions
        regions = [next(each.data for each in soc.cpus if each.name == core)]
    spans = [(device_address(soc, core, region.origin), region.size) for region in regions]
    assert any(first <= begin and begin + size <= first + room for first, room in spans)


@needs_openocd
@pytest.mark.parametrize("path", CHIPS, ids=lambda path: path.stem)
def test_targets_are_the_cores(path: Path, tmp_path: Path) -> None:
    soc = load_soc(path)
    lines = asked(soc, tmp_path)
    targets = [line.split()[1:] for line in lines if line.startswith("target ")]
    names = sorted((core.name for core in soc.cpus), key=lambda name: name != soc.host)
    assert [name for name, *_ in targets] == [f"{soc.name}.{name}" for name in names]
    for number, (core, (_, kind, found, *area)) in enumerate(zip(names, targets, strict=True)):
        family = next(each.instructions.family for each in soc.cpus if each.name == core)
        assert (kind, int(found)) == ({"thumb": "cortex_m", "riscv": "riscv"}[family], number)
        check_work_area(soc, core, *map(int, area))
    roms = {memory.name for memory in soc.memories if memory.kind == "rom"}
    told = {line.split()[0] for line in lines if "cannot be programmed" in line}
    assert told <= roms
    assert {each.code.memory for each in soc.cpus} & roms <= told


@needs_openocd
def test_the_user_names_flash_drivers(tmp_path: Path) -> None:
    soc = load_soc("stm32h747")
    variables = ("ATOLL_FLASH_flash1 stm32h7x", "ATOLL_FLASH_flash2 stm32h7x", "ATOLL_AP_cm4 3")
    lines = asked(soc, tmp_path, *variables)
    banks = [line for line in lines if line.startswith("bank ")]
    assert len(banks) == 2
    for bank, memory in zip(banks, ("flash1", "flash2"), strict=True):
        words = bank.split()
        assert words[words.index("name") + 1] == f"stm32h747.{memory}"
        assert "stm32h7x" in words
        assert int(words[words.index("base") + 1], 0) == soc.memory(memory).origin
        assert int(words[words.index("size") + 1], 0) == soc.memory(memory).size
    assert not any("cannot be programmed" in line for line in lines)


@needs_openocd
def test_speed_and_harts_are_the_users(tmp_path: Path) -> None:
    soc = load_soc("twin")
    lines = asked(soc, tmp_path, "ATOLL_HART_dsp 5", "ATOLL_SPEED 25")
    assert "25" in lines
    assert any(line.startswith("target twin.dsp riscv 5 ") for line in lines)


def test_a_chip_with_another_host_has_no_configuration() -> None:
    assert not package_files(Board(soc=load_soc("zynqmp")), ["openocd"])["openocd"]
