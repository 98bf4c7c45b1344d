# SPDX-License-Identifier: Apache-2.0
"""Every (device, pool) pair is decided, and the decision is one that the memory can keep."""

from typing import Any

import pytest

from atoll.resolve.soc import Access, PoolSpeed

DMA = {"kind": "dma", "engine": "ripple", "registers": 0x4001_0000, "irq": 4}


def test_m1_reach_lists_every_device_in_canonical_order(chip: Any) -> None:
    soc = chip(
        {
            "devices.dma": {**DMA, "moves": [["flash", "sram"]]},
            "pools.weights.reach": {"dma": "ro", "npu": "ro", "cpu": "ro"},
            "pools.shared.reach": {"dma": "rw", "npu": "rw", "cpu": "rw"},
        }
    )
    assert list(soc.pool("shared").reach.items()) == [
        ("cpu", Access.WRITE),
        ("npu", Access.WRITE),
        ("dma", Access.WRITE),
    ]


def test_default_deny(refused: Any) -> None:
    assert refused({"pools.shared.reach": {"npu": "rw"}, "pools.weights.reach": {"cpu": "ro"}}) == [
        "E033 pool 'weights' does not say whether 'npu' reaches it",
        "E033 pool 'shared' does not say whether 'cpu' reaches it",
    ]


@pytest.mark.parametrize(
    ("key", "access", "fault"),
    [
        ("pools.shared.reach.npu", "ro", "E036 'npu' reaches no pool for workspace"),
        ("pools.shared.reach.cpu", "none", "E036 'cpu' reaches no pool for workspace"),
        ("pools.weights.reach.npu", "none", "E036 'npu' reaches no pool for constants"),
        ("pools.weights.reach.cpu", "none", "E036 'cpu' reaches no pool for constants"),
        (
            "pools.weights.reach.npu",
            "rw",
            "E034 'npu' cannot write pool 'weights', because memory 'flash' is rom",
        ),
    ],
)
def test_one_wrong_access(refused: Any, key: str, access: str, fault: str) -> None:
    assert refused({key: access}) == [fault]


def test_a_pool_that_nobody_reaches(refused: Any) -> None:
    lonely = {"memory": "sram", "size": 64, "role": "workspace"}
    reach = {"cpu": "none", "npu": "none"}
    assert refused({"pools.lonely": {**lonely, "reach": reach}}) == [
        "E036 no device reaches pool 'lonely'"
    ]


def test_m1_a_role_needs_its_kind_of_memory(refused: Any) -> None:
    assert "E034 pool 'weights' is for workspace, and memory 'flash' is rom" in refused(
        {"pools.weights.role": "workspace"}
    )


FAST = {"memory": "sram", "size": "4 KiB", "role": "constants"}


def test_m6_constants_may_lie_in_ram_that_the_host_fills(chip: Any, refused: Any) -> None:
    soc = chip({"pools.fast": {**FAST, "reach": {"cpu": "rw", "npu": "ro"}}})
    assert soc.pool("fast").role == "constants"
    for access in ("ro", "none"):
        assert refused({"pools.fast": {**FAST, "reach": {"cpu": access, "npu": "ro"}}}) == [
            "E034 pool 'fast' is for constants in RAM, which 'cpu' cannot fill at start"
        ]


def test_m1_who_provides_a_pool(chip: Any, refused: Any) -> None:
    assert {pool.provided for pool in chip({}).pools} == {"internal"}
    assert chip({"pools.shared.provided": "application"}).pool("shared").provided == "application"
    assert chip({"pools.weights.provided": "application"}).pool("weights").provided == "application"


def test_m7_a_section_of_the_application(chip: Any, refused: Any) -> None:
    ours = {"pools.shared.provided": "application"}
    assert chip({**ours, "pools.shared.section": ".dtcm"}).pool("shared").section == ".dtcm"
    assert chip(ours).pool("shared").section is None
    assert refused({"pools.shared.section": "DTCM"}) == [
        "E218 pool 'shared' has section 'DTCM' of the application, which does not provide it"
    ]
    for own in (".text", "COMMON", ".data.fast", ".atoll.pool.shared"):
        assert refused({**ours, "pools.shared.section": own}) == [
            f"E218 section '{own}' of pool 'shared' is one that linker scripts place elsewhere"
        ]


@pytest.mark.parametrize("other", ["DTCM", "DTCM.fast"])
def test_m7_two_pools_have_two_sections(chip: Any, refused: Any, other: str) -> None:
    ours = {"pools.shared.provided": "application", "pools.shared.section": "DTCM"}
    ours |= {"pools.weights.provided": "application"}
    assert chip({**ours, "pools.weights.section": "DTCM_2"})
    (fault,) = refused({**ours, "pools.weights.section": other})
    assert fault.startswith("E219 section ")


def test_m7_ports_are_mapped_by_the_description(chip: Any) -> None:
    soc = chip({"interface.map_inputs": True})
    assert (soc.interface.map_inputs, soc.interface.map_outputs) == (True, False)


def test_m1_speeds_are_the_memorys_unless_the_pool_says_otherwise(chip: Any) -> None:
    plain, memory = chip().pool("shared"), chip().memory("sram")
    assert plain.speed == PoolSpeed(
        read_bandwidth=memory.width,
        write_bandwidth=memory.width,
        latency=memory.read_latency,
        burst=0,
        clock=chip().host_cpu.clock,
    )
    given = {"read_bandwidth": 2, "write_bandwidth": 1, "latency": 7, "burst": "64 B"}
    changes = {f"pools.shared.{key}": value for key, value in given.items()}
    slow = chip(changes | {"pools.shared.clock": "20 MHz"}).pool("shared").speed
    assert slow == PoolSpeed(
        read_bandwidth=2, write_bandwidth=1, latency=7, burst=64, clock=20_000_000
    )
    assert slow.read_cycles(130) == 3 * 7 + 65
    assert slow.write_cycles(130) == 3 * 7 + 130
    assert chip({"pools.shared.latency": 0}).pool("shared").speed.latency == 0


def test_m1_a_pool_is_no_faster_than_its_memory(chip: Any, refused: Any) -> None:
    memory = chip().memory("sram")
    most = memory.width * memory.banks
    assert chip({"pools.shared.read_bandwidth": most}).pool("shared").speed.read_bandwidth == most
    (fault,) = refused({"pools.shared.write_bandwidth": most + 1})
    assert fault.startswith(f"E045 pool 'shared' moves {most + 1} B per cycle")


def test_m1_a_pool_for_both_lies_in_ram_that_the_host_fills(chip: Any, refused: Any) -> None:
    """One such pool is enough for a chip."""
    both = {"pools.shared.role": "both"}
    assert chip(both).pool("shared").role == "both"
    none = {"pools.weights.reach": {"cpu": "none", "npu": "none"}}
    assert "E036 'npu' reaches no pool for constants" in refused(none)
    assert refused({**both, **none}) == ["E036 no device reaches pool 'weights'"]
    assert refused({"pools.weights.role": "both"}) == [
        "E034 pool 'weights' is for constants and workspace, and memory 'flash' is rom",
    ]
    (fault,) = refused({**both, "pools.shared.provided": "application"})
    assert fault.startswith("E034 pool 'shared' is for constants and workspace")
