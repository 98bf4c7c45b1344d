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


def squeeze(net: Network) -> bool:
    """Add a SQUEEZE of all extents of 1, if there are any."""
    x = net.pick()
    if x is None or 1 not in net.shape(x):
        return False
    net.apply("SQUEEZE", (x,), tuple(n for n in net.shape(x) if n != 1), net.like(x))
    return True


def expand_dims(net: Network) -> bool:
    """Add an EXPAND_DIMS at an axis that counts from either end."""
    x = net.pick()
    if x is None or len(net.shape(x)) > MOST_TRANSPOSED:
        return False
    shape = net.shape(x)
    axis = net.chance.randint(0, len(shape))
    table = net.numbers([axis - (len(shape) + 1) * net.chance.randrange(2)])
    net.apply("EXPAND_DIMS", (x, table), (*shape[:axis], 1, *shape[axis:]), net.like(x))
    return True
