# SPDX-License-Identifier: Apache-2.0
"""What holds for the lists of every engine: results, and registers while and after they run."""

from collections.abc import Callable
from random import Random

from cocotb.triggers import ClockCycles, FallingEdge
from tests.benches.reef_system import (
    CONTROL,
    LIST_ADDRESS,
    LIST_COUNT,
    STATUS,
    Ending,
    List,
    System,
)

OKAY, SLAVE_ERROR = 0, 2
BUSY, DONE, FAILED = 1, 2, 4
START, ABORT, ABORTED = 1, 2, 8


async def expect_clean(system: System, program: List) -> Ending:
    """Run a list and insist on all of its results."""
    ending = await system.run(program)
    assert ending.clean
    assert ending.completed == program.total
    assert system.outputs(program)
    return ending


async def stays_untouched(system: System, program: List) -> None:
    """See start, list address and count refuse writes while a list runs."""
    await system.begin(program, {})
    assert await system.read(STATUS) == BUSY
    control = ((CONTROL, START), (CONTROL, START | ABORT))
    for offset, value in (*control, (LIST_ADDRESS, 0), (LIST_COUNT, 9)):
        assert await system.write(offset, value) == SLAVE_ERROR
    assert await system.read(LIST_ADDRESS) == program.list_address
    assert await system.read(LIST_COUNT) == program.count
    await system.wait()
    assert (await system.end(program)).clean
    assert system.outputs(program)


async def stops(
    system: System, random: Random, within: int, program: List, again: Callable[[], List]
) -> None:
    """See an abort `within` cycles end a list as an error, and the next one run as ever."""
    await system.begin(program, {})
    await ClockCycles(system.dut.clk_i, random.randrange(within))
    await FallingEdge(system.dut.clk_i)
    assert await system.write(CONTROL, ABORT) == OKAY
    await system.wait()
    ending = await system.end(program)
    assert (ending.status, ending.error) == (FAILED, ABORTED)
    assert ending.fault_address == program.list_address
    await expect_clean(system, again())


async def forgets(
    system: System, random: Random, within: int, program: List, again: Callable[[], List]
) -> None:
    """See a reset `within` cycles leave an engine idle and silent; the next list runs as ever."""
    await system.begin(program, {})
    await ClockCycles(system.dut.clk_i, random.randrange(within))
    await system.reset()
    system.forbid(program)
    assert await system.read(STATUS) == 0
    assert await system.read(LIST_ADDRESS) == 0
    await ClockCycles(system.dut.clk_i, 20)
    await FallingEdge(system.dut.clk_i)
    assert system.dut.violations_o.value == 0
    await expect_clean(system, again())
