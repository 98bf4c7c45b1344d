# SPDX-License-Identifier: Apache-2.0
"""Cores interrupt each other by their registers msip, whatever all of them do at the same time."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.bus import OKAY, SLAVE, start

BEAT, PORTS, HARTS = (int(cocotb.plusargs[name]) for name in ("DataBytes", "NumPorts", "NumHarts"))
RANDOM_CYCLES = 20_000
LANES = (1 << 8 * BEAT) - 1


class Model:
    """The words as a list; a 1 that is written in the same cycle as a 0 wins."""

    def __init__(self) -> None:
        self.pending = [0] * HARTS

    def answer(self, offset: int, enabled: int, data: int | None) -> tuple[int, int]:
        """Return response and beat of an access to the word at an offset."""
        if enabled != 0xF << offset % BEAT or offset >= 4 * HARTS:
            return SLAVE, 0
        found = 0 if data is not None else self.pending[offset // 4]
        return OKAY, found << 8 * (offset % BEAT)

    def write(self, words: list[tuple[int, int]]) -> None:
        """Take what is written to words in one cycle."""
        for hart in {hart for hart, _ in words}:
            self.pending[hart] = int(any(bit for other, bit in words if other == hart))


def packed(values: list[int], width: int) -> int:
    return sum(value << width * number for number, value in enumerate(values))


def part(value: int, number: int, width: int) -> int:
    return value >> width * number & (1 << width) - 1


@cocotb.test()
async def any_core_interrupts_any(dut: Any) -> None:
    """Random accesses of all ports in every cycle agree with the model, and so do the lines."""
    dut.valid_i.value = 0
    await start(dut)
    chance, model = random.Random(cocotb.RANDOM_SEED), Model()
    expected: list[tuple[int, int] | None] = [None] * PORTS
    clashes = raised = refused = 0
    for _ in range(RANDOM_CYCLES):
        await FallingEdge(dut.clk_i)
        answered = int(dut.rvalid_o.value)
        for port, answer in enumerate(expected):
            assert part(answered, port, 1) == (answer is not None)
            if answer is not None:
                found = (
                    part(int(dut.resp_o.value), port, 2),
                    part(int(dut.rdata_o.value), port, 8 * BEAT),
                )
                assert found == answer
                refused += answer[0] == SLAVE
        assert int(dut.irq_o.value) == packed(model.pending, 1)
        assert int(dut.ready_o.value) == (1 << PORTS) - 1
        asked: list[tuple[int, int, int | None] | None] = []
        words: list[tuple[int, int]] = []
        for port in range(PORTS):
            offset = 4 * chance.randrange(HARTS + (chance.random() < 0.1))
            enabled = 0xF << offset % BEAT
            if chance.random() < 0.1:
                enabled &= ~(1 << chance.randrange(BEAT))
            value = chance.getrandbits(32) if chance.random() < 0.6 else None
            ask = None if chance.random() < 0.3 else (offset, enabled, value)
            asked.append(ask)
            expected[port] = ask and model.answer(*ask)
            if ask and value is not None and expected[port] == (OKAY, 0):
                words.append((offset // 4, value & 1))
        clashes += len({hart for hart, _ in words}) < len(words)
        raised += any(bit for _, bit in words)
        model.write(words)
        beats = [ask or (0, 0, None) for ask in asked]
        dut.valid_i.value = packed([int(ask is not None) for ask in asked], 1)
        dut.we_i.value = packed([int(data is not None) for _, _, data in beats], 1)
        dut.addr_i.value = packed([offset & -BEAT for offset, _, _ in beats], 12)
        dut.be_i.value = packed([enabled for _, enabled, _ in beats], BEAT)
        lanes = [(data or 0) << 8 * (offset % BEAT) & LANES for offset, _, data in beats]
        dut.wdata_i.value = packed(lanes, 8 * BEAT)
    assert min(raised, refused, clashes or raised) > RANDOM_CYCLES // 50
    assert bool(clashes) == (PORTS > 1)


@cocotb.test()
async def a_reset_lowers_all(dut: Any) -> None:
    """After a reset no core is interrupted."""
    dut.valid_i.value = 0
    await start(dut)
    await FallingEdge(dut.clk_i)
    dut.valid_i.value, dut.we_i.value, dut.addr_i.value = 1, 1, 0
    dut.be_i.value, dut.wdata_i.value = 0xF, 1
    await FallingEdge(dut.clk_i)
    dut.valid_i.value = 0
    assert int(dut.irq_o.value) == 1
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    assert int(dut.irq_o.value) == 0
