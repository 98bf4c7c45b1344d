# SPDX-License-Identifier: Apache-2.0
"""C3, C6: shadow memory and firewalls come from one description, and agree on every region."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.chip.plan import plan_chip
from atoll_sim.protocol.records import AccessKind
from atoll_sim.shadow.memory import HostShadow
from atoll_sim.shadow.table import ShadowTable, shadow_table
from atoll_sim.trace.findings import name_findings

READ, WRITE, _ = AccessKind

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
CHIPS = (
    "lagoon",
    "atoll2",
    *(str(ROOT / "tests" / "data" / f"{n}.yaml") for n in ("islands_dma",)),
)
DENIED = {"device without reach", "stack of another device"}


def edges(soc: ResolvedSoc) -> Iterator[int]:
    """Yield the first and the last byte of every region, and their neighbours in memory."""
    for region in soc.regions():
        memory = soc.memory(region.memory)
        near = (region.origin - 1, region.origin, region.end - 1, region.end)
        yield from (address for address in near if memory.origin <= address < memory.end)


def rule(soc: ResolvedSoc, table: ShadowTable, master: int, kind: AccessKind, address: int) -> str:
    """Return what is wrong with one access between runs, or nothing."""
    shadow = HostShadow()
    assert shadow.load(table.words)
    shadow.touch(master, kind, address, 1)
    found = name_findings(shadow.findings()[0], table, soc)
    return found[0].violation.rule if found else ""


@pytest.mark.parametrize("chip", CHIPS)
def test_c3_c6_the_shadow_denies_what_the_firewall_keeps_back(chip: str) -> None:
    soc = load_soc(chip)
    table = shadow_table(soc, [compile_file(soc, DIGITS).contract])
    for master in plan_chip(soc).masters:
        assert table.masters[master.index] == master.name
        for address in edges(soc):
            for kind, windows in (
                (READ, master.readable),
                (WRITE, master.writable),
            ):
                passes = any(address in window for window in windows)
                found = rule(soc, table, master.index, kind, address)
                where = (
                    f"{master.name} {'reads' if kind == READ else 'writes'} {address:#x}: {found}"
                )
                if passes:
                    assert found not in DENIED, where
                else:
                    assert found, where
