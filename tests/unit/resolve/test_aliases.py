# SPDX-License-Identifier: Apache-2.0
"""Other addresses of a memory: its bytes are planned once, and each region is touched at one."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.remedy_follower import follow

from atoll.diagnostics.errors import AtollError
from atoll.resolve import load_soc
from atoll.resolve.explain import summary
from atoll.resolve.export import from_json, to_json
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees, device_address, on_bus
from atoll.resolve.soc import Cpu, ResolvedSoc

SRAM, NC, KIB = 0x2000_0000, 0x6000_0000, 1024
ALIAS = {"origin": NC, "alias_of": "sram", "offset": "64 KiB", "cached": False}
POOL = {"memory": "sram_nc", "role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}}
CACHE = {"core": "cortex_m7", "isa": "armv7e-m", "cache": {"line": 32}}


def regions_of(soc: ResolvedSoc, memory: str) -> list[tuple[int, int, str]]:
    return sorted((r.origin, r.end, r.name) for r in soc.regions() if r.memory == memory)


def test_an_alias_has_what_its_memory_says(chip: Any) -> None:
    soc = chip({"memories.sram.width": 8, "memories.sram_nc": ALIAS})
    (alias,) = soc.aliases
    assert [memory.name for memory in soc.memories] == ["flash", "sram"]
    assert (alias.byte, alias.size, alias.cached) == (SRAM + 64 * KIB, 192 * KIB, False)
    assert soc.layers["memories.sram_nc.width"] == "derived: as 'memories.sram'"


@pytest.mark.parametrize("kept", [{}, {"pools.near.size": "32 KiB"}])
def test_pools_at_both_addresses_share_no_byte(chip: Any, kept: dict[str, str]) -> None:
    near = {**POOL, "memory": "sram", "size": "200 KiB"}
    soc = chip({"memories.sram_nc": ALIAS, "pools.near": near, "pools.shared": POOL, **kept})
    regions = regions_of(soc, "sram")
    assert {name for *_, name in regions} >= {"near", "shared", "cpu.stack"}
    assert all(low[1] <= high[0] for low, high in pairwise(regions))
    shared = soc.pool("shared").region
    assert shared.origin >= SRAM + 64 * KIB
    assert shared.end <= SRAM + 256 * KIB


def test_what_a_pool_at_the_other_address_takes_is_gone(refused: Any) -> None:
    whole = {"origin": NC, "alias_of": "sram"}
    near = {**POOL, "memory": "sram", "offset": 0, "size": "256 KiB"}
    faults = refused({"memories.sram_nc": whole, "pools.near": near, "pools.shared": POOL})
    assert "E032 pool 'shared' finds no room in memory 'sram_nc' (an alias of 'sram')" in faults


def test_two_offsets_on_the_same_bytes_are_refused(refused: Any) -> None:
    near = {**POOL, "memory": "sram", "offset": "96 KiB", "size": "64 KiB"}
    far = {**POOL, "offset": "48 KiB", "size": "64 KiB"}
    assert refused({"memories.sram_nc": ALIAS, "pools.near": near, "pools.shared": far}) == [
        "E176 pools 'near' and 'shared' hold the same bytes of memory 'sram' at two addresses"
    ]


def test_an_offset_counts_from_the_first_byte_of_the_alias(chip: Any) -> None:
    soc = chip({"memories.sram_nc": ALIAS, "pools.shared": {**POOL, "offset": "16 KiB"}})
    shared = soc.pool("shared").region
    assert (shared.origin, shared.end) == (SRAM + 80 * KIB, SRAM + 256 * KIB)


def test_devices_touch_a_region_at_one_address_and_see_it_at_two(chip: Any) -> None:
    alias = {**ALIAS, "views": {"npu": 0x7000_0000}}
    soc = chip({"memories.sram_nc": alias, "pools.shared": POOL})
    byte = soc.pool("shared").region.origin + 8
    at = byte - SRAM - 64 * KIB
    assert device_address(soc, "cpu", byte) == NC + at
    assert device_address(soc, "npu", byte) == 0x7000_0000 + at
    for device, seen in (("cpu", NC), ("npu", 0x7000_0000)):
        assert on_bus(soc, device, seen + at) == on_bus(soc, device, byte) == byte
    assert on_bus(soc, "npu", NC + at) == NC + at, "it sees nothing there"
    stack = soc.host_cpu.stack.origin
    assert device_address(soc, "cpu", stack) == stack


def test_an_alias_is_a_memory_of_the_chip_as_a_device_sees_it(chip: Any) -> None:
    soc = chip({"memories.sram_nc": ALIAS, "pools.shared": POOL})
    seen = as_seen_by(soc, "cpu")
    region = seen.pool("shared").region
    assert (region.memory, region.origin) == (
        "sram_nc",
        device_address(soc, "cpu", soc.pool("shared").region.origin),
    )
    memory = seen.memory("sram_nc")
    assert memory.origin <= region.origin < region.end <= memory.end
    assert (memory.cached, seen.aliases) == (False, ())
    assert as_seen_by(seen, "cpu") is seen


def test_code_is_linked_where_the_core_touches_it(chip: Any) -> None:
    soc = chip(
        {
            "memories.flash_s": {"origin": 0x4800_0000, "alias_of": "flash"},
            "devices.cpu.code": {"memory": "flash_s"},
        }
    )
    core = core_as_it_sees(soc, soc.host_cpu)
    assert isinstance(core, Cpu)
    assert (soc.host_cpu.code.origin, core.code.origin, core.reset_address) == (
        0,
        0x4800_0000,
        0x4800_0000,
    )
    assert soc.aliases[0].regions == ("cpu.code",)


def test_an_engine_may_see_both_at_one_address(chip: Any) -> None:
    alias = {**ALIAS, "views": {"npu": SRAM + 64 * KIB}}
    soc = chip({"memories.sram_nc": alias, "pools.shared": POOL})
    region = soc.pool("shared").region
    assert device_address(soc, "npu", region.origin) == region.origin
    assert as_seen_by(soc, "npu").pool("shared").region == region


def test_regions_share_no_line_of_a_cache_that_keeps_it_once_for_each_address(chip: Any) -> None:
    sizes = {"devices.cpu.stack": {"memory": "sram", "size": 4112}, "pools.shared": POOL}
    soc = chip(
        {f"devices.cpu.{k}": v for k, v in CACHE.items()} | {"memories.sram_nc": ALIAS, **sizes}
    )
    for low, high in pairwise(regions_of(soc, "sram")):
        assert -(-low[1] // 32) <= high[0] // 32, (low, high)
    assert not soc.is_cached(soc.pool("shared"))
    cached = chip({f"devices.cpu.{k}": v for k, v in CACHE.items()})
    assert cached.is_cached(cached.pool("shared"))


def test_an_alias_outlives_a_file_and_is_told(chip: Any) -> None:
    soc = chip({"memories.sram_nc": ALIAS, "pools.shared": POOL})
    assert from_json(to_json(soc)) == soc
    (table,) = (each for each in summary(soc) if each.key == "aliases")
    assert [row[:2] for row in table.rows] == [("sram_nc", "sram")]


def test_a_dma_engine_copies_between_memories_by_any_of_their_names(chip: Any) -> None:
    dma = {"kind": "dma", "engine": "ripple", "registers": 0x4001_0000, "irq": 4}
    soc = chip(
        {
            "memories.sram_nc": ALIAS,
            "pools.shared": {**POOL, "others": "rw"},
            "pools.weights.others": "ro",
            "devices.dma": {**dma, "moves": [["flash", "sram_nc"]]},
        }
    )
    assert soc.dmas[0].moves == (("flash", "sram"),)


@pytest.mark.parametrize("word", ["none", "sram_s"])
def test_twins_are_a_question_until_somebody_answers(chip: Any, refused: Any, word: str) -> None:
    twins = {
        "memories.sram_s": {"origin": 0x3000_0000, "size": "64 KiB", "kind": "ram"},
        "memories.sram_ns": {"origin": 0x2100_0000, "size": "64 KiB", "kind": "ram"},
    }
    (fault,) = refused(twins)
    assert fault.startswith("E175 memories 'sram_ns' and 'sram_s' have the same size")
    soc = chip({**twins, "memories.sram_ns.alias_of": word})
    assert len(soc.aliases) == (word != "none")


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("sram1", "sram1_c"),
        ("s_ram2", "ns_ram2"),
        ("ram_secure", "ram_nonsecure"),
        ("secure_ram", "ram_non_secure"),
        ("itcm", "itcm_sysbus"),
        ("dtcm", "dtcm_dma"),
        ("cbus", "sbus"),
        ("l2_cbus", "l2_sbus"),
        ("psram_cached", "psram_uncached"),
        ("cached_ddr", "ddr"),
        ("l2mem", "nc_l2mem"),
        ("x_iram", "x_dram"),
        ("sram_code", "sram_sys"),
        ("sram_code", "sram_system"),
        ("ocram", "ocram_code"),
        ("psram", "psram_cache_off"),
        ("psram_cache_on", "psram_no_cache"),
        ("l2mem", "l2mem_uncached"),
        ("l2mem", "uncachedl2mem"),
        ("x", "x_alias"),
        ("nor", "normirror"),
        ("ram_ns_1", "ram_s_1"),
        ("ram_ns1", "ram_s1"),
        ("ddr_cached_32bit", "ddr_non_cached_32bit"),
        ("ddr", "ddr_wcb"),
        ("kseg0_ram", "kseg1_ram"),
        ("tcm", "tcm_global"),
        ("nor", "nor_nsc"),
    ],
)
def test_words_of_vendors_at_either_end_are_a_question(refused: Any, one: str, two: str) -> None:
    kind = {"size": "64 KiB", "kind": "ram"}
    twins = {
        f"memories.{one}": {"origin": 0x3000_0000, **kind},
        f"memories.{two}": {"origin": 0x3100_0000, **kind},
    }
    assert [fault[:4] for fault in refused(twins)] == ["E175"]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_remedies_of_aliases_of_each_other_make_a_chip(
    chip_file: Callable[[dict[str, object]], Path], count: int, whole: bool
) -> None:
    """One of them is the memory; the others and what leads to them become aliases of it."""
    kind = {"size": "64 KiB", "kind": "ram"} if whole else {}
    chip: dict[str, object] = {
        f"memories.m{index}": {
            "origin": 0x3000_0000 + (index << 24),
            "alias_of": f"m{(index + 1) % count}",
            **kind,
        }
        for index in range(count)
    }
    chip["memories.last"] = {"origin": 0x4800_0000, "alias_of": f"m{count - 1}"}
    path = chip_file(chip)
    for _ in range(count + 1):
        with pytest.raises(AtollError) as caught:
            load_soc(path)
        (fault, *_) = caught.value.faults
        assert fault.code == "E173"
        tail = ", and write its size and kind"
        if fault.remedy and fault.remedy.endswith(tail):
            assert not whole
            name = str(fault.remedy).split("'")[1].split(".")[1]
            chip[f"memories.{name}"] = {"origin": 0x3000_0000, "size": "64 KiB", "kind": "ram"}
            path = chip_file(chip)
        else:
            follow(fault, path)
        try:
            soc = load_soc(path)
        except AtollError:
            continue
        break
    assert {alias.memory for alias in soc.aliases} == {"m0"}
    assert len(soc.aliases) == count


def test_an_alias_of_aliases_is_one_of_the_memory(refused: Any) -> None:
    """Each remedy names the memory in which the aliases end, not the next one."""
    chain = {"a": "sram", "b": "a", "c": "b"}
    faults = {
        f"memories.{name}": {"origin": 0x3000_0000 + (index << 24), "alias_of": real}
        for index, (name, real) in enumerate(chain.items())
    }
    assert [each[:4] for each in refused(faults)] == ["E173", "E173"]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("sram1", "sram2"),
        ("sram_a", "sram_b"),
        ("imem", "dmem"),
        ("code", "data"),
        ("ocram_m4", "ocram_m7"),
        ("itcm", "dtcm"),
        ("ram_s", "rom_ns"),
        ("itcm0", "itcm1"),
        ("ram", "rams"),
        ("sram0", "sram1"),
        ("sram_0", "sram_1"),
        ("ram_s0", "ram_s1"),
        ("ram_s_0", "ram_ns_1"),
        ("on_chip_ram", "off_chip_ram"),
        ("icache_ram", "dcache_ram"),
        ("cache", "ram"),
        ("ram_on", "ram_off"),
    ],
)
def test_memories_of_other_names_are_no_question(chip: Any, one: str, two: str) -> None:
    kind = {"size": "64 KiB", "kind": "ram"}
    chip(
        {
            f"memories.{one}": {"origin": 0x3000_0000, **kind},
            f"memories.{two}": {"origin": 0x3100_0000, **kind},
        }
    )
