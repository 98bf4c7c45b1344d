# SPDX-License-Identifier: Apache-2.0
"""Operators with states, which the second sample of a network finds as the first one left them."""

from collections.abc import Sequence
from math import prod

import numpy as np
from tests.differential.network import MULTIPLIED, Network, Quantized, float32
from tests.tflite_builder import Model, Operator, Tensor

UNITS = (1, 2, 3, 4, 5, 8, 8, 33, 70)
MOST_INPUTS = 200
CELL_POWERS = range(-16, -7)
TANH = 4


def svdf(net: Network) -> bool:
    """Add an SVDF, whose state is int8 or int16."""
    x = _value(net, 2)
    if x is None:
        return False
    chance, (batches, inputs) = net.chance, net.shape(x)
    units, rank, steps = chance.choice(UNITS), chance.choice((1, 2, 3)), chance.choice((1, 2, 3, 6))
    wide, filters = net.likely(0.5), units * rank
    weights = net.weights((filters, inputs), 0, channelwise=False)
    times = _times(net, (filters, steps), wide=wide)
    state = _state(net, (batches, filters * steps), wide=wide)
    bias = _bias(net, units, float32(net.scale(state) * net.scale(times)))
    operands = (x, weights, times, bias, state)
    options = {"Rank": rank}
    net.apply("SVDF", operands, (batches, units), net.quantization(), "SVDFOptions", **options)
    return True


def lstm(net: Network) -> bool:
    """Add an LSTM of int8 or int16 with the batches or the steps in front."""
    x = _value(net, 3, MULTIPLIED)
    if x is None:
        return False
    first, second, inputs = net.shape(x)
    time_major, units = net.likely(0.5), net.chance.choice(UNITS)
    batches = second if time_major else first
    from_input = [net.weights((units, inputs), 0, channelwise=False) for _ in range(4)]
    from_hidden = [net.weights((units, units), 0, channelwise=False) for _ in range(4)]
    dtype = net.dtype(x)
    biases = [_bias(net, units, dtype="int32" if dtype == "int8" else "int64") for _ in range(4)]
    said = net.quantization(dtype)
    hidden = net.add(Tensor(shape=(batches, units), variable=True, **said))
    scale: Quantized = {"scales": (2.0 ** net.chance.choice(CELL_POWERS),), "zero_points": (0,)}
    cell = net.add(Tensor(shape=(batches, units), dtype="int16", variable=True, **scale))
    none = (-1,)
    gates = (*from_input, *from_hidden, *none * 3, *biases, *none * 2)
    net.apply_to_several(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        (x, *gates, hidden, cell, *none * 4),
        ((first, second, units),),
        said,
        "UnidirectionalSequenceLSTMOptions",
        FusedActivationFunction=TANH,
        TimeMajor=time_major,
        CellClip=net.chance.choice((0.0, 0.0, 1.0, 10.0)),
    )
    return True


def variable(net: Network) -> bool:
    """Add variables of one kind and what reads them; `assigned` gives them their next values."""
    x = net.pick(types=MULTIPLIED)
    if x is None:
        return False
    for _ in range(net.chance.choice((1, 1, 1, 2, 3))):
        _variable(net, x)
    return True


def _variable(net: Network, x: int) -> None:
    handle = net.add(Tensor(shape=(), dtype="resource"))
    name = f"kept {handle}"
    net.operators.append(_handle(name, handle))
    shape, kept = net.shape(x), net.like(x)
    net.assigned.append((handle, net.apply("READ_VARIABLE", (handle,), shape, kept)))
    if net.likely(0.4):
        data = net.random_values(shape, kept["dtype"])
        net.firsts[name] = Tensor(shape=shape, data=data, name=name, **kept)


def again(net: Network) -> bool:
    """Read a variable once more, mostly behind an assignment, perhaps by another handle."""
    if not net.assigned:
        return False
    handle, old = net.chance.choice(net.assigned)
    if net.likely(0.4):
        name, handle = f"kept {handle}", net.add(Tensor(shape=(), dtype="resource"))
        net.operators.append(_handle(name, handle))
    if net.likely(0.7):
        _assign(net, handle, old)
    net.apply("READ_VARIABLE", (handle,), net.shape(old), net.like(old))
    return True


def assigned(net: Network) -> None:
    """Assign to each variable a value that is like it, if only its own; first what runs once."""
    for handle, old in net.assigned:
        if f"kept {handle}" not in net.firsts or net.likely(0.9):
            _assign(net, handle, old)
    if net.firsts:
        net.subgraphs.append(_first_values(net))
        options = {"InitSubgraphIndex": len(net.subgraphs)}
        once = Operator(
            code="CALL_ONCE", inputs=(), outputs=(), table="CallOnceOptions", options=options
        )
        net.operators.insert(0, once)


def _first_values(net: Network) -> Model:
    """Return the subgraph that gives variables their first values."""
    tensors, operators = list[Tensor](), list[Operator]()
    for name, value in net.firsts.items():
        handle = len(tensors)
        tensors += (Tensor(shape=(), dtype="resource", name=f"t{handle}"), value)
        operators.append(_handle(name, handle))
        given = (handle, handle + 1)
        operators.append(Operator(code="ASSIGN_VARIABLE", inputs=given, outputs=()))
    return Model(tensors=tuple(tensors), operators=tuple(operators), inputs=(), outputs=())


def _handle(name: str, result: int) -> Operator:
    """Return what makes the handle of a variable."""
    options = {"Container": "", "SharedName": name}
    return Operator(
        code="VAR_HANDLE", inputs=(), outputs=(result,), table="VarHandleOptions", options=options
    )


def _assign(net: Network, handle: int, old: int) -> None:
    alike = [
        n for n in net.values if net.shape(n) == net.shape(old) and net.like(n) == net.like(old)
    ]
    given = (handle, net.chance.choice(alike))
    net.operators.append(Operator(code="ASSIGN_VARIABLE", inputs=given, outputs=()))


def _value(net: Network, rank: int, types: Sequence[str] = ("int8",)) -> int | None:
    """Choose a value, in another shape if it has not the rank; None if it has too many inputs."""
    x = net.pick(types=types)
    if x is None or not net.shape(x):
        return None
    shape = net.shape(x)
    wanted = (*(1,) * (rank - len(shape)), *shape)
    wanted = (prod(wanted[: 1 - rank]), *wanted[1 - rank :])
    if wanted[-1] > MOST_INPUTS:
        return None
    if wanted == shape:
        return x
    return net.apply("RESHAPE", (x, net.numbers(wanted)), wanted, net.like(x))


def _times(net: Network, shape: tuple[int, ...], *, wide: bool) -> int:
    """Add what an SVDF multiplies its state with."""
    if not wide:
        return net.weights(shape, 0, channelwise=False)
    rng = np.random.default_rng(net.chance.randrange(2**32))
    data = rng.integers(-(2**15) + 1, 2**15, shape).astype(np.int16)
    scale = float32(net.chance.uniform(2e-5, 1e-4))
    return net.add(Tensor(shape=shape, dtype="int16", data=data, scales=(scale,), zero_points=(0,)))


def _state(net: Network, shape: tuple[int, ...], *, wide: bool) -> int:
    """Add the state of an SVDF."""
    if not wide:
        return net.add(Tensor(shape=shape, variable=True, **net.quantization()))
    scale: Quantized = {"scales": (float32(net.chance.uniform(1e-4, 1e-2)),), "zero_points": (0,)}
    return net.add(Tensor(shape=shape, dtype="int16", variable=True, **scale))


def _bias(net: Network, units: int, scale: float = 0.0, dtype: str = "int32") -> int:
    """Add a bias, without a scale where it has none to keep to."""
    rng = np.random.default_rng(net.chance.randrange(2**32))
    reach = 9000 if dtype == "int32" else 2**20
    data = rng.integers(-reach, reach + 1, units).astype(dtype)
    fields: Quantized = {"scales": (scale,), "zero_points": (0,)} if scale else {}
    return net.add(Tensor(shape=(units,), dtype=dtype, data=data, **fields))
