"""How many sums of products a core makes together: what its registers hold."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from atoll.isa.instruction_set import Arithmetic, Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Sums that the registers of a core hold, with what they are made of.

    Attributes:
        pixels: whose sums are made together.
        channels: of each of these pixels.
        products: of one sum that are made at once.
        lanes: of a vector, an `I32` in each.
        align: of what is multiplied at once, bytes; windows and weights are padded to it.
        ahead: products of different sums that are made before the first of them is added.
    """

    pixels: int
    channels: int
    products: int = 1
    lanes: int = 1
    align: int = 1
    ahead: int = 2

    def padded(self, length: int) -> int:
        """Return how many products a sum of `length` is made of, zeros included."""
        return -(-length // self.align) * self.align


_BLOCKS: Mapping[Vectors, Block] = {
    Vectors.DSP: Block(pixels=2, channels=2, products=4),
    Vectors.UNIT: Block(pixels=4, channels=4, products=4, align=4),
    Vectors.MVE: Block(pixels=2, channels=2, products=16, lanes=4),
}

_LARGE, _SMALL = Block(pixels=4, channels=4), Block(pixels=2, channels=4)

_BESIDE = 4
"""Registers for a weight, a product and two addresses, beside the sums and an input of each pixel.
"""


def block_for(arithmetic: Arithmetic) -> Block:
    """Return the largest block that fits the registers.

    If none does, sums are in memory anyway: the largest one loads operands the least often, and
    nothing is kept for a second product.
    """
    if arithmetic.vectors in _BLOCKS:
        return _BLOCKS[arithmetic.vectors]
    for block in (_LARGE, _SMALL):
        if block.pixels * (block.channels + 1) + _BESIDE <= arithmetic.registers:
            return block
    return replace(_LARGE, ahead=1)
