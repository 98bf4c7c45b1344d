# SPDX-License-Identifier: Apache-2.0
"""A function unit answers each request once, in order, with what its model computes."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from tests.benches.bus import start

from atoll.plugins.loading import load

CORNERS = (0, 0x8080_8080, 0x7F7F_7F7F, 0xFFFF_FFFF, 0x80FF_7F01)
COUNT = 400


async def ask(dut: Any, pairs: list[tuple[int, int]], idle: float) -> None:
    """Ask for one result after the other; `idle` is how likely a cycle without a request is."""
    for a, b in pairs:
        while random.random() < idle:
            await FallingEdge(dut.clk_i)
        dut.valid_i.value, dut.function_i.value = 1, 0
        dut.a_i.value, dut.b_i.value = a, b
        await ReadOnly()
        while not dut.ready_o.value:
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.valid_i.value = 0


@cocotb.test()
@cocotb.parametrize(idle=[0.0, 0.5], blocked=[0.0, 0.5, 0.9])
async def equals_its_model(dut: Any, idle: float, blocked: float) -> None:
    """Whatever the operands and whoever waits; an answer stays until it is taken."""
    dut.valid_i.value = dut.rready_i.value = 0
    await start(dut)
    await FallingEdge(dut.clk_i)
    model = load("dot4:Dot4")()
    pairs = [(a, b) for a in CORNERS for b in CORNERS]
    pairs += [(random.getrandbits(32), random.getrandbits(32)) for _ in range(COUNT)]
    cocotb.start_soon(ask(dut, pairs, idle))
    cycles, kept = 0, None
    for a, b in pairs:
        while True:
            await FallingEdge(dut.clk_i)
            dut.rready_i.value = taken = random.random() >= blocked
            await ReadOnly()
            cycles += 1
            assert cycles < 100 * len(pairs), "no answer comes"
            if not dut.rvalid_o.value:
                assert kept is None, "an answer is gone that nobody took"
                continue
            result = int(dut.result_o.value)
            assert kept in (None, result), "an answer changes that nobody took"
            kept = None if taken else result
            if taken:
                assert result == model.dot4(a, b), f"{a:#010x} {b:#010x}"
                break
    if not (idle or blocked):
        assert cycles <= len(pairs) + 4, "it takes a request in each cycle"
