# SPDX-License-Identifier: Apache-2.0
"""Nothing on the bus overlaps, and both sides of each boundary are told apart."""

from typing import Any

import pytest

SRAM_END = 0x2000_0000 + 256 * 1024


def test_memories_come_by_origin(chip: Any) -> None:
    soc = chip({"memories.flash.origin": 0x7000_0000})
    assert [memory.name for memory in soc.memories] == ["sram", "flash"]


def test_adjacent_memories_do_not_overlap(chip: Any) -> None:
    other = {"origin": SRAM_END, "size": 16, "kind": "ram"}
    soc = chip({"memories.other": other})
    assert soc.memory("other").origin == soc.memory("sram").end


def test_one_shared_byte_is_an_overlap(refused: Any) -> None:
    other = {"origin": SRAM_END - 16, "size": 32, "kind": "ram"}
    assert refused({"memories.other": other}) == [
        f"E031 memory 'other' at {SRAM_END - 16:#x} overlaps memory 'sram',"
        f" which reaches from 0x20000000 to {SRAM_END - 1:#x}"
    ]


def test_a_memory_inside_a_larger_one_is_found_behind_a_third(refused: Any) -> None:
    faults = refused(
        {
            "memories.first": {"origin": 0x2000_0100, "size": 16, "kind": "ram"},
            "memories.second": {"origin": 0x2000_1000, "size": 16, "kind": "ram"},
        }
    )
    assert [fault.split(" at ")[0] for fault in faults] == [
        "E031 memory 'first'",
        "E031 memory 'second'",
    ]


@pytest.mark.parametrize("origin", [0x2000_0000, 0xF000_0000])
def test_registers_overlap_memories_and_the_console(refused: Any, origin: int) -> None:
    (fault,) = refused({"devices.npu.registers": origin})
    assert fault.startswith("E031")
    assert "register block of 'npu'" in fault


def test_the_console_can_move(chip: Any) -> None:
    soc = chip({"console": 0x9000_0000, "devices.npu.registers": 0xF000_0000})
    assert (soc.console.origin, soc.console.size) == (0x9000_0000, 4096)


def test_registers_lie_on_a_page(refused: Any) -> None:
    (fault,) = refused({"devices.npu.registers": 0x4000_0800})
    assert fault.startswith("E038")


def test_the_last_address_is_usable(chip: Any, refused: Any) -> None:
    top = {"origin": 2**32 - 32, "size": 32, "kind": "ram"}
    assert chip({"memories.top": top}).memory("top").end == 2**32
    (fault,) = refused({"memories.top": {**top, "size": 48}})
    assert fault == "E030 memory 'top' ends past the 32-bit address space"


def test_the_largest_memory_is_2_gibibytes(chip: Any, refused: Any) -> None:
    large = {"origin": 0x8000_0000, "size": "1792 MiB", "kind": "ram"}
    assert chip({"memories.large": large}).memory("large").size == 1792 * 2**20
    for more in (2**31 + 16, "3 GiB", "16 GiB", "64 GiB"):
        (fault,) = refused({"memories.large": {**large, "size": more}})
        assert fault.startswith("E037")


@pytest.mark.parametrize(("field", "value"), [("origin", 0x8000_0001), ("size", 65)])
def test_memories_come_in_units_of_16_bytes(refused: Any, field: str, value: int) -> None:
    memory = {"origin": 0x8000_0000, "size": 64, "kind": "ram"} | {field: value}
    (fault,) = refused({"memories.odd": memory})
    assert fault.startswith(f"E035 the {field} of memory 'odd'")
