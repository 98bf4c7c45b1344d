# SPDX-License-Identifier: Apache-2.0
"""How many sums of products a core makes together: what its registers hold."""

from collections.abc import Mapping

from atoll.isa.instruction_set import Arithmetic, Vectors
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Sums that the registers of a core hold, with what they are made of.

    Attributes:
        pixels: whose sums are made together.
        channels: of each of these pixels.
        products: of one sum that are made at once.
        lanes: of a vector, an `I32` in each.
        strips: `lanes` are the most that are worth while: the core takes as many at once as its
            vectors have, and any number.
        align: of what is multiplied at once, bytes; windows and weights are padded to it.
        ahead: products of different sums that are made before the first of them is added.
        steps: `products` of one sum in one round of the loop, for several pixels, where they divide
            their count; the most first.
    """

    pixels: int
    channels: int
    products: int = 1
    lanes: int = 1
    strips: bool = False
    align: int = 1
    ahead: int = 2
    steps: tuple[int, ...] = (2, 1)

    def padded_length(self, length: int) -> int:
        """Return how many products a sum of `length` is made of, zeros included."""
        return -(-length // self.align) * self.align


_BLOCKS: Mapping[Vectors, Block] = {
    Vectors.DSP: Block(pixels=2, channels=2, products=4),
    Vectors.UNIT: Block(pixels=4, channels=4, products=4, align=4),
    Vectors.MVE: Block(pixels=2, channels=2, products=16, lanes=4),
    Vectors.RVV: Block(pixels=4, channels=1, lanes=64, strips=True),
}

_SCALAR = (
    Block(pixels=4, channels=4),
    Block(pixels=2, channels=4),
    Block(pixels=2, channels=1, ahead=1, steps=(1,)),
)
"""For cores that multiply number by number, the largest first."""

_BESIDE = 4
"""Registers for a weight, a product and two addresses, beside the sums and an input of each pixel.
"""


def block_for(arithmetic: Arithmetic) -> Block:
    """Return the largest block that fits the registers."""
    if arithmetic.vectors in _BLOCKS:
        return _BLOCKS[arithmetic.vectors]
    return next(
        block
        for block in _SCALAR
        if block.pixels * (block.channels + 1) + _BESIDE <= arithmetic.registers
    )
