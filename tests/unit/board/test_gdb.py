# SPDX-License-Identifier: Apache-2.0
"""The scripts for gdb, loaded by gdb: the memories and registers that each core sees."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
OWN = [ROOT / "tests" / "data" / name for name in ("shore.yaml", "bay.yaml")]
CHIPS = sorted([*(ROOT / "socs").glob("*.yaml"), *OWN])
USUAL = ("lagoon", "twin", "imxrt1176", "bay")
"""Cores alone and in pairs, with views and without; the others take as long again."""

ROW = re.compile(r"^\d+\s+y\s+(0x\w+)\s+(0x\w+)\s+(.*?) nocache\s*$", re.M)


def reached(soc: ResolvedSoc, core: Cpu) -> set[tuple[int, int, str]]:
    """Return first address, end and access of what a core may touch, out of the reach matrix."""
    names = {core.code.memory, core.data.memory, *(stack.memory for stack in core.stacks)}
    shared = (each.shared_mailbox for each in soc.cpus if soc.host == core.name or each == core)
    names |= {each.memory for each in shared if each}
    names |= {pool.region.memory for pool in soc.pools if pool.reach[core.name] != "none"}
    found = set()
    for memory in (each for each in soc.memories if each.name in names):
        first = device_address(soc, core.name, memory.origin)
        mode = "ro" if memory.kind == "rom" else "rw"
        found.add((first, first + memory.size, mode))
        for alias in soc.aliases:
            if alias.memory == memory.name and alias.regions and core.name in alias.devices:
                seen = alias.device_range(core.name)
                found.add((seen.start, seen.stop, mode))
    for block in soc.registers_of(core):
        first = device_address(soc, core.name, block.origin)
        found.add((first, first + block.size, "rw 32"))
    return found


@pytest.mark.skipif(not shutil.which("gdb"), reason="gdb is not installed")
@pytest.mark.parametrize(
    "path",
    [path if path.stem in USUAL else pytest.param(path, marks=pytest.mark.slow) for path in CHIPS],
    ids=lambda path: path.stem,
)
def test_gdb_has_the_core_s_regions(path: Path, tmp_path: Path) -> None:
    soc = load_soc(path)
    board = Board(soc=soc)
    files = package_files(board, ["gdb"])["gdb"]
    assert {*files} == {
        f"gdb/{core.name}.{kind}" for core in board.cores for kind in ("gdb", "xml")
    }
    for core in board.cores:
        script = tmp_path / f"{core.name}.gdb"
        script.write_bytes(files[f"gdb/{script.name}"].data)
        command = ["gdb", "-nx", "-batch", "-x", str(script), "-ex", "info mem"]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "rror" not in result.stderr
        found = ROW.findall(result.stdout)
        rows = [(int(first, 16), int(end, 16), mode) for first, end, mode in found]
        assert len(rows) == len({*rows})
        assert {*rows} == reached(soc, core)
