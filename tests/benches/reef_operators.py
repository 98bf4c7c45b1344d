# SPDX-License-Identifier: Apache-2.0
"""Whole operators on reef, of random shapes, against exact integers."""

from random import Random
from typing import Any

import cocotb
from tests.benches.reef_golden import Shape
from tests.benches.reef_random import make_layer, random_layer
from tests.benches.reef_system import System, parameter, prepare

from atoll_sim.engines.reef.descriptor import Opcode


@cocotb.test()
@cocotb.parametrize(opcode=list(Opcode), rest=[0, 60, 200])
async def computes_what_exact_integers_say(dut: Any, opcode: Opcode, rest: int) -> None:
    """Random operators give the right bytes and touch no others."""
    system, random = await prepare(dut, f"{opcode} {rest}", rest)
    for _ in range(parameter("Operators", 6)):
        program = system.program(random)
        program.add(random_layer(random, opcode, lanes=program.output_lanes))
        program.finish()
        ending = await system.run(program)
        assert ending.clean
        assert ending.completed == 1
        assert system.outputs(program)


@cocotb.test()
@cocotb.parametrize(opcode=[Opcode.CONV_2D, Opcode.DEPTHWISE_CONV_2D])
async def windows_far_outside_the_image_see_nothing(dut: Any, opcode: Opcode) -> None:
    """The largest strides take the window past every number of bits without a read."""
    system = System(dut)
    await system.start()
    program = system.program(Random(cocotb.RANDOM_SEED))
    channels = 4096 if opcode is Opcode.CONV_2D else 5
    shape = Shape(
        opcode=opcode,
        image=(1, 1, channels),
        channels=5,
        output=(6, 70),
        stride=(65535, 65535),
    )
    program.add(make_layer(program.random, shape))
    program.finish()
    assert (await system.run(program)).clean
    assert system.outputs(program)
