# SPDX-License-Identifier: Apache-2.0
"""Lists of commands on reef: order, abort, reset and interrupt."""

from functools import partial
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.list_checks import (
    ABORT,
    ABORTED,
    BUSY,
    DONE,
    FAILED,
    OKAY,
    expect_clean,
    forgets,
    stays_untouched,
    stops,
)
from tests.benches.reef_checks import BAD_CHECK, BAD_FIELD, BAD_OPCODE, MISALIGNED
from tests.benches.reef_golden import Shape
from tests.benches.reef_program import ORIGIN, Program
from tests.benches.reef_random import make_layer, random_layer, with_extremes
from tests.benches.reef_system import (
    COMPLETED,
    CONTROL,
    IRQ_ENABLE,
    IRQ_STATUS,
    STATUS,
    System,
    prepare,
)

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check
from atoll_sim.engines.reef.descriptor import Link, Opcode

LONG = Shape(
    opcode=Opcode.CONV_2D,
    image=(6, 6, 9),
    channels=20,
    output=(6, 6),
    kernel=(3, 3),
    pad=(1, 1),
)


def make_list(system: System, random: Random, count: int = 2) -> Program:
    """Return a list of random operators; it takes some hundreds of cycles at least."""
    program = system.program(random)
    program.add(make_layer(random, LONG))
    for _ in range(count - 1):
        opcode = random.choice(list(Opcode))
        program.add(random_layer(random, opcode, 5, program.output_lanes))
    program.finish()
    return program


@cocotb.test()
async def works_through_a_list(dut: Any) -> None:
    """Every operator of a list runs, with sums and scales at their extremes as well."""
    system, random = await prepare(dut, "list")
    program = system.program(random)
    for opcode in (*Opcode, *Opcode):
        program.add(random_layer(random, opcode, 5))
        program.add(with_extremes(random, random_layer(random, opcode, 5)))
    program.finish()
    await expect_clean(system, program)


@cocotb.test()
async def goes_on_with_other_lists(dut: Any) -> None:
    """A list ends with a link to the next one, wherever that lies."""
    system, random = await prepare(dut, "links")
    for lists in (2, 3, 5):
        program = system.program(random)
        for _ in range(5):
            program.add(random_layer(random, random.choice(list(Opcode)), 5))
        program.finish(lists)
        await expect_clean(system, program)


@cocotb.test()
async def runs_nothing_behind_a_link(dut: Any) -> None:
    """Commands that follow in the same list are left out."""
    system, random = await prepare(dut, "behind a link")
    program = make_list(system, random)
    behind = program.load(program.commands[1], DESCRIPTOR_BYTES)
    program.image[program.list_address] = link(behind, 1) + program.commands[0]
    program.count = program.total = 2
    del program.expected[min(program.expected)]
    await expect_clean(system, program)


def link(address: int = ORIGIN, count: int = 1, **changes: int) -> bytes:
    return Link(address=address, count=count, **changes).encode()


WRONG_LINKS = {
    "no command": (link(count=0), BAD_FIELD),
    "too many": (link(count=0x1_0001), BAD_FIELD),
    "word 3": (with_check(link()[:12] + b"\1" + bytes(51)), BAD_FIELD),
    "word 15": (with_check(link()[:-1] + b"\1"), BAD_FIELD),
    "misaligned": (link(ORIGIN + 32), MISALIGNED),
    "check": (link(check_flipped=4), BAD_CHECK),
    "version": (link(version=2), BAD_OPCODE),
}


@cocotb.test()
async def refuses_wrong_links(dut: Any) -> None:
    """A link that is wrong ends the list as an error, and the next list runs as ever."""
    system, random = await prepare(dut, "wrong links")
    for name, (wrong, error) in WRONG_LINKS.items():
        program = make_list(system, random, count=1)
        program.list_address = program.load(program.commands[0] + wrong, DESCRIPTOR_BYTES)
        program.count = 2
        ending = await system.run(program)
        assert (ending.status, ending.error, ending.completed) == (FAILED, error, 1), name
        assert ending.fault_address == program.list_address + DESCRIPTOR_BYTES, name
        await expect_clean(system, make_list(system, random, count=1))


@cocotb.test()
async def ends_an_endless_list(dut: Any) -> None:
    """A list that goes on with itself works until it is aborted."""
    system, random = await prepare(dut, "endless")
    program = make_list(system, random, count=1)
    at = program.place(2 * DESCRIPTOR_BYTES, DESCRIPTOR_BYTES)
    program.image[at] = program.commands[0] + link(at, 2)
    program.list_address, program.count = at, 2
    await system.begin(program, {})
    while await system.read(COMPLETED) < 7:
        assert await system.read(STATUS) == BUSY
    assert await system.write(CONTROL, ABORT) == OKAY
    await system.wait()
    ending = await system.end(program)
    assert (ending.status, ending.error) == (FAILED, ABORTED)


@cocotb.test()
async def waits_for_a_slow_memory(dut: Any) -> None:
    """A memory that rests costs cycles, which count as stalls."""
    system, random = await prepare(dut, "slow", rest=0)
    program = make_list(system, random)
    quick = await system.run(program)
    dut.rest_i.value = 220
    slow = await system.run(program)
    assert system.outputs(program)
    assert slow.cycles > quick.cycles
    assert slow.stalls > quick.stalls
    assert slow.stalls < slow.cycles


@cocotb.test()
async def stays_untouched_while_busy(dut: Any) -> None:
    """Start, list address and count refuse writes while a list runs."""
    system, random = await prepare(dut, "busy")
    await stays_untouched(system, make_list(system, random))


@cocotb.test()
async def stops_when_aborted(dut: Any) -> None:
    """An abort at any time ends the list as an error, and the next list runs as ever."""
    system, random = await prepare(dut, "abort")
    assert await system.write(CONTROL, ABORT) == OKAY
    assert await system.read(STATUS) == 0
    make = partial(make_list, system, random, count=1)
    for _ in range(12):
        await stops(system, random, 500, make(), make)


@cocotb.test()
async def forgets_all_at_reset(dut: Any) -> None:
    """Reset at any time leaves it idle and silent, and the next list runs as ever."""
    system, random = await prepare(dut, "reset")
    make = partial(make_list, system, random, count=1)
    for _ in range(12):
        await forgets(system, random, 600, make(), make)


@cocotb.test()
async def interrupts_until_told(dut: Any) -> None:
    """The interrupt needs its enable, holds until cleared, and is cleared by a start."""
    system, random = await prepare(dut, "interrupt")
    program = make_list(system, random, count=1)
    await expect_clean(system, program)
    assert dut.irq_o.value == 1
    assert await system.write(IRQ_STATUS, 0) == OKAY
    assert await system.read(IRQ_STATUS) == 1
    assert await system.write(IRQ_ENABLE, 0) == OKAY
    await FallingEdge(dut.clk_i)
    assert dut.irq_o.value == 0
    assert await system.read(IRQ_STATUS) == 1
    assert await system.write(IRQ_STATUS, 1) == OKAY
    assert await system.read(IRQ_STATUS) == 0
    await expect_clean(system, program)
    assert await system.read(STATUS) == DONE
    await system.begin(program, {})
    assert await system.read(IRQ_STATUS) == 0
    assert await system.read(STATUS) == BUSY
    assert program.list_address % DESCRIPTOR_BYTES == 0
