"""reef without the unit for elements refuses their commands, and runs all others."""

from random import Random
from typing import Any

import cocotb
from tests.benches.reef_elements import BAD_OPCODE, FAILED, place, random_elements
from tests.benches.reef_random import random_layer
from tests.benches.reef_system import System

from atoll_sim.engines.reef.descriptor import Opcode
from atoll_sim.engines.reef.elements import ElementOpcode


@cocotb.test()
@cocotb.parametrize(opcode=list(ElementOpcode))
async def refuses_elements(dut: Any, opcode: ElementOpcode) -> None:
    """The commands before the one that it does not know are complete."""
    random = Random(f"{cocotb.RANDOM_SEED} {opcode}")
    system = System(dut)
    await system.start(30)
    program = system.program(random)
    for layer in Opcode:
        program.add(random_layer(random, layer, 5))
    legal = dict(program.expected)
    place(program, random_elements(random, opcode))
    program.finish()
    program.expected = legal
    ending = await system.run(program)
    assert (ending.status, ending.error) == (FAILED, BAD_OPCODE)
    assert ending.completed == len(Opcode)
    assert system.outputs(program)
