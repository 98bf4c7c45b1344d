# SPDX-License-Identifier: Apache-2.0
"""What ADD and MUL of the reef accelerator compute (docs/reef.md)."""

import numpy as np
from numpy.typing import NDArray

from atoll_sim.engines.reef.arithmetic import rescale, rescale_once
from atoll_sim.engines.reef.decode import ADD, Command

_MORE_BITS = 20


def element_results(
    command: Command, first: NDArray[np.int8], second: NDArray[np.int8]
) -> NDArray[np.int8]:
    """Return the result of each pair of elements."""
    terms = [
        values.astype(np.int64) - command.signed_byte(10, index)
        for index, values in enumerate((first, second))
    ]
    if command.opcode == ADD:
        scales = (_scale(command, index) for index in range(2))
        total = sum(
            (
                rescale(term << _MORE_BITS, *scale)
                for term, scale in zip(terms, scales, strict=True)
            ),
            np.int64(0),
        )
    else:
        total = terms[0] * terms[1]
    scale = rescale_once if command.once else rescale
    scaled = scale(np.asarray(total, np.int64), *_scale(command, 2)) + command.signed_byte(10, 2)
    low, high = command.signed_byte(11, 2), command.signed_byte(11, 3)
    clamped: NDArray[np.int64] = np.minimum(np.maximum(scaled, low), high)
    return clamped.astype(np.int8)


def _scale(command: Command, index: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return multiplier and shift of an operand, or of the result."""
    multiplier = np.asarray(command.words[6 + index]).astype(np.uint32).astype(np.int32)
    return multiplier.astype(np.int64), np.asarray(command.signed_byte(9, index), np.int64)
