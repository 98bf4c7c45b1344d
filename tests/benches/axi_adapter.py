# SPDX-License-Identifier: Apache-2.0
"""An independent AXI master reads and writes memories through the adapter and the firewall."""

from itertools import cycle
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Combine, FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiResp
from tests.benches.bus import parameter

EDGE = 64
RAM, ROM = 0x2000_0000 + EDGE, 0x0000_0000
SIZE = 16384
REACHABLE = SIZE - 2 * EDGE
BURST_BEATS = 16
BURSTS = 32


async def start(dut: Any, stalls: Random | None = None) -> AxiMaster:
    """Leave reset with an idle AXI master; `stalls` makes all its channels hesitate."""
    Clock(dut.clk_i, 10, unit="ns").start()
    master = AxiMaster(
        AxiBus.from_prefix(dut, "s_axi"),
        dut.clk_i,
        dut.rst_ni,
        reset_active_level=False,
        max_burst_len=BURST_BEATS,
    )
    if stalls is not None:
        writes, reads = master.write_if, master.read_if
        for channel in (
            *(writes.aw_channel, writes.w_channel, writes.b_channel),
            *(reads.ar_channel, reads.r_channel),
        ):
            channel.set_pause_generator(cycle([stalls.random() < 0.4 for _ in range(97)]))
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    return master


@cocotb.test()
@cocotb.parametrize(hesitant=[False, True])
async def carries_every_byte(dut: Any, hesitant: bool) -> None:
    """Bursts of any length and alignment, reads and writes at once, arrive whole."""
    random = Random(cocotb.RANDOM_SEED)
    master = await start(dut, random if hesitant else None)
    shadow = bytearray(random.randbytes(REACHABLE))
    await master.write(RAM, bytes(shadow), awid=0)
    for _ in range(60):
        size = random.choice((1, 2, 5, 8, 17, 64, 300))
        at = random.randrange(REACHABLE // 2 - size)
        data = random.randbytes(size)
        elsewhere = REACHABLE // 2 + random.randrange(REACHABLE // 2 - 300)
        writing = cocotb.start_soon(master.write(RAM + at, data, awid=0))
        reading = cocotb.start_soon(master.read(RAM + elsewhere, 300, arid=0))
        await Combine(writing, reading)
        shadow[at : at + size] = data
        assert writing.result().resp == reading.result().resp == AxiResp.OKAY
        assert reading.result().data == shadow[elsewhere : elsewhere + 300]
    assert (await master.read(RAM, REACHABLE, arid=0)).data == shadow


@cocotb.test()
@cocotb.parametrize(size=[0, 1, 2])
async def carries_narrow_transfers(dut: Any, size: int) -> None:
    """Transfers narrower than the port use their own bytes only."""
    master = await start(dut)
    data = bytes(range(64))
    await master.write(RAM, b"\xee" * 80, awid=0)
    await master.write(RAM + 3, data, awid=0, size=size)
    assert (await master.read(RAM + 3, 64, arid=0, size=size)).data == data
    assert (await master.read(RAM, 80, arid=0)).data == b"\xee" * 3 + data + b"\xee" * 13


@cocotb.test()
@cocotb.parametrize(
    (
        ("address", "size", "write", "response"),
        [
            (RAM + REACHABLE - 1, 1, False, AxiResp.OKAY),
            (RAM + REACHABLE - 1, 1, True, AxiResp.OKAY),
            (RAM + REACHABLE, 1, False, AxiResp.DECERR),
            (RAM + REACHABLE, 1, True, AxiResp.DECERR),
            (RAM + REACHABLE - 64, 80, True, AxiResp.DECERR),
            (RAM - 1, 1, False, AxiResp.DECERR),
            (RAM - 16, 64, True, AxiResp.DECERR),
            (RAM - 16, 64, False, AxiResp.DECERR),
            (RAM + SIZE, 4, False, AxiResp.DECERR),
            (0x9000_0000, 64, True, AxiResp.DECERR),
            (ROM + EDGE, 64, True, AxiResp.SLVERR),
            (ROM + EDGE - 16, 64, True, AxiResp.DECERR),
            (ROM + EDGE, 64, False, AxiResp.OKAY),
        ],
    )
)
async def tells_errors_apart(
    dut: Any, address: int, size: int, write: bool, response: AxiResp
) -> None:
    """Beyond reach is a decode error, which is worse than a slave error: refused by a memory.

    Then all is well.
    """
    master = await start(dut)
    if write:
        assert (await master.write(address, bytes(size), awid=0)).resp == response
    else:
        assert (await master.read(address, size, arid=0)).resp == response
    await master.write(RAM + 8, b"still alive", awid=0)
    assert (await master.read(RAM + 8, 11, arid=0)).data == b"still alive"


@cocotb.test()
async def moves_a_beat_per_cycle(dut: Any) -> None:
    """No cycle is lost within or between bursts where the memory is as wide as the port."""
    master = await start(dut)
    width, word = parameter("AxiBytes"), parameter("WordBytes")
    beats = min(BURSTS * BURST_BEATS, REACHABLE // width)
    cost = max(1, width // word)
    for write in (False, True):
        begin = cocotb.utils.get_sim_time("ns")
        if write:
            await master.write(RAM, bytes(beats * width), awid=0)
        else:
            await master.read(RAM, beats * width, arid=0)
        cycles = (cocotb.utils.get_sim_time("ns") - begin) / 10
        assert cycles <= beats * cost + 16, f"{cycles} cycles for {beats} beats"
