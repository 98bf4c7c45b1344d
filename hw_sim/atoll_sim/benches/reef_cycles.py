"""Cycles of typical layers with a memory that answers every cycle, held against bounds."""

from random import Random
from typing import Any

import cocotb

from atoll.codegen.reef_descriptor import Opcode
from atoll_sim.benches.reef_golden import make_layer
from atoll_sim.benches.reef_system import System

# Name: operator, image, output channels, kernel, stride, padding, output, most cycles allowed.
LAYERS = {
    "conv 3x3 16 to 16 on 32x32": (
        *(Opcode.CONV_2D, (32, 32, 16), 16, (3, 3), (1, 1), (1, 1), (32, 32)),
        40_000,
    ),
    "pointwise 64 to 64 on 25x5": (
        *(Opcode.CONV_2D, (25, 5, 64), 64, (1, 1), (1, 1), (0, 0), (25, 5)),
        10_000,
    ),
    "depthwise 3x3 on 48x48x16": (
        *(Opcode.DEPTHWISE_CONV_2D, (48, 48, 16), 16, (3, 3), (1, 1), (1, 1), (48, 48)),
        45_000,
    ),
    "dense 640 to 128": (
        *(Opcode.FULLY_CONNECTED, (1, 1, 640), 128, (1, 1), (1, 1), (0, 0), (1, 1)),
        13_000,
    ),
}


@cocotb.test()
@cocotb.parametrize(name=list(LAYERS))
async def keeps_the_array_busy(dut: Any, name: str) -> None:
    """A typical layer is exact and takes no more cycles than promised."""
    *shape, most = LAYERS[name]
    random = Random(name)
    system = System(dut)
    await system.start()
    program = system.program(random)
    program.tensor_alignment = 16
    layer = make_layer(random, *shape)
    program.add(layer)
    program.finish()
    ending = await system.run(program)
    dut._log.info("%s: %d cycles, %d stalls", name, ending.cycles, ending.stalls)
    assert ending.clean
    assert system.outputs(program)
    assert ending.cycles <= most
