# SPDX-License-Identifier: Apache-2.0
"""What holds for every command of reef: a list ends well, stops at a fault, refuses what is ill."""

from collections.abc import Callable, Mapping
from random import Random

from tests.benches.reef_program import Program
from tests.benches.reef_system import Ending, System

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES

SLAVE, DECODE = 2, 3
FAILED = 4
BAD_OPCODE, BAD_FIELD, MISALIGNED, BAD_CHECK = 5, 6, 7, 9
Illegal = Mapping[str, tuple[int, dict[str, int]]]
"""Error codes, and the fields that make a command so, by what is wrong."""


async def ends_well(system: System, program: Program) -> Ending:
    """Finish a list, run it, and see that all of it gives the right bytes."""
    program.finish()
    ending = await system.run(program)
    assert ending.clean
    assert ending.completed == program.count
    assert system.outputs(program)
    return ending


async def stops_at(
    system: System, program: Program, fault: tuple[int, int], *, writes: bool, again: Program
) -> None:
    """See an error answer end a list with code and address, and the next one run as ever.

    Args:
        system: the bench.
        program: the list.
        fault: address of a beat, and how that answers.
        writes: the beat is written; else it is read.
        again: the next list.
    """
    program.finish()
    address, response = fault
    ending = await system.run(program, faults={address: response})
    assert ending.status == FAILED
    assert ending.error == (3 if writes else 1) + (response == DECODE)
    assert ending.fault_address == address
    await ends_well(system, again)


async def refuses(
    system: System, random: Random, place: Callable[..., None], illegal: Illegal
) -> None:
    """See each field out of its range end the list at that command, which `place` appends."""
    for name, (code, changes) in illegal.items():
        program = system.program(random)
        place(program, **changes)
        program.finish()
        program.expected = {}
        ending = await system.run(program)
        assert (ending.status, ending.error) == (FAILED, code), name
        assert ending.fault_address == program.list_address, name
        assert program.list_address % DESCRIPTOR_BYTES == 0
