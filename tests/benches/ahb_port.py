# SPDX-License-Identifier: Apache-2.0
"""An AHB-Lite manager reaches an OBI memory through the adapter, at any pace of the memory."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from tests.benches.bus import start

NONSEQUENTIAL, IDLE = 2, 0
BAD = 0x800
"""Words from here on answer with an error."""


class Memory:
    """Words behind OBI, granted and answered after random waits."""

    def __init__(self, dut: Any, random: Random, waits: int) -> None:
        self.words = {4 * number: random.getrandbits(32) for number in range(BAD // 4)}
        self.accesses: list[tuple[int, bool, int]] = []
        self._dut, self._random, self._waits = dut, random, waits
        cocotb.start_soon(self._serve())

    async def _serve(self) -> None:
        dut = self._dut
        dut.gnt_i.value = dut.rvalid_i.value = dut.err_i.value = dut.rdata_i.value = 0
        while True:
            await FallingEdge(dut.clk_i)
            if not int(dut.req_o.value):
                continue
            asked = (int(dut.addr_o.value), int(dut.we_o.value), int(dut.be_o.value))
            for _ in range(self._random.randint(0, self._waits)):
                await FallingEdge(dut.clk_i)
                assert (int(dut.addr_o.value), int(dut.we_o.value), int(dut.be_o.value)) == asked
            address, writes, enabled = asked
            dut.gnt_i.value = 1
            await RisingEdge(dut.clk_i)
            data = int(dut.wdata_o.value)
            await FallingEdge(dut.clk_i)
            dut.gnt_i.value = 0
            for _ in range(self._random.randint(0, self._waits)):
                await FallingEdge(dut.clk_i)
            self.accesses.append((address, bool(writes), enabled))
            dut.err_i.value = int(address >= BAD)
            if writes and address < BAD:
                lanes = sum(0xFF << 8 * lane for lane in range(4) if enabled >> lane & 1)
                self.words[address] = self.words[address] & ~lanes | data & lanes
            dut.rdata_i.value = self.words.get(address, 0)
            dut.rvalid_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.rvalid_i.value = 0


async def drive(dut: Any, accesses: list[tuple[int, int, int | None]]) -> list[tuple[bool, int]]:
    """Make accesses (address, size, data), each address in the last cycle of the one before.

    Returns:
        Of each, whether it failed, and the word that was read.
    """
    answers: list[tuple[bool, int]] = []
    waiting, current = [*accesses], None
    while waiting or current:
        await FallingEdge(dut.clk_i)
        after = waiting[0] if waiting else None
        dut.htrans_i.value = NONSEQUENTIAL if after else IDLE
        if after:
            dut.haddr_i.value, dut.hsize_i.value = after[0], after[1]
            dut.hwrite_i.value = after[2] is not None
        if current:
            dut.hwdata_i.value = current[2] or 0
        await ReadOnly()
        failing = False
        while not int(dut.hready_o.value):
            failing = failing or bool(int(dut.hresp_o.value))
            await RisingEdge(dut.clk_i)
            await FallingEdge(dut.clk_i)
            await ReadOnly()
        failed = bool(int(dut.hresp_o.value))
        assert failed == failing, "an error takes two cycles"
        if current:
            answers.append((failed, int(dut.hrdata_o.value)))
        current = waiting.pop(0) if waiting else None
        await RisingEdge(dut.clk_i)
    return answers


@cocotb.test()
@cocotb.parametrize(waits=[0, 3])
async def goes_to_its_bytes(dut: Any, waits: int) -> None:
    """Bytes, halves and words are read and written where they lie, and nowhere else."""
    random = Random(cocotb.RANDOM_SEED)
    dut.htrans_i.value = IDLE
    memory = Memory(dut, random, waits)
    right = dict(memory.words)
    await start(dut)
    asked: list[tuple[int, int, int | None]] = []
    expected, lanes = [], []
    for _ in range(150):
        size = random.randint(0, 2)
        address = random.randrange(0, BAD + 0x100, 1 << size)
        data = random.getrandbits(32) if random.random() < 0.5 else None
        asked.append((address, size, data))
        word, enabled = address & ~3, ((1 << (1 << size)) - 1) << (address & 3)
        lanes.append((word, data is not None, enabled))
        if data is not None and word < BAD:
            mask = sum(0xFF << 8 * lane for lane in range(4) if enabled >> lane & 1)
            right[word] = right[word] & ~mask | data & mask
        expected.append((word >= BAD, right.get(word) if data is None else None))
    answers = await drive(dut, asked)
    assert memory.accesses == lanes
    assert memory.words == right
    for (failed, word), (fails, value) in zip(answers, expected, strict=True):
        assert failed == fails
        assert fails or value is None or word == value
