# SPDX-License-Identifier: Apache-2.0
"""The tables of a package are those that the start-up code loads, and valid C."""

import re
from pathlib import Path

import pytest

from atoll.bsp.emitters import bsp_files
from atoll.bsp.toolchain import find_toolchain
from atoll.resolve import load_soc
from atoll.resolve.protection.table import table_of
from atoll_board.package import Board, package_files

ON = "devices.cpu.protection=true"
CORES = {
    "ibex": ("devices.cpu.core=ibex", ON),
    "m7": ("devices.cpu.core=cortex_m7", "devices.cpu.isa=armv7e-m", ON),
    "m33": ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main", ON),
}


@pytest.mark.parametrize("name", CORES)
def test_the_words_are_those_of_the_start_up_code(name: str, tmp_path: Path) -> None:
    soc = load_soc("lagoon", CORES[name])
    files = package_files(Board(soc=soc), ["protection"])["protection"]
    (text,) = (entry.data.decode() for entry in files.values())
    rows = re.findall(r"\{UINT32_C\((0x\w+)\), UINT32_C\((0x\w+)\)\}", text)
    words = [(int(one, 16), int(two, 16)) for one, two in rows]
    assert words == [each.words for each in table_of(soc, soc.host_cpu)]
    assert f"ATOLL_PROTECTION_CPU_ENTRIES {len(words)}\n" in text
    startup = next(text for path, text in bsp_files(soc).items() if path == "startup.S")
    numbers = {int(number, 16) for number in re.findall(r"0x[0-9A-Fa-f]+", startup)}
    assert {two for _, two in words} <= numbers
    (tmp_path / "table.h").write_text(text)
    (tmp_path / "table.c").write_text(
        '#include "table.h"\nint rows = sizeof atoll_protection_cpu;\n'
    )
    find_toolchain(soc.host_cpu).compile("table.c", tmp_path / "table.o", folder=tmp_path)


def test_no_table_without_protection() -> None:
    assert not package_files(Board(soc=load_soc("lagoon")), ["protection"])["protection"]
