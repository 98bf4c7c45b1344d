# SPDX-License-Identifier: Apache-2.0
"""Tables of isolation units: what a C program reads in them is what the description grants."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from atoll.bsp.headers import header_files, isolation_header
from atoll.resolve import load_soc
from atoll.resolve.isolation import isolated_areas
from atoll.resolve.soc import ResolvedSoc

UNIT = "memories.sram.isolation={granule: %s, masters: {cpu: 0, npu: 5}}"
OWN = ("cpu.code", "cpu.data", "cpu.stack")
SIZE = 16 * 2**10
RIGHTS = {"none": (False, False), "ro": (True, False), "rw": (True, True)}
REACH = st.tuples(*2 * [st.sampled_from(sorted(RIGHTS))]).filter(lambda pair: {*pair} != {"none"})
PROGRAM = """
#include <stdio.h>
#include "atoll_isolation.h"
int main(void) {
  for (unsigned i = 0; i < ATOLL_ISOLATION_SRAM_AREAS; i++)
    printf("%u %u %u %u\\n", atoll_isolation_sram[i].begin, atoll_isolation_sram[i].end,
           atoll_isolation_sram[i].reads, atoll_isolation_sram[i].writes);
  return ATOLL_ISOLATION_SRAM_MASTER_NPU != 5;
}
"""


def chip(reach: list[tuple[str, str]], granule: str) -> ResolvedSoc:
    """Return lagoon whose SRAM has a pool for each pair, of what cpu and npu may do in it."""
    pools = [
        f"pools.own{number}={{memory: sram, role: state, size: {SIZE},"
        f" reach: {{cpu: {cpu}, npu: {npu}}}}}"
        for number, (cpu, npu) in enumerate(reach)
    ]
    data = ["devices.cpu.data.memory=sram", "pools.shared.size=64 KiB"]
    return load_soc("lagoon", [*data, *pools, UNIT % granule])


def rights(rows: Sequence[tuple[int, ...]], address: int, master: int) -> tuple[bool, bool]:
    """Return whether a master may read and write a byte, as a unit has it that obeys the table."""
    found = [row for row in rows if row[0] <= address < row[1]]
    assert len(found) <= 1, "areas overlap"
    return (
        any(row[2] >> master & 1 for row in found),
        any(row[3] >> master & 1 for row in found),
    )


def judge(soc: ResolvedSoc, rows: Sequence[tuple[int, ...]], reach: list[tuple[str, str]]) -> None:
    for number, pair in enumerate(reach):
        region = soc.pool(f"own{number}").region
        for address in (region.origin, region.origin + SIZE // 2, region.origin + SIZE - 1):
            for master, granted in zip((0, 5), pair, strict=True):
                assert rights(rows, address, master) == RIGHTS[granted]
            assert rights(rows, address, 1) == (False, False)
    data = soc.host_cpu.data
    assert data.memory == "sram"
    assert rights(rows, data.origin, 0) == (True, True)
    assert rights(rows, data.origin, 5) == (False, False)


@settings(max_examples=10)
@given(st.lists(REACH, max_size=4), st.sampled_from(["256 B", "4 KiB", "16 KiB"]))
def test_areas_are_what_the_description_grants(reach: list[tuple[str, str]], granule: str) -> None:
    soc = chip(reach, granule)
    unit = soc.memory("sram").isolation
    assert unit
    rows = [
        (each.begin, each.end, each.reads, each.writes)
        for each in isolated_areas(soc, soc.memory("sram"))
    ]
    judge(soc, rows, reach)
    assert not any(edge % unit.granule for row in rows for edge in row[:2])


def test_a_program_finds_them_in_the_header(tmp_path: Path) -> None:
    reach = [("rw", "ro"), ("ro", "rw"), ("none", "rw")]
    soc = chip(reach, "4 KiB")
    (tmp_path / "atoll_isolation.h").write_text(isolation_header(soc))
    (tmp_path / "main.c").write_text(PROGRAM)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-o", "main", "main.c"]
    command = [sys.executable, "-m", "ziglang", "cc", *flags]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    judge(soc, [tuple(map(int, line.split())) for line in said.splitlines()], reach)


def test_a_chip_without_such_a_unit_has_no_table() -> None:
    assert "atoll_isolation.h" in header_files(chip([], "4 KiB"), (), {})
    assert "atoll_isolation.h" not in header_files(load_soc("lagoon"), (), {})
