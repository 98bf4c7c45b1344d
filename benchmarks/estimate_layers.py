# SPDX-License-Identifier: Apache-2.0
"""Networks of random layers that keep several devices busy, or end soon."""

from random import Random

from atoll.ir.graph import Graph
from atoll_sim.core_calibration.random_layers import Chain, activation

BRANCHES = (("conv_2d", 3, 16, 24), ("depthwise_conv_2d", 3, 16, 24), ("average_pool_2d", 1, 8, 10))
"""Of a network that keeps several devices busy: the kind of a chain, its layers, and the fewest and
most rows and columns of what it begins with."""


def branched_network(seed: int) -> Graph:
    """Make chains that share nothing: of convolutions, of depthwise ones, a mean, and dense layers.

    Where different devices run them, these are busy at the same time.
    """
    chance = Random(seed)
    chain = Chain(chance, f"branched_{seed}", [], most_made=32)
    for kind, layers, least, most in BRANCHES:
        depth = chance.choice((8, 12, 16))
        chain.begin((1, *(chance.randint(least, most) for _ in range(2)), depth))
        for _ in range(layers):
            chain.window(kind)
    chain.begin((1, chance.randint(200, 280)))
    for _ in range(3):
        chain.dense(chance.randint(100, 200))
    return chain.network()


def small_network(seed: int, name: str) -> Graph:
    """Make a convolution, another operator with a window and a layer that is dense."""
    chance = Random(seed)
    shape = (1, chance.randint(6, 12), chance.randint(6, 12), chance.choice((2, 3, 4, 8)))
    chain = Chain(chance, name, [activation("t0", shape)], most_made=12)
    chain.window("conv_2d")
    chain.window(chance.choice(("depthwise_conv_2d", "average_pool_2d", "conv_2d")))
    chain.dense(chance.randint(4, 12))
    return chain.network()
