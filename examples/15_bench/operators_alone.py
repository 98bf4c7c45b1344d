# SPDX-License-Identifier: Apache-2.0
"""Each operator of a network alone on its accelerator, by its registers, without any firmware.

Nothing here names a device: run it with ``--no-firmware`` on any chip.
"""

import cocotb
import numpy as np

from atoll_sim.bench import Chip


@cocotb.test()
async def each_operator_computes_what_it_must(dut: object) -> None:
    """Put the reference's inputs into memory, write the registers, compare the outputs."""
    chip = Chip(dut)
    await chip.start()
    compared = 0
    for operator in chip.operators:
        if not operator.registers:  # a core runs it
            continue
        network = operator.network
        for name in operator.inputs:
            if name in chip.tensors[network]:
                chip.write(name, chip.reference(name, network=network), network)
        await chip.run_operator(operator)
        for name in operator.outputs:
            made = chip.read(name, network)
            right = chip.reference(name, network=network)
            assert np.array_equal(made, right), f"{operator.name} on {operator.device}: {name}"
            compared += 1
    assert compared, "no accelerator runs anything"
