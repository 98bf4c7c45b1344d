"""Operators that move elements, on top of what a network has."""

from tests.differential.network import Network

MOST_TRANSPOSED = 5


def transpose(net: Network) -> bool:
    """Add a TRANSPOSE, perhaps one that changes nothing."""
    x = net.pick()
    if x is None or not 1 <= len(net.shape(x)) <= MOST_TRANSPOSED:
        return False
    shape = net.shape(x)
    order = net.chance.sample(range(len(shape)), len(shape))
    net.apply("TRANSPOSE", (x, net.numbers(order)), tuple(shape[at] for at in order), net.like(x))
    return True
