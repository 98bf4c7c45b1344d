# SPDX-License-Identifier: Apache-2.0
"""An operator that is there already, once more: its constants are shared in one of three ways."""

from dataclasses import replace

from tests.differential.network import Network, float32
from tests.tflite_builder import Operator, Tensor

WITH_CONSTANTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def again(net: Network) -> bool:
    """Apply weights once more, to the same value or one of the same shape."""
    known = [op for op in net.operators if op.code in WITH_CONSTANTS and _constant(net, op)]
    if not known:
        return False
    op = net.chance.choice(known)
    x, weights, *biases = op.inputs
    fitting = [n for n in net.known(net.dtype(x)) if net.shape(n) == net.shape(x)]
    other = net.chance.choice(fitting)
    shared = _shared(net, weights)
    operands = (other, shared, *(_bias(net, other, shared, n) for n in biases))
    (result,) = op.outputs
    net.apply(op.code, operands, net.shape(result), net.like(result), op.table, **op.options)
    return True


def _constant(net: Network, op: Operator) -> bool:
    """Tell whether the weights of an operator are not computed."""
    return not {op.inputs[1]}.intersection(net.values)


def _shared(net: Network, number: int) -> int:
    """Return a constant itself, another tensor with its buffer, or one with the same bytes."""
    tensor = net.tensors[number]
    way = net.chance.randrange(3)
    if way == 0:
        return number
    if way == 1 or tensor.data is None:
        return net.add(_view(tensor, number))
    return net.add(replace(tensor, data=tensor.data.copy()))


def _bias(net: Network, x: int, weights: int, number: int) -> int:
    """Return a bias with the values of another one, and the scale that belongs to `x`."""
    if number < 0:
        return number
    scales = tuple(float32(net.scale(x) * scale) for scale in net.tensors[weights].scales)
    return net.add(replace(_view(net.tensors[number], number), scales=scales))


def _view(tensor: Tensor, number: int) -> Tensor:
    """Return a tensor that shares the buffer of another one, whose number is given."""
    owner = number if tensor.shares is None else tensor.shares
    return replace(tensor, data=None, shares=owner)
