# SPDX-License-Identifier: Apache-2.0
"""What Vela is told of chips."""

import pytest

from atoll.diagnostics.errors import PlacementError
from atoll.resolve import load_soc
from atoll.vela.memories import VelaTarget, npu_of, target_of

CONFIG = """\
[System_Config.Atoll]
core_clock=3.2e+07
axi0_port=Sram
axi1_port=OffChipFlash
Sram_clock_scale=1
Sram_burst_length=32
Sram_read_latency=1
Sram_write_latency=1
OffChipFlash_clock_scale=0.5
OffChipFlash_burst_length=32
OffChipFlash_read_latency=16
OffChipFlash_write_latency=16

[Memory_Mode.Atoll]
const_mem_area=Axi1
arena_mem_area=Axi0
cache_mem_area=Axi0
arena_cache_size=4194304
"""
IN_RAM = "pools.weights.reach.cpu=rw"
SAME_MEMORY = (
    IN_RAM,
    "pools.weights.memory=sram",
    "pools.weights.size=1MiB",
    "pools.shared.size=3MiB",
)


def target(*settings: str) -> VelaTarget:
    soc = load_soc("corstone300_u55", settings)
    npu = npu_of(soc)
    assert npu is not None
    return target_of(soc, npu)


def test_the_description_of_corstone300() -> None:
    found = target()
    assert found.config == CONFIG
    assert (found.accelerator, found.arena.name) == ("ethos-u55-128", "shared")


def test_constants_in_the_arenas_memory_are_behind_the_same_port() -> None:
    lines = target(*SAME_MEMORY).config.splitlines()
    assert "const_mem_area=Axi0" in lines
    assert "axi1_port=Sram" in lines
    assert not [line for line in lines if "Flash" in line]


def test_constants_in_another_ram_are_no_slow_flash() -> None:
    lines = target(
        IN_RAM,
        "pools.weights.memory=fpga_sram",
        "pools.weights.size=256KiB",
        "pools.fpga.size=128KiB",
    ).config.splitlines()
    assert "axi1_port=OnChipFlash" in lines


def test_a_faster_npu_sees_slower_memories() -> None:
    lines = target("devices.ethos_u55.clock=64 MHz").config.splitlines()
    assert "Sram_clock_scale=0.5" in lines
    assert "OffChipFlash_read_latency=32" in lines


def test_a_65_has_a_wider_port() -> None:
    found = target("devices.ethos_u55.accelerator=ethos_u65", "devices.ethos_u55.params.macs=256")
    assert found.accelerator == "ethos-u65-256"
    assert "Sram_clock_scale=0.5" in found.config.splitlines()


def test_the_arena_may_be_the_npus_alone() -> None:
    found = target("pools.shared.others=none", "pools.shared.reach={ethos_u55: rw}")
    assert found.arena.name == "shared"


def test_a_chip_without_such_an_npu_has_none() -> None:
    assert npu_of(load_soc("lagoon")) is None
    assert npu_of(load_soc("corstone300")) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("pools.weights.reach.cpu=none",), "reads pool 'weights' and 'cpu' does not"),
        (("memories.sram.views={ethos_u55: 0x5000_0000}",), "sees memory 'sram' elsewhere"),
    ],
)
def test_pools_that_do_not_suit_are_refused(settings: tuple[str, ...], message: str) -> None:
    with pytest.raises(PlacementError, match="E144") as raised:
        target(*settings)
    assert message in str(raised.value)
    assert raised.value.faults[0].remedy
