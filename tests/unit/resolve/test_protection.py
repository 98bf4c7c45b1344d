# SPDX-License-Identifier: Apache-2.0
"""Tables of protection units open what a core may touch and nothing else, byte by byte."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.resolve.protection_reader import (
    mpu_v7_allows,
    mpu_v7_kept,
    mpu_v8_allows,
    mpu_v8_kept,
    pmp_allows,
)

from atoll.diagnostics.errors import DescriptionError
from atoll.resolve import load_soc
from atoll.resolve.claims import GUARD
from atoll.resolve.protection import mpu, pmp
from atoll.resolve.protection.area import Area, areas_of
from atoll.resolve.protection.entry import Entry
from atoll.resolve.protection.table import entries_of, table_of
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.specs import ProtectionUnit

Allows = Callable[[int, str], bool]

GUARDED = Path(__file__).parents[2] / "data" / "caches" / "guarded.yaml"
CRAB = Path(__file__).parents[2] / "data" / "crab.yaml"
ON = "devices.cpu.protection=true"
IBEX = (ON, "devices.cpu.core=ibex")
CORTEX_M33 = (ON, "devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main")


def pmp_of(table: Iterable[Entry]) -> Allows:
    """Return what the registers say that start-up code writes."""
    entries = tuple(table)
    addresses = [entry.words[1] for entry in entries]
    packed = pmp.rights(entries, 32).values()
    configurations = [word >> 8 * byte & 0xFF for word in packed for byte in range(4)]
    addresses += [0] * (len(configurations) - len(addresses))
    return lambda at, how: pmp_allows(addresses, configurations, at, how)


def mpu_of(table: Iterable[Entry], allows: Callable[..., bool]) -> Allows:
    words = [(entry.words[0], entry.words[1]) for entry in table]
    return lambda at, how: allows(words, at, how)


def expected(areas: Iterable[Area], at: int, how: str) -> bool:
    for area in areas:
        if area.begin <= at < area.end:
            return how == "r" or (area.writes if how == "w" else area.runs)
    return False


def edges(areas: Iterable[Area]) -> set[int]:
    near = {e + d for a in areas for e in (a.begin, a.end) for d in (-4, -1, 0, 1, 4)}
    return {at for at in near | {0, 0x8000_0000, 2**32 - 1} if 0 <= at < 2**32}


@st.composite
def some_areas(draw: st.DrawFn, granule: int) -> tuple[Area, ...]:
    cuts = sorted(draw(st.sets(st.integers(0, 300), min_size=2, max_size=9)))
    shift = draw(st.integers(0, 12))
    base = draw(st.sampled_from((0, 0x1000_0000, 0x2000_0000)))
    areas = []
    for low, high in pairwise(cuts):
        kind = draw(st.sampled_from(("closed", "ro", "rw", "rx")))
        if kind != "closed":
            areas.append(
                Area(
                    begin=base + low * (granule << shift),
                    end=base + high * (granule << shift),
                    writes=kind == "rw",
                    runs=kind == "rx",
                    registers=False,
                    names=(kind,),
                )
            )
    return tuple(areas)


def held(areas: tuple[Area, ...], allows: Allows) -> None:
    for at in edges(areas):
        for how in "rwx":
            assert allows(at, how) is expected(areas, at, how), (hex(at), how, areas)


@given(some_areas(4))
def test_pmp_opens_just_the_areas(areas: tuple[Area, ...]) -> None:
    held(areas, pmp_of(pmp.entries(areas, 32)))


@given(some_areas(32))
def test_mpu_v7_opens_just_the_areas(areas: tuple[Area, ...]) -> None:
    held(areas, mpu_of(mpu.entries_v7(areas, 32), mpu_v7_allows))


@given(some_areas(256))
def test_mpu_v7_of_armv6m_opens_just_the_areas(areas: tuple[Area, ...]) -> None:
    table = mpu.entries_v7(areas, 256)
    held(areas, mpu_of(table, mpu_v7_allows))


@given(some_areas(32))
def test_mpu_v8_opens_just_the_areas(areas: tuple[Area, ...]) -> None:
    held(areas, mpu_of(mpu.entries_v8(areas), mpu_v8_allows))


def test_pmp_entries_of_64_bits_are_packed_by_eight() -> None:
    area = Area(begin=0x1004, end=0x1010, writes=True, runs=False, registers=False, names=("pool",))
    table = pmp.entries((area,), 64)
    assert [entry.words[1] for entry in table] == [0x401, 0x404, (1 << 54) - 1]
    assert pmp.rights(table, 64) == {"pmpcfg0": 0x98_8B_80}


@pytest.mark.parametrize("overrides", [IBEX, CORTEX_M33])
def test_a_core_reaches_what_its_firewall_lets_through(overrides: tuple[str, ...]) -> None:
    soc = load_soc("lagoon", overrides)
    cpu = soc.host_cpu
    allows = allowed(soc)
    for window, access in soc.windows(cpu):
        for at in (window.origin, window.origin + window.size - 1):
            assert allows(at, "r")
            assert allows(at, "w") is (access == "rw")
            assert allows(at, "x") is (window is cpu.code)


def allowed(soc: ResolvedSoc) -> Allows:
    table = table_of(soc, soc.host_cpu)
    is_pmp = soc.host_cpu.spec.protection == ProtectionUnit(unit="pmp", regions=16, granule=4)
    return pmp_of(table) if is_pmp else mpu_of(table, mpu_v8_allows)


@pytest.mark.parametrize("overrides", [IBEX, CORTEX_M33])
def test_nothing_opens_what_lies_below_a_stack(overrides: tuple[str, ...]) -> None:
    threads = "devices.cpu.stack={memory: dtcm, size: 2KiB, threads: {io: 4KiB}}"
    soc = load_soc("lagoon", (*overrides, threads))
    allows = allowed(soc)
    stacks = soc.host_cpu.stacks
    assert len(stacks) == 2
    for stack in stacks:
        for at in range(stack.origin - GUARD, stack.origin, 4):
            assert not allows(at, "r")
            assert not allows(at, "w")
        assert allows(stack.origin, "w")


def test_regions_begin_at_multiples_of_the_granule() -> None:
    odd = "pools.odd={memory: sram, role: workspace, size: 1000, reach: {cpu: rw, npu: none}}"
    soc = load_soc("lagoon", (*CORTEX_M33, odd))
    assert soc.pool("shared").region.origin % 32 == 0
    areas = areas_of(soc, soc.host_cpu, 32)
    assert all(area.begin % 32 == area.end % 32 == 0 for area in areas)


@pytest.mark.parametrize(("write_back", "kept"), [("true", "back"), ("false", "through")])
@pytest.mark.parametrize("unit", ["mpu_v7", "mpu_v8"])
def test_a_unit_lets_the_cache_keep_what_is_cached(unit: str, write_back: str, kept: str) -> None:
    """The table of the one unit is made for the core of the other too."""
    soc = load_soc(str(GUARDED), [f"devices.cpu.cache.write_back={write_back}"])
    areas = areas_of(soc, soc.host_cpu, 32)
    table = entries_of(ProtectionUnit(unit=unit, regions=16, granule=32), areas, 32)
    words = [(entry.words[0], entry.words[1]) for entry in table]
    found = {
        name: mpu_v7_kept(words, area.begin)
        if unit == "mpu_v7"
        else mpu_v8_kept(words, mpu.attributes_v8(areas), area.begin)
        for area in areas
        for name in area.names
    }
    assert found == {
        **dict.fromkeys(("cpu.code", "weights", "shared"), kept),
        **dict.fromkeys(("cpu.stack", "cpu.data", "private", "npu.registers", "console"), ""),
    }


def test_without_a_cache_memory_stays_as_it_was() -> None:
    soc = load_soc("lagoon", CORTEX_M33)
    areas = areas_of(soc, soc.host_cpu, 32)
    assert {area.kept for area in areas} == {""}
    assert mpu.attributes_v8(areas) == 0x0444


def test_without_protection_a_chip_stays_as_it_is() -> None:
    soc = load_soc("lagoon", ("devices.cpu.core=ibex",))
    assert table_of(soc, soc.host_cpu) == ()
    assert soc.host_cpu.stack.origin == soc.memory("dtcm").origin


def test_a_remote_core_gets_no_registers_of_others() -> None:
    soc = load_soc("twin", ("devices.dsp.core=ibex", "devices.dsp.protection=true"))
    dsp = next(cpu for cpu in soc.cpus if cpu.name == "dsp")
    names = {name for entry in table_of(soc, dsp) for name in entry.what.split(", ")}
    assert "dsp.mailbox" in names
    assert not names & {"console", "npu0.registers", "npu1.registers"}
    assert table_of(soc, soc.host_cpu) == ()


def test_too_few_regions_are_an_error_that_says_what_merges() -> None:
    overrides = ("devices.cpu.core=cortex_m3", "devices.cpu.isa=armv7-m", ON)
    with pytest.raises(DescriptionError, match="E105"):
        load_soc("lagoon", overrides)


def test_guards_between_stacks_are_closed_within_one_range() -> None:
    """Six windows of three threads in a row: three guards, one begin, one range."""
    in_flash = ("devices.audio_dsp.code.memory=flash", "devices.audio_dsp.loader=xip")
    joined = ("devices.cpu.core=ibex", "devices.rest.registers=0x4000_1000", ON)
    soc = load_soc(CRAB, (*joined, *in_flash))
    table = table_of(soc, soc.host_cpu)
    assert len(table) == 16
    (stacks,) = (entry for entry in table if "cpu.net.stack" in entry.what)
    closed = [entry for entry in table if entry.what == "closed, within the next that opens"]
    assert stacks.what == "cpu.stack, cpu.log.stack, cpu.net.stack, cpu.ui.stack, cpu.data, near"
    assert [entry.end - entry.begin for entry in closed] == [GUARD] * 3
    held(areas_of(soc, soc.host_cpu, 4), pmp_of(table))


def test_registers_that_adjoin_are_the_remedy_where_stacks_have_merged() -> None:
    in_flash = ("devices.audio_dsp.code.memory=flash", "devices.audio_dsp.loader=xip")
    with pytest.raises(DescriptionError, match="E105") as caught:
        load_soc(CRAB, ("devices.cpu.core=ibex", ON, *in_flash))
    assert caught.value.faults[0].remedy == "set 'devices.rest.registers' to 0x4000_1000"
