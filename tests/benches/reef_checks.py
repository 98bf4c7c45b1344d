# SPDX-License-Identifier: Apache-2.0
"""What holds for every command of reef: a list ends well, stops at a fault, refuses what is ill."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from tests.benches.list_checks import FAILED, expect_clean
from tests.benches.reef_program import Program
from tests.benches.reef_system import Ending, System, prepare

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, Descriptor

SLAVE, DECODE = 2, 3
BAD_OPCODE, BAD_FIELD, MISALIGNED, BAD_CHECK = 5, 6, 7, 9
Illegal = Mapping[str, tuple[int, dict[str, int]]]
"""Error codes, and the fields that make a command so, by what is wrong."""


async def ends_well(system: System, program: Program) -> Ending:
    """Finish a list, run it, and see that all of it gives the right bytes."""
    program.finish()
    return await expect_clean(system, program)


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


async def stops_in_rows(
    dut: Any,
    faults: tuple[str, int],
    command: Callable[..., Descriptor],
    table_bytes: int,
    place: Callable[[Program], None],
) -> None:
    """See an error answer end a command over five rows of 48 bytes that has a table.

    Args:
        dut: the bench.
        faults: where, ``source``, ``table`` or ``output``, and how that answers.
        command: makes the command of its addresses.
        table_bytes: of its table.
        place: appends a command to the list that runs as ever afterwards.
    """
    region, response = faults
    system, random = await prepare(dut, f"{region} {response}")
    program = system.program(random)
    places = [program.load(random.randbytes(size), 16) for size in (240, table_bytes)]
    places.append(program.place(240, 16))
    program.expected[places[2]] = bytes(240)
    addresses = {"source_address": places[0], "output_address": places[2]}
    addresses |= {"table_address": places[1], "table_address_again": places[1]}
    program.commands.append(command(**addresses).encode())
    at = places[("source", "table", "output").index(region)]
    victim = at + random.choice(range(0, 240, system.beat))
    again = system.program(random)
    place(again)
    await stops_at(system, program, (victim, response), writes=region == "output", again=again)


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
