"""`reef_writer`: the bytes of each pixel, and no others, reach memory at any alignment."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from cocotbext.axi import AxiRamWrite, AxiWriteBus
from tests.benches.reef_axi import pause_all, start
from tests.benches.reef_system import parameter

MEMORY = 1 << 14


async def send(dut: Any, random: Random, pixel: bytes) -> None:
    """Send one pixel in lane order, with random gaps."""
    for lane, value in enumerate(pixel):
        while random.random() < 0.2:
            dut.byte_valid_i.value = 0
            await FallingEdge(dut.clk_i)
        dut.byte_valid_i.value = 1
        dut.byte_i.value, dut.byte_lane_i.value = value, lane
        dut.byte_last_i.value = lane == len(pixel) - 1
        await ReadOnly()
        while dut.byte_ready_o.value == 0:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        await FallingEdge(dut.clk_i)
    dut.byte_valid_i.value = 0


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
    await start(dut, start_i=0, byte_valid_i=0, byte_last_i=0)
    await FallingEdge(dut.clk_i)
    for _ in range(12):
        size, stride = random.randint(1, lanes), random.randint(lanes, 3 * lanes)
        address = random.choice((random.randrange(8000), 4096 - random.randint(1, 60)))
        dut.address_i.value, dut.stride_i.value, dut.start_i.value = address, stride, 1
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        for _ in range(random.randint(1, 12)):
            pixel = random.randbytes(size)
            expected[address : address + size] = pixel
            address += stride
            await send(dut, random, pixel)
    while dut.idle_o.value == 0:
        await FallingEdge(dut.clk_i)
    assert memory.read(0, MEMORY) == bytes(expected)
