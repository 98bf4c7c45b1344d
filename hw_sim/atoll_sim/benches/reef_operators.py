"""Whole operators on reef, of random shapes, against exact integers."""

from random import Random
from typing import Any

import cocotb

from atoll.codegen.reef_descriptor import Opcode
from atoll_sim.benches.reef_random import random_layer
from atoll_sim.benches.reef_system import System, parameter


@cocotb.test()
@cocotb.parametrize(opcode=list(Opcode), rest=[0, 60, 200])
async def computes_what_exact_integers_say(dut: Any, opcode: Opcode, rest: int) -> None:
    """Random operators give the right bytes and touch no others."""
    random = Random(f"{cocotb.RANDOM_SEED} {opcode} {rest}")
    system = System(dut)
    await system.start(rest)
    for _ in range(parameter("Operators", 6)):
        program = system.program(random)
        program.add(random_layer(random, opcode))
        program.finish()
        ending = await system.run(program)
        assert ending.clean
        assert ending.completed == 1
        assert system.outputs(program)
