"""Lists of commands on reef: order, abort, reset and interrupt."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge
from tests.benches.reef_golden import Shape
from tests.benches.reef_program import Program
from tests.benches.reef_random import make_layer, random_layer, with_extremes
from tests.benches.reef_system import (
    CONTROL,
    IRQ_ENABLE,
    IRQ_STATUS,
    LIST_ADDRESS,
    LIST_COUNT,
    STATUS,
    System,
)

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES
from atoll_sim.engines.reef.descriptor import Opcode

OKAY, SLAVE_ERROR = 0, 2
BUSY, DONE, FAILED = 1, 2, 4
START, ABORT, ABORTED = 1, 2, 8
LONG = Shape(
    opcode=Opcode.CONV_2D,
    image=(6, 6, 9),
    channels=20,
    output=(6, 6),
    kernel=(3, 3),
    pad=(1, 1),
)


async def prepare(dut: Any, label: str, rest: int = 30) -> tuple[System, Random]:
    """Start the system with random choices of its own."""
    system = System(dut)
    await system.start(rest)
    return system, Random(f"{cocotb.RANDOM_SEED} {label}")


def make_list(system: System, random: Random, count: int = 2) -> Program:
    """Return a list of random operators; it takes some hundreds of cycles at least."""
    program = system.program(random)
    program.add(make_layer(random, LONG))
    for _ in range(count - 1):
        opcode = random.choice(list(Opcode))
        program.add(random_layer(random, opcode, 5, program.output_lanes))
    program.finish()
    return program


async def expect_clean(system: System, program: Program) -> None:
    """Run a list and insist on all of its results."""
    ending = await system.run(program)
    assert ending.clean
    assert ending.completed == program.count
    assert system.outputs(program)


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
    program = make_list(system, random)
    await system.begin(program, {})
    assert await system.read(STATUS) == BUSY
    for offset, value in (
        (CONTROL, START),
        (CONTROL, START | ABORT),
        (LIST_ADDRESS, 0),
        (LIST_COUNT, 9),
    ):
        assert await system.write(offset, value) == SLAVE_ERROR
    assert await system.read(LIST_ADDRESS) == program.list_address
    assert await system.read(LIST_COUNT) == program.count
    await system.wait()
    assert (await system.end(program)).clean
    assert system.outputs(program)


@cocotb.test()
async def stops_when_aborted(dut: Any) -> None:
    """An abort at any time ends the list as an error, and the next list runs as ever."""
    system, random = await prepare(dut, "abort")
    assert await system.write(CONTROL, ABORT) == OKAY
    assert await system.read(STATUS) == 0
    for _ in range(12):
        program = make_list(system, random, count=1)
        await system.begin(program, {})
        await ClockCycles(dut.clk_i, random.randrange(500))
        await FallingEdge(dut.clk_i)
        assert await system.write(CONTROL, ABORT) == OKAY
        await system.wait()
        ending = await system.end(program)
        assert (ending.status, ending.error) == (FAILED, ABORTED)
        assert ending.fault_address == program.list_address
        await expect_clean(system, make_list(system, random, count=1))


@cocotb.test()
async def forgets_all_at_reset(dut: Any) -> None:
    """Reset at any time leaves it idle and silent, and the next list runs as ever."""
    system, random = await prepare(dut, "reset")
    for _ in range(12):
        program = make_list(system, random, count=1)
        await system.begin(program, {})
        await ClockCycles(dut.clk_i, random.randrange(600))
        await system.reset()
        system.forbid(program)
        assert await system.read(STATUS) == 0
        assert await system.read(LIST_ADDRESS) == 0
        await ClockCycles(dut.clk_i, 20)
        await FallingEdge(dut.clk_i)
        assert dut.violations_o.value == 0
        await expect_clean(system, make_list(system, random, count=1))


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
