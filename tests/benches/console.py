# SPDX-License-Identifier: Apache-2.0
"""The console's registers are exactly those of docs/platform.md."""

from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from tests.benches.bus import OKAY, SLAVE, BusMaster, start

UART_TX, EXIT, TRACE, REQUEST, RESULT = 0x00, 0x04, 0x08, 0x0C, 0x10
DOORBELLS = {UART_TX: "uart_o", EXIT: "exit_o", TRACE: "trace_o", RESULT: "result_o"}


async def listen(dut: Any, heard: list[tuple[str, int]]) -> None:
    """Append each cycle of a doorbell, with its value."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        rung = [name for name in DOORBELLS.values() if getattr(dut, name).value == 1]
        heard += [(name, int(dut.value_o.value)) for name in rung]


async def prepare(dut: Any) -> tuple[BusMaster, list[tuple[str, int]]]:
    """Leave reset; return a master and the list of doorbells heard."""
    dut.request_i.value = 0
    await start(dut, "mst")
    heard: list[tuple[str, int]] = []
    cocotb.start_soon(listen(dut, heard))
    return BusMaster(dut, "mst"), heard


def lanes(offset: int, enabled: int = 0xF) -> tuple[int, int]:
    """Return the beat and the enable bits of a register's word."""
    return offset & ~7, enabled << (offset & 4)


@cocotb.test()
@cocotb.parametrize(offset=list(DOORBELLS))
async def rings_once_for_each_write(dut: Any, offset: int) -> None:
    """A write shows for one cycle; reading the register is an error."""
    master, heard = await prepare(dut)
    for value in (1, 0xDEAD_BEEF):
        answer = await master.write(*lanes(offset), value << 8 * (offset & 4))
        assert answer.response == OKAY
        assert answer.answered == answer.accepted + 1
    assert heard == [(DOORBELLS[offset], 1), (DOORBELLS[offset], 0xDEAD_BEEF)]
    assert (await master.read(*lanes(offset))).response == SLAVE


@cocotb.test()
async def shows_the_request(dut: Any) -> None:
    """REQUEST reads as the bench sets it, and cannot be written."""
    master, heard = await prepare(dut)
    for wish in (0, 1, 2):
        dut.request_i.value = wish
        answer = await master.read(*lanes(REQUEST))
        assert answer.response == OKAY
        assert answer.data >> 8 * (REQUEST & 4) & 0xFFFF_FFFF == wish
    assert (await master.write(*lanes(REQUEST), 0)).response == SLAVE
    assert heard == []


@cocotb.test()
@cocotb.parametrize(
    (
        ("offset", "enabled"),
        [(0x14, 0xF), (0xFFC, 0xF), (TRACE, 0x1), (TRACE, 0x3), (TRACE, 0xFF), (EXIT, 0xE)],
    )
)
async def refuses_anything_else(dut: Any, offset: int, enabled: int) -> None:
    """Other offsets and parts of words are errors without effect."""
    master, heard = await prepare(dut)
    assert (await master.write(*lanes(offset, enabled), 0xFF)).response == SLAVE
    assert (await master.read(*lanes(offset, enabled))).response == SLAVE
    assert heard == []
