"""Cycles of typical layers with a memory that answers every cycle, held against bounds."""

from random import Random
from typing import Any

import cocotb

from atoll.codegen.reef_descriptor import Opcode
from atoll_sim.benches.reef_golden import Shape
from atoll_sim.benches.reef_random import make_layer
from atoll_sim.benches.reef_system import System

# Shape, and the most cycles allowed.
LAYERS = {
    "conv 3x3 16 to 16 on 32x32": (
        Shape(
            opcode=Opcode.CONV_2D,
            image=(32, 32, 16),
            channels=16,
            output=(32, 32),
            kernel=(3, 3),
            pad=(1, 1),
        ),
        36_000,
    ),
    "pointwise 64 to 64 on 25x5": (
        Shape(opcode=Opcode.CONV_2D, image=(25, 5, 64), channels=64, output=(25, 5)),
        9_000,
    ),
    "depthwise 3x3 on 48x48x16": (
        Shape(
            opcode=Opcode.DEPTHWISE_CONV_2D,
            image=(48, 48, 16),
            channels=16,
            output=(48, 48),
            kernel=(3, 3),
            pad=(1, 1),
        ),
        42_000,
    ),
    "weights that just fit on chip": (
        Shape(opcode=Opcode.CONV_2D, image=(4, 4, 1024), channels=8, output=(4, 4)),
        3_200,
    ),
    "dense 640 to 128": (
        Shape(opcode=Opcode.FULLY_CONNECTED, image=(1, 1, 640), channels=128, output=(1, 1)),
        12_500,
    ),
}


@cocotb.test()
@cocotb.parametrize(name=list(LAYERS))
async def keeps_the_array_busy(dut: Any, name: str) -> None:
    """A typical layer is exact and takes no more cycles than promised."""
    shape, most = LAYERS[name]
    random = Random(name)
    system = System(dut)
    await system.start()
    program = system.program(random)
    program.tensor_alignment = 16
    layer = make_layer(random, shape)
    program.add(layer)
    program.finish()
    ending = await system.run(program)
    dut._log.info("%s: %d cycles, %d stalls", name, ending.cycles, ending.stalls)
    assert ending.clean
    assert system.outputs(program)
    assert ending.cycles <= most
