# SPDX-License-Identifier: Apache-2.0
"""Nothing on the bus overlaps, and both sides of each boundary are told apart."""

from typing import Any

import pytest

from atoll.codegen.pool_images import far_pools
from atoll.resolve.memory_views import as_seen_by, device_address, on_bus

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
    assert fault == (
        "E030 memory 'top' ends past the 32-bit address space, and 'cpu' is a core of 32 bits"
        " (rv32imc)"
    )


def test_the_largest_memory_is_2_gibibytes(chip: Any, refused: Any) -> None:
    large = {"origin": 0x8000_0000, "size": "1792 MiB", "kind": "ram"}
    assert chip({"memories.large": large}).memory("large").size == 1792 * 2**20
    for more in (2**31 + 16, "3 GiB", "16 GiB", "64 GiB"):
        (fault,) = refused({"memories.large": {**large, "size": more}})
        assert fault.startswith("E037")


RV64 = {"devices.cpu.core": "riscv", "devices.cpu.isa": "rv64gc"}
FAR = {"origin": 0x8000_0000, "size": "16 GiB", "kind": "ram"}
PAST = {"origin": 0x10_0000_0000, "size": "4 GiB", "kind": "ram"}
STEPS = {
    kind: [{"write": 0x7000_0000 + at, "value": "line"}]
    for kind, at in (("clean", 0), ("invalidate", 4))
}
LOW_CONSOLE = {"console": 0x6000_0000}


def test_a_core_of_64_bits_sees_memories_up_to_48_bits(chip: Any, refused: Any) -> None:
    wide = {**RV64, **LOW_CONSOLE}
    memory = chip({**wide, "memories.far": FAR}).memory("far")
    assert (memory.size, memory.end) == (16 * 2**30, 0x4_8000_0000)
    assert (memory.low.start, memory.low.stop) == (0x8000_0000, 2**32)
    assert not chip({**wide, "memories.past": PAST}).memory("past").low
    last = {**PAST, "origin": 2**48 - 2**32}
    assert chip({**wide, "memories.last": last}).memory("last").end == 2**48
    (fault,) = refused({**wide, "memories.last": {**last, "size": 2**32 + 16}})
    assert fault == "E030 memory 'last' ends past the 48-bit address space"


def test_no_region_lies_past_4_gibibytes(chip: Any, refused: Any) -> None:
    wide = {**RV64, **LOW_CONSOLE, "memories.far": FAR}
    pool = {"memory": "far", "role": "workspace", "reach": {"cpu": "rw", "npu": "none"}}
    full = chip({**wide, "pools.large": {**pool, "size": "2 GiB"}})
    assert full.pool("large").region.end == 2**32
    assert refused({**wide, "pools.large": {**pool, "size": 2**31 + 16}}) == [
        "E261 pool 'large' ends at 0x10000000f, past 4 GiB: what Atoll generates for 'cpu' has"
        " 32-bit addresses"
    ]
    reached = {**pool, "reach": {"cpu": "rw", "npu": "rw"}}
    assert refused({**wide, "pools.large": reached}) == [
        "E261 pool 'large' ends at 0x47fffffff, past 4 GiB: the registers and ports of 'npu' carry"
        " 32-bit addresses"
    ]
    (fault,) = refused({**wide, "devices.cpu.data": {"memory": "past"}, "memories.past": PAST})
    assert fault.startswith("E261 'cpu.data' ends at 0x1000000fff, past 4 GiB")


def test_a_pool_has_at_most_2_gibibytes(chip: Any, refused: Any) -> None:
    """An offset in it is a number of 32 bits with a sign."""
    low = {"origin": 0x6000_1000, "size": "16 GiB", "kind": "ram"}
    pool = {"memory": "far", "role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}}
    wide = {**RV64, **LOW_CONSOLE, "memories.far": low}
    assert chip({**wide, "pools.large": {**pool, "size": "2 GiB"}})
    (fault,) = refused({**wide, "pools.large": {**pool, "size": "2049 MiB"}})
    assert fault == "E037 pool 'large' has 2049 MiB, and a description at most 2 GiB of one"


SEEN = {"origin": 0x5000_0000, "size": "256 MiB", "kind": "ram", "views": {"cpu": 0x8_0000_0000}}
OWN = {"memory": "seen", "role": "workspace", "reach": {"cpu": "rw", "npu": "rw"}}


def test_a_core_of_64_bits_sees_pools_past_4_gibibytes(chip: Any) -> None:
    """Engines see them where the bus has them."""
    soc = chip({**RV64, **LOW_CONSOLE, "memories.seen": SEEN, "pools.own": OWN})
    origin = soc.pool("own").region.origin
    assert (origin, device_address(soc, "cpu", origin)) == (0x5000_0000, 0x8_0000_0000)
    assert device_address(soc, "npu", origin) == origin
    assert on_bus(soc, "cpu", 0x8_0000_0010) == 0x5000_0010
    assert as_seen_by(soc, "cpu").pool("own").region.origin == 0x8_0000_0000
    assert (far_pools(soc, "cpu"), far_pools(soc, "npu")) == ({"own": 0x8_0000_0000}, {})


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"memories.seen.views": {"npu": 2**32}}, "E119 the view of memory 'seen' at 'npu' ends"),
        ({"memories.seen.views": {"cpu": 2**48 - 4096}}, "E119 the view of memory 'seen' at 'cpu'"),
        ({"devices.cpu.data": {"memory": "seen"}}, "E261 'cpu.data' is in memory 'seen', which"),
        ({"pools.own.role": "both"}, "E261 pool 'own' is in memory 'seen', which 'cpu' sees past"),
        ({"pools.own.heap": 4096}, "E261 pool 'own' is in memory 'seen', which 'cpu' sees past"),
        ({"pools.own.provided": "application"}, "E261 pool 'own' is in memory 'seen', which"),
        ({"devices.cpu.isa": "rv32imc"}, "E119 the view of memory 'seen' at 'cpu' ends past the"),
        (
            {"devices.cpu.core": "cortex_a53", "devices.cpu.isa": "aarch64"},
            "E119 the view of memory 'seen' at 'cpu' ends past the 32-bit address space",
        ),
        (
            {"devices.cpu.cache": {"line": 64, "maintenance": STEPS}},
            "E119 the view of memory 'seen' at 'cpu' ends past 4 GiB, and the steps that maintain",
        ),
    ],
)
def test_what_a_core_cannot_see_past_4_gibibytes(
    refused: Any, changes: dict[str, object], fault: str
) -> None:
    base = {**RV64, **LOW_CONSOLE, "memories.seen": SEEN, "pools.own": OWN}
    (found,) = refused({**base, **changes})
    assert found.startswith(fault)


@pytest.mark.parametrize(("field", "value"), [("origin", 0x8000_0001), ("size", 65)])
def test_memories_come_in_units_of_16_bytes(refused: Any, field: str, value: int) -> None:
    memory = {"origin": 0x8000_0000, "size": 64, "kind": "ram"} | {field: value}
    (fault,) = refused({"memories.odd": memory})
    assert fault.startswith(f"E035 the {field} of memory 'odd'")
