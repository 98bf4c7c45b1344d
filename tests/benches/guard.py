# SPDX-License-Identifier: Apache-2.0
"""The guard's registers are exactly those of docs/platform.md."""

from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from tests.benches.bus import OKAY, SLAVE, BusMaster, start

STATUS, IRQ_ENABLE, PERIOD, KICK, RESTARTED, FIRST = 0x000, 0x004, 0x008, 0x00C, 0x010, 0x100
MASTERS = 3
ADDRESSES = (0x1000_0003, 0xFFFF_FFFF, 0x2000_0010)


def lanes(offset: int, enabled: int = 0xF) -> tuple[int, int]:
    """Return the beat and the enable bits of a register's word."""
    return offset & ~7, enabled << (offset & 4)


async def read(master: BusMaster, offset: int) -> int:
    """Return a register's word."""
    answer = await master.read(*lanes(offset))
    assert answer.response == OKAY
    return int(answer.data >> 8 * (offset & 4) & 0xFFFF_FFFF)


async def write(master: BusMaster, offset: int, value: int) -> None:
    """Write a register's word."""
    answer = await master.write(*lanes(offset), value << 8 * (offset & 4))
    assert answer.response == OKAY


async def listen(dut: Any, heard: list[int]) -> None:
    """Append each clear that lasts a cycle."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if clear := int(dut.clear_o.value):
            heard.append(clear)


async def prepare(dut: Any) -> tuple[BusMaster, list[int]]:
    """Leave reset with firewalls 0 and 2 violated; return a master and the clears heard."""
    dut.violated_i.value = 0b101
    dut.violation_we_i.value = 0b001
    dut.violation_bus_i.value = 0b100
    dut.violation_addr_i.value = sum(at << 32 * i for i, at in enumerate(ADDRESSES))
    await start(dut, "mst")
    heard: list[int] = []
    cocotb.start_soon(listen(dut, heard))
    return BusMaster(dut, "mst"), heard


@cocotb.test()
async def shows_what_each_firewall_kept(dut: Any) -> None:
    """STATUS has a bit for each firewall, and each has its address, direction and cause."""
    master, heard = await prepare(dut)
    assert await read(master, STATUS) == 0b101
    for number, address in enumerate(ADDRESSES):
        assert await read(master, FIRST + 8 * number) == address
        assert await read(master, FIRST + 8 * number + 4) == (0b01, 0, 0b10)[number]
    assert heard == []


@cocotb.test()
async def forgets_what_is_written(dut: Any) -> None:
    """A write of STATUS clears those firewalls for one cycle, and no others."""
    master, heard = await prepare(dut)
    await write(master, STATUS, 0b100)
    await write(master, STATUS, 0)
    await write(master, STATUS, 0xFFFF_FFFF)
    assert heard == [0b100, 0b111]


@cocotb.test()
async def interrupts_only_for_enabled_firewalls(dut: Any) -> None:
    """The line is high while a firewall that is enabled has kept something back."""
    master, _ = await prepare(dut)
    for enabled, violated, line in ((0, 0b111, 0), (0b010, 0b101, 0), (0b010, 0b010, 1)):
        await write(master, IRQ_ENABLE, enabled)
        assert await read(master, IRQ_ENABLE) == enabled
        await RisingEdge(dut.clk_i)
        dut.violated_i.value = violated
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert int(dut.irq_o.value) == line
        await RisingEdge(dut.clk_i)


@cocotb.test()
@cocotb.parametrize(
    (
        ("offset", "enabled", "reads"),
        [
            (KICK, 0x3, True),
            (0x014, 0xF, True),
            (0x0FC, 0xF, True),
            (FIRST + 8 * MASTERS, 0xF, True),
            (0x7FC, 0xF, True),
            (STATUS, 0x1, True),
            (STATUS, 0xFF, True),
            (FIRST, 0xF, False),
            (FIRST + 4, 0xF, False),
        ],
    )
)
async def refuses_anything_else(dut: Any, offset: int, enabled: int, reads: bool) -> None:
    """Other offsets, parts of words, and writes to what is kept are errors without effect."""
    master, heard = await prepare(dut)
    assert (await master.write(*lanes(offset, enabled), 0xFF)).response == SLAVE
    if reads:
        assert (await master.read(*lanes(offset, enabled))).response == SLAVE
    assert heard == []
    assert await read(master, IRQ_ENABLE) == 0


@cocotb.test()
async def kicks_are_written_only(dut: Any) -> None:
    """KICK has nothing to read."""
    master, _ = await prepare(dut)
    assert (await master.read(*lanes(KICK))).response == SLAVE
    await write(master, KICK, 1)


async def restarts_within(dut: Any, cycles: int) -> bool:
    """Let `cycles` go by; return whether the watchdog has reset the chip in them."""
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if dut.rst_no.value == 0:
            return True
    return False


@cocotb.test()
async def the_watchdog_rests_until_it_has_a_period(dut: Any) -> None:
    """Without a period nothing is reset, kicked or not."""
    master, _ = await prepare(dut)
    await write(master, KICK, 1)
    assert not await restarts_within(dut, 200)
    assert int(dut.restarted_o.value) == 0


@cocotb.test()
async def the_watchdog_restarts_a_silent_host(dut: Any) -> None:
    """Kicks hold it off; a period without one resets the chip, which remembers it until told."""
    master, _ = await prepare(dut)
    await write(master, PERIOD, 40)
    assert await read(master, PERIOD) == 40
    for _ in range(5):
        assert not await restarts_within(dut, 30)
        await RisingEdge(dut.clk_i)
        await write(master, KICK, 1)
    assert await restarts_within(dut, 45)
    while dut.rst_no.value == 0:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
    await RisingEdge(dut.clk_i)
    assert await read(master, PERIOD) == 0
    assert await read(master, RESTARTED) == 1
    await write(master, RESTARTED, 0)
    assert await read(master, RESTARTED) == 1
    await write(master, RESTARTED, 1)
    assert await read(master, RESTARTED) == 0
    assert not await restarts_within(dut, 100)


@cocotb.test()
async def the_watchdog_can_be_stopped(dut: Any) -> None:
    """A period of 0 ends what a longer one began."""
    master, _ = await prepare(dut)
    await write(master, PERIOD, 40)
    await write(master, PERIOD, 0)
    assert not await restarts_within(dut, 100)
