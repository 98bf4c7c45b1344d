# SPDX-License-Identifier: Apache-2.0
"""`reef_writer`: the bytes of each pixel, and no others, reach memory at any alignment."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiRamWrite, AxiWriteBus
from tests.benches.reef_axi import pause_all, start
from tests.benches.reef_system import parameter

MEMORY = 1 << 14


async def send(dut: Any, random: Random, pixel: bytes, closes: bool) -> None:
    """Send one pixel in the order of groups of lanes, with random gaps."""
    width = parameter("Requantisers", 8)
    for group in range(-(-len(pixel) // width)):
        while random.random() < 0.2:
            dut.bytes_valid_i.value = 0
            await FallingEdge(dut.clk_i)
        dut.bytes_valid_i.value = 1
        part = pixel[group * width :][:width].ljust(width, b"\xaa")
        dut.bytes_i.value, dut.bytes_group_i.value = int.from_bytes(part, "little"), group
        dut.bytes_last_i.value = (group + 1) * width >= len(pixel)
        dut.bytes_closes_i.value = int(closes)
        await ReadOnly()
        while dut.bytes_ready_o.value == 0:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        await FallingEdge(dut.clk_i)
    dut.bytes_valid_i.value = 0


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.4, 0.8])
async def writes_pixels_at_any_alignment(dut: Any, share: float) -> None:
    """Blocks of full and partial pixels, across pages, leave all other bytes as they were."""
    random = Random(f"{cocotb.RANDOM_SEED} {share}")
    lanes = parameter("OutputLanes", 8)
    memory = AxiRamWrite(
        AxiWriteBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, False, size=MEMORY
    )
    expected = bytearray(random.randbytes(MEMORY))
    memory.write(0, bytes(expected))
    pause_all(random, share, memory.aw_channel, memory.w_channel, memory.b_channel)
    await start(dut, bytes_valid_i=0, bytes_last_i=0)
    await FallingEdge(dut.clk_i)
    for _ in range(12):
        size, stride = random.randint(1, lanes), random.randint(lanes, 3 * lanes)
        address = random.choice((random.randrange(8000), 4096 - random.randint(1, 60)))
        dut.address_i.value, dut.stride_i.value, dut.last_lane_i.value = address, stride, size - 1
        pixels = random.randint(1, 12)
        for number in range(1, pixels + 1):
            pixel = random.randbytes(size)
            expected[address : address + size] = pixel
            address += stride
            await send(dut, random, pixel, number == pixels)
    while dut.idle_o.value == 0:
        await FallingEdge(dut.clk_i)
    assert memory.read(0, MEMORY) == bytes(expected)
