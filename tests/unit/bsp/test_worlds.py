# SPDX-License-Identifier: Apache-2.0
"""Tables for the secure world: an SAU that obeys them opens what an image touches, and no more."""

import re
from pathlib import Path

import pytest

from atoll.bsp.headers import sau_header
from atoll.resolve import load_soc

CHIP = Path(__file__).parents[2] / "data" / "worlds" / "mcxn947_non_secure.yaml"
ROW = re.compile(r"\{UINT32_C\((0x\w+)\), UINT32_C\((0x\w+)\)\}")
ENABLE, CALLABLE = 1, 2
SYSCON = (0x4000_0800, 0x4000_0804)
"""CPUCTRL and CPBOOT, which the host writes to let the second core begin."""
SECURE = 0x1000_0000
"""How much higher each memory and register is for secure accesses."""


def opened(core: str) -> list[range]:
    """Return what the SAU has open for a core of the chip, by the words of its two registers."""
    soc = load_soc(CHIP)
    (cpu,) = (each for each in soc.cpus if each.name == core)
    words = [[int(word, 16) for word in row] for row in ROW.findall(sau_header(soc, cpu))]
    assert words
    assert all(limit & (ENABLE | CALLABLE) == ENABLE for _, limit in words)
    return [range(base & ~31, (limit | 31) + 1) for base, limit in words]


@pytest.mark.parametrize("core", ["cpu0", "cpu1"])
def test_regions_of_a_core_are_open_to_their_edges(core: str) -> None:
    soc, areas = load_soc(CHIP), opened(core)
    (cpu,) = (each for each in soc.cpus if each.name == core)
    own = [cpu.code, cpu.data, cpu.stack, *(pool.region for pool in soc.pools)]
    for region in own:
        for address in (region.origin, region.origin + region.size - 1):
            assert any(address in area for area in areas), (region.name, hex(address))
            assert not any(address + SECURE in area for area in areas)


def test_registers_that_release_a_core_are_open_to_the_host_alone() -> None:
    host, other = opened("cpu0"), opened("cpu1")
    for address in SYSCON:
        assert any(address in area for area in host), hex(address)
        assert not any(address in area for area in other)
    beside = SYSCON[0] - 4, SYSCON[0] + 32
    assert not any(address in area for area in host for address in beside)
