# SPDX-License-Identifier: Apache-2.0
"""reef between independent AXI peers: registers, and operators while every channel pauses."""

from collections.abc import Mapping
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiResp
from tests.benches.reef_axi import pause_all, start
from tests.benches.reef_program import ORIGIN, Program
from tests.benches.reef_random import random_layer
from tests.benches.reef_system import (
    COMPLETED,
    CONTROL,
    CYCLES,
    ERROR,
    FAULT_ADDRESS,
    IRQ_ENABLE,
    IRQ_STATUS,
    LIST_ADDRESS,
    LIST_COUNT,
    STALLS,
    STATUS,
    WAIT_READ,
    WAIT_WEIGHTS,
    WAIT_WRITE,
    parameter,
)

from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.emitter import CONTRACT_VERSION

ID, PARAMS, WEIGHT_ROWS = 0x00, 0x04, 0x08
READ_ONLY = (
    *(ID, PARAMS, WEIGHT_ROWS, STATUS, ERROR, FAULT_ADDRESS),
    *(COMPLETED, CYCLES, STALLS, WAIT_READ, WAIT_WRITE, WAIT_WEIGHTS),
)
READ_WRITE = (LIST_ADDRESS, LIST_COUNT)
MEMORY = 1 << 17


class Ports:
    """The peers at both ports of a running reef."""

    def __init__(self, dut: Any) -> None:
        control = AxiLiteBus.from_prefix(dut, "s_axil")
        data = AxiBus.from_prefix(dut, "m_axi")
        self.dut = dut
        self.registers = AxiLiteMaster(control, dut.clk_i, dut.rst_ni, False)
        self.memory = AxiRam(data, dut.clk_i, dut.rst_ni, False, size=MEMORY)

    async def start(self, random: Random, share: float) -> None:
        """Leave reset, every channel pausing this share of the time."""
        write, read = self.registers.write_if, self.registers.read_if
        pause_all(random, share, write.aw_channel, write.w_channel, write.b_channel)
        pause_all(random, share, read.ar_channel, read.r_channel)
        write, read = self.memory.write_if, self.memory.read_if
        pause_all(random, share, write.aw_channel, write.w_channel, write.b_channel)
        pause_all(random, share, read.ar_channel, read.r_channel)
        await start(self.dut)

    async def write(self, offset: int, value: int) -> AxiResp:
        """Write a whole register."""
        return (await self.registers.write(offset, value.to_bytes(4, "little"))).resp

    async def read(self, offset: int) -> int:
        """Read a register, which must allow it."""
        answer = await self.registers.read(offset, 4)
        assert answer.resp == AxiResp.OKAY
        return int.from_bytes(answer.data, "little")


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.5])
async def registers_keep_their_contract(dut: Any, share: float) -> None:
    """Each offset allows what the contract allows; all else answers SLVERR, changing nothing."""
    ports = Ports(dut)
    await ports.start(Random(cocotb.RANDOM_SEED), share)
    assert await ports.read(ID) == int.from_bytes(b"REEF", "little")
    lanes = parameter("InputLanes", 8), parameter("OutputLanes", 8)
    expected = (*lanes, parameter("DataBytes", 8), CONTRACT_VERSION)
    assert (await ports.read(PARAMS)).to_bytes(4, "little") == bytes(expected)
    assert await ports.read(WEIGHT_ROWS) == (
        parameter("WeightRows", 128)
        | parameter("LineColumns", 64) << 16
        | parameter("Vector", 1) << 28
    )
    before = {offset: await ports.read(offset) for offset in READ_ONLY}
    for offset in (*READ_ONLY, 0x44, 0x80, 0x100, 0xFFC):
        assert await ports.write(offset, 0xFFFF_FFFF) == AxiResp.SLVERR
    for offset in (CONTROL, 0x44, 0x80, 0x100, 0xFFC):
        assert (await ports.registers.read(offset, 4)).resp == AxiResp.SLVERR
    assert {offset: await ports.read(offset) for offset in READ_ONLY} == before
    assert [await ports.read(offset) for offset in READ_WRITE] == [0, 0]


@cocotb.test()
async def registers_take_single_bytes(dut: Any) -> None:
    """Write strobes select the bytes that change; a start needs the byte of its bit."""
    ports = Ports(dut)
    await ports.start(Random(cocotb.RANDOM_SEED), 0.3)
    for offset in READ_WRITE:
        assert await ports.write(offset, 0x1122_3344) == AxiResp.OKAY
        for byte, value in ((0, 0xA0), (1, 0xB1), (2, 0xC2), (3, 0xD3)):
            assert (await ports.registers.write(offset + byte, bytes([value]))).resp == 0
        assert await ports.read(offset) == 0xD3C2_B1A0
    assert (await ports.registers.write(CONTROL + 1, b"\x01")).resp == AxiResp.OKAY
    assert await ports.read(STATUS) == 0
    assert await ports.write(IRQ_ENABLE, 0xFFFF_FFFF) == AxiResp.OKAY
    assert await ports.read(IRQ_ENABLE) == 1
    assert await ports.write(IRQ_STATUS, 1) == AxiResp.OKAY
    assert await ports.read(IRQ_STATUS) == 0


def filled(memory: bytes, contents: Mapping[int, bytes]) -> bytes:
    """Return the memory with these contents by bus address."""
    result = bytearray(memory)
    for address, data in contents.items():
        result[address - ORIGIN : address - ORIGIN + len(data)] = data
    return bytes(result)


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3, 0.7])
async def operators_survive_pauses(dut: Any, share: float) -> None:
    """Lists of random operators leave the right outputs and every other byte as it was."""
    random = Random(f"{cocotb.RANDOM_SEED} {share}")
    ports = Ports(dut)
    await ports.start(random, share)
    lanes = parameter("InputLanes", 8), parameter("OutputLanes", 8)
    for _ in range(2):
        program = Program(random, *lanes)
        for opcode in Opcode:
            program.add(random_layer(random, opcode, 4))
        program.finish()
        before = filled(random.randbytes(MEMORY), program.image)
        ports.memory.write(0, before)
        for offset, value in (
            *((LIST_ADDRESS, program.list_address), (LIST_COUNT, program.count)),
            *((IRQ_ENABLE, 1), (CONTROL, 1)),
        ):
            assert await ports.write(offset, value) == AxiResp.OKAY
        await with_timeout(RisingEdge(dut.irq_o), 2, "ms")
        assert await ports.read(STATUS) == 2
        assert await ports.read(COMPLETED) == program.count
        assert ports.memory.read(0, MEMORY) == filled(before, program.expected)
