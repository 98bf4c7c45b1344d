# SPDX-License-Identifier: Apache-2.0
"""Cycles of typical layers with a memory that answers every cycle."""

from random import Random
from typing import Any

import cocotb
from tests.benches.reef_layers import INSTANCES, LAYERS
from tests.benches.reef_random import make_layer
from tests.benches.reef_system import System, parameter


@cocotb.test()
@cocotb.parametrize(name=list(LAYERS))
async def takes_the_cycles_that_estimates_rely_on(dut: Any, name: str) -> None:
    """A typical layer is exact and takes as many cycles as were measured."""
    random = Random(name)
    system = System(dut)
    await system.start()
    program = system.program(random)
    program.tensor_alignment = 16
    program.add(make_layer(random, LAYERS[name].shape))
    program.finish()
    ending = await system.run(program)
    dut._log.info("%s: %d cycles, %d stalls", name, ending.cycles, ending.stalls)
    assert ending.clean
    assert system.outputs(program)
    names = ("InputLanes", "OutputLanes", "DataBytes", "WeightRows", "Latency")
    instance = INSTANCES.index(tuple(parameter(each, 0) for each in names))
    assert ending.cycles == LAYERS[name].cycles[instance]
