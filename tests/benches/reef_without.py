# SPDX-License-Identifier: Apache-2.0
"""reef without units for elements and rows refuses their commands, and runs all others."""

from collections.abc import Callable
from typing import Any

import cocotb
from tests.benches.list_checks import FAILED
from tests.benches.reef_checks import BAD_OPCODE
from tests.benches.reef_elements import place, random_elements
from tests.benches.reef_moves import place_move
from tests.benches.reef_program import Program
from tests.benches.reef_random import random_layer
from tests.benches.reef_shares import place_shares
from tests.benches.reef_system import parameter, prepare

from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.elements import ElementOpcode

COMMANDS: dict[str, tuple[int, Callable[[Program], None]]] = {
    "add": (1, lambda program: place(program, random_elements(program.random, ElementOpcode.ADD))),
    "mul": (1, lambda program: place(program, random_elements(program.random, ElementOpcode.MUL))),
    "move": (1, lambda program: place_move(program, 0)),
    "softmax": (2, place_shares),
}
"""From which value of the parameter `Vector` on there is a unit, and what adds a command."""


@cocotb.test()
@cocotb.parametrize(name=list(COMMANDS))
async def refuses_what_it_has_no_unit_for(dut: Any, name: str) -> None:
    """The commands before the one that it does not know are complete."""
    system, random = await prepare(dut, name)
    program = system.program(random)
    for layer in Opcode:
        program.add(random_layer(random, layer, 5))
    legal = dict(program.expected)
    units, add = COMMANDS[name]
    add(program)
    program.finish()
    known = units <= parameter("Vector", 0)
    program.expected = program.expected if known else legal
    ending = await system.run(program)
    assert ending.clean if known else (ending.status, ending.error) == (FAILED, BAD_OPCODE)
    assert ending.completed == len(Opcode) + known
    assert system.outputs(program)
