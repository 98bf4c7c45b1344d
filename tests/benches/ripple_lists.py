# SPDX-License-Identifier: Apache-2.0
"""Lists of copies on ripple: registers, abort, reset, interrupt, faults and illegal commands."""

from dataclasses import replace
from functools import partial
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.list_checks import (
    ABORT,
    FAILED,
    OKAY,
    SLAVE_ERROR,
    expect_clean,
    forgets,
    stays_untouched,
    stops,
)
from tests.benches.reef_checks import BAD_CHECK, BAD_FIELD, BAD_OPCODE, MISALIGNED
from tests.benches.reef_system import (
    CONTROL,
    IRQ_ENABLE,
    IRQ_STATUS,
    STATUS,
    prepare,
)
from tests.benches.ripple_program import Copies, some_copies

DECODE_ERROR = 3
ID, PARAMS, WEIGHT_ROWS, WAIT_READ = 0x00, 0x04, 0x08, 0x38


@cocotb.test()
async def describes_itself(dut: Any) -> None:
    """ID and PARAMS are as in the contract, and what only reef has is not there."""
    system, _ = await prepare(dut, "registers")
    assert (await system.read(ID)).to_bytes(4, "little") == b"RIPL"
    assert await system.read(PARAMS) == 2 << 24 | system.beat << 16
    for offset in (ID, PARAMS, WEIGHT_ROWS, STATUS, WAIT_READ):
        assert await system.write(offset, 0) == SLAVE_ERROR
    for offset in (WEIGHT_ROWS, WAIT_READ):
        dut.address_i.value, dut.read_i.value = offset, 1
        await FallingEdge(dut.clk_i)
        dut.read_i.value = 0
        assert dut.rresp_o.value == SLAVE_ERROR


@cocotb.test()
async def stays_untouched_while_busy(dut: Any) -> None:
    """Start, list address and count refuse writes while a list runs."""
    system, random = await prepare(dut, "busy")
    copies = Copies(random)
    copies.add(300, 4)
    await stays_untouched(system, copies.finish())


@cocotb.test()
async def stops_when_aborted(dut: Any) -> None:
    """An abort at any time ends the list as an error, and the next list runs as ever."""
    system, random = await prepare(dut, "abort")
    assert await system.write(CONTROL, ABORT) == OKAY
    for _ in range(25):
        copies = Copies(random)
        copies.add(500, max(4, system.beat // 4))
        await stops(system, random, 200, copies.finish(), partial(some_copies, random, 1))


@cocotb.test()
async def forgets_all_at_reset(dut: Any) -> None:
    """Reset at any time leaves it idle and silent, and the next list runs as ever."""
    system, random = await prepare(dut, "reset")
    for _ in range(25):
        copies = Copies(random)
        copies.add(500, 4)
        await forgets(system, random, 200, copies.finish(), partial(some_copies, random, 1))


@cocotb.test()
async def interrupts_until_told(dut: Any) -> None:
    """The interrupt needs its enable, holds until cleared, and is cleared by a start."""
    system, random = await prepare(dut, "interrupt")
    await expect_clean(system, some_copies(random, 1))
    assert dut.irq_o.value == 1
    assert await system.write(IRQ_ENABLE, 0) == OKAY
    await FallingEdge(dut.clk_i)
    assert dut.irq_o.value == 0
    assert await system.write(IRQ_STATUS, 1) == OKAY
    assert await system.read(IRQ_STATUS) == 0


@cocotb.test()
@cocotb.parametrize(region=["source", "list", "destination"], response=[SLAVE_ERROR, DECODE_ERROR])
async def stops_at_a_fault(dut: Any, region: str, response: int) -> None:
    """An error answer ends the list, with code and address, and nothing new is asked for."""
    system, random = await prepare(dut, f"{region} {response}")
    for _ in range(8):
        copies = Copies(random, apart=system.beat)
        copies.add(random.randrange(1, 200))
        copies.finish()
        (destination,) = copies.expected
        spans = dict(zip(("source", "list"), copies.image, strict=True))
        start = spans.get(region, destination)
        size = 64 if region == "list" else copies.commands[0].row_bytes
        victim = random.randrange(start, start + size) // system.beat * system.beat
        ending = await system.run(copies, faults={victim: response})
        assert ending.status == FAILED
        base = 3 if region == "destination" else 1
        assert ending.error == base + (response == DECODE_ERROR)
        assert ending.fault_address == victim
        assert ending.completed == 0
        await expect_clean(system, some_copies(random, 1))


ILLEGAL: dict[str, tuple[int, dict[str, Any]]] = {
    **{f"opcode {value}": (BAD_OPCODE, {"opcode": value}) for value in (0, 2, 255)},
    **{f"version {value}": (BAD_OPCODE, {"version": value}) for value in (0, 2)},
    **{f"{name} 0": (BAD_FIELD, {name: 0}) for name in ("row_bytes", "rows")},
    **{f"check bit {bit}": (BAD_CHECK, {"check_flipped": 1 << bit}) for bit in (0, 7, 15)},
    "word 9": (BAD_FIELD, {"reserved_9": b"\x01"}),
    "word 15": (BAD_FIELD, {"reserved_9": bytes(27) + b"\x80"}),
}


@cocotb.test()
async def refuses_illegal_commands(dut: Any) -> None:
    """A field out of its range ends the list at that command; those before it are complete."""
    system, random = await prepare(dut, "illegal")
    for name, (code, changes) in ILLEGAL.items():
        copies = Copies(random)
        copies.add(20)
        legal = dict(copies.expected)
        copies.add(20)
        copies.commands[1] = replace(copies.commands[1], **changes)
        copies.expected = legal
        ending = await system.run(copies.finish())
        assert (ending.status, ending.error) == (FAILED, code), name
        assert ending.fault_address == copies.list_address + 64, name
        assert ending.completed == 1, name
        assert system.outputs(copies), name
    await expect_clean(system, some_copies(random, 1))


@cocotb.test()
async def refuses_lists_that_cannot_begin(dut: Any) -> None:
    """A misaligned list reads nothing at all."""
    system, random = await prepare(dut, "lists")
    for low in (1, 16, 32):
        copies = some_copies(random, 1)
        copies.list_address = 0x2000_0000 + low
        copies.image, copies.expected = {}, {}
        ending = await system.run(copies)
        assert (ending.status, ending.error, ending.cycles) == (FAILED, MISALIGNED, 0)
    await expect_clean(system, some_copies(random, 1))
