# SPDX-License-Identifier: Apache-2.0
"""What TFLM makes of samples; it runs in a process of its own, see `apart`."""

from collections.abc import Sequence

import numpy as np
from tflite_micro import runtime

from atoll.ir.graph import Tensor
from atoll_sim.oracle.apart import NoAnswerError
from atoll_sim.oracle.steps import Array, from_integers

_ARENA = 2**26
"""Bytes; more than any network for a microcontroller needs."""


def outputs(
    model: bytes, inputs: Sequence[Tensor], samples: Sequence[Sequence[Array]], count: int
) -> list[list[Array]]:
    """Run samples in turn, from the first state on.

    Args:
        model: a TFLite file.
        inputs: of the network, in the order of the file.
        samples: integers of each of them.
        count: of the network's outputs.

    Raises:
        NoAnswerError: TFLM does not accept the file, or gives a run up.
    """
    try:
        interpreter = runtime.Interpreter.from_bytes(model, arena_size=_ARENA)
        details = [interpreter.get_input_details(at) for at in range(len(inputs))]
        made = []
        for sample in samples:
            for at, (values, tensor) in enumerate(zip(sample, inputs, strict=True)):
                edge = from_integers(values, tensor, details[at]["dtype"])
                interpreter.set_input(edge, at)
            interpreter.invoke()
            made.append([np.array(interpreter.get_output(at)) for at in range(count)])
    except (RuntimeError, IndexError, ValueError) as fault:
        cause = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
        raise NoAnswerError(cause) from fault
    return made
