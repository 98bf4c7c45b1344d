# SPDX-License-Identifier: Apache-2.0
"""Regions take the place that docs/description.md promises."""

from typing import Any

KIB = 1024
ROLE = {"role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}}
TCM = {"memories.tcm": {"origin": 0x3000_0000, "size": "64 KiB", "kind": "ram"}}


def spans(soc: Any, memory: str) -> list[tuple[str, int, int]]:
    """Return (region, offset, size) of a memory, by offset."""
    origin = soc.memory(memory).origin
    found = [region for region in soc.regions() if region.memory == memory]
    return sorted(((r.name, r.origin - origin, r.size) for r in found), key=lambda span: span[1])


def test_code_first_then_what_is_left(chip: Any) -> None:
    soc = chip()
    assert spans(soc, "flash") == [
        ("cpu.code", 0, 128 * KIB),
        ("weights", 128 * KIB, 896 * KIB),
    ]
    assert spans(soc, "sram") == [
        ("cpu.stack", 0, 8 * KIB),
        ("cpu.data", 8 * KIB, 4 * KIB),
        ("shared", 12 * KIB, 244 * KIB),
    ]


def test_code_takes_at_most_half_of_a_small_memory(chip: Any) -> None:
    assert spans(chip({"memories.flash.size": "100 KiB"}), "flash")[0] == ("cpu.code", 0, 50 * KIB)


def test_without_rom_code_lies_beside_the_stack(chip: Any, refused: Any) -> None:
    (fault,) = refused({"memories.flash.kind": "ram"})
    assert fault.startswith("E034 pool 'weights'")
    spelled = {"devices.cpu.code": {"memory": "sram", "size": "16 KiB"}}
    soc = chip(spelled)
    assert spans(soc, "sram")[:2] == [("cpu.code", 0, 16 * KIB), ("cpu.stack", 16 * KIB, 8 * KIB)]


def test_parts_of_a_core_can_be_placed(chip: Any) -> None:
    soc = chip({**TCM, "devices.cpu.data": {"memory": "tcm", "size": "1 KiB"}})
    assert spans(soc, "tcm") == [("cpu.data", 0, KIB)]


def test_m1_offsets_come_first_and_gaps_are_filled(chip: Any) -> None:
    soc = chip(
        {
            **TCM,
            "pools.pinned": {"memory": "tcm", "offset": "16 KiB", "size": "16 KiB", **ROLE},
            "pools.sized": {"memory": "tcm", "size": "20 KiB", **ROLE},
            "pools.rest": {"memory": "tcm", **ROLE},
        }
    )
    assert spans(soc, "tcm") == [
        ("rest", 0, 16 * KIB),
        ("pinned", 16 * KIB, 16 * KIB),
        ("sized", 32 * KIB, 20 * KIB),
    ]


def test_an_offset_without_size_reaches_to_the_next_offset(chip: Any) -> None:
    soc = chip(
        {
            **TCM,
            "pools.low": {"memory": "tcm", "offset": 0, **ROLE},
            "pools.high": {"memory": "tcm", "offset": "48 KiB", **ROLE},
        }
    )
    assert spans(soc, "tcm") == [("low", 0, 48 * KIB), ("high", 48 * KIB, 16 * KIB)]


def test_m1_preference_comes_before_the_name(chip: Any) -> None:
    soc = chip(
        {
            **TCM,
            "pools.aaa": {"memory": "tcm", "size": "1 KiB", "preference": 1, **ROLE},
            "pools.pool10": {"memory": "tcm", "size": "1 KiB", **ROLE},
            "pools.pool9": {"memory": "tcm", "size": "1 KiB", **ROLE},
        }
    )
    assert [name for name, _, _ in spans(soc, "tcm")] == ["pool9", "pool10", "aaa"]
    assert [pool.name for pool in soc.pools] == ["pool9", "pool10", "shared", "weights", "aaa"]


def test_m1_alignment_counts_from_address_zero(chip: Any, refused: Any) -> None:
    odd = {"memories.odd": {"origin": 0x3000_0010, "size": "64 KiB", "kind": "ram"}}
    soc = chip({**odd, "pools.aligned": {"memory": "odd", "size": 64, "alignment": 256, **ROLE}})
    assert soc.pool("aligned").region.origin == 0x3000_0100
    pinned = {"memory": "odd", "offset": 0, "size": 64, "alignment": 256, **ROLE}
    (fault,) = refused({**odd, "pools.aligned": pinned})
    assert fault.startswith("E035 pool 'aligned' begins at 0x30000010")


def test_both_sides_of_a_full_memory(chip: Any, refused: Any) -> None:
    exact = {"pools.shared.size": 244 * KIB}
    assert spans(chip(exact), "sram")[-1] == ("shared", 12 * KIB, 244 * KIB)
    assert refused({"pools.shared.size": 244 * KIB + 1}) == [
        "E032 pool 'shared' needs 249857 B in memory 'sram', whose largest free span is 244 KiB"
    ]


def test_a_pinned_pool_may_end_with_its_memory_and_not_a_byte_later(
    chip: Any, refused: Any
) -> None:
    pool = {"memory": "tcm", "offset": "32 KiB", **ROLE}
    soc = chip({**TCM, "pools.late": {**pool, "size": 32 * KIB}})
    assert soc.pool("late").region.end == soc.memory("tcm").end
    assert refused({**TCM, "pools.late": {**pool, "size": 32 * KIB + 1}}) == [
        "E032 pool 'late' ends 1 B past the end of memory 'tcm'"
    ]


def test_an_offset_past_the_end(refused: Any) -> None:
    pool = {"memory": "sram", "offset": "256 KiB", **ROLE}
    assert refused({"pools.late": pool})[0] == (
        "E032 pool 'late' begins past the end of memory 'sram'"
    )


def test_two_pools_for_one_rest(refused: Any) -> None:
    (fault,) = refused({"pools.tail": {"memory": "sram", **ROLE}})
    assert fault == (
        "E032 pool 'tail' finds no room in memory 'sram': 'shared' has no 'size' and took the rest"
    )


def test_the_hosts_code_is_lowest(chip: Any) -> None:
    other = {"kind": "cpu", "isa": "rv32im", "stack": {"memory": "sram", "size": "1 KiB"}}
    soc = chip(
        {
            "devices.boss": other,
            "host": "cpu",
            "pools.weights.reach.boss": "ro",
            "pools.shared.reach.boss": "rw",
        }
    )
    assert [name for name, _, _ in spans(soc, "flash")] == ["cpu.code", "boss.code", "weights"]
    assert [cpu.name for cpu in soc.cpus] == ["boss", "cpu"]
