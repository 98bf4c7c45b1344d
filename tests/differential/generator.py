# SPDX-License-Identifier: Apache-2.0
"""Draw a network: branches and joins of every operator, and an interface of every kind."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from tests.differential import (
    bodies,
    elements,
    elementwise,
    indices,
    moves,
    numbers,
    picks,
    recurrent,
    resizing,
    rows,
    splits,
    windows,
)
from tests.differential.again import again
from tests.differential.dressed import dressed
from tests.differential.network import MULTIPLIED, Network
from tests.tflite_builder import Model, Operator, Tensor

Steps = Sequence[tuple[Callable[[Network], bool], int]]

_USUAL: Steps = (
    (windows.convolution, 4),
    (windows.depthwise, 3),
    (windows.padded, 1),
    (windows.pooling, 2),
    (windows.dense, 2),
    (again, 2),
    (elementwise.binary, 5),
    (elementwise.quantize, 2),
    (elementwise.softmax, 1),
    (elementwise.mean, 1),
    (elementwise.pad, 1),
    (elementwise.concatenation, 2),
    (elementwise.reshape, 3),
)
COMMON: Steps = (*_USUAL, (elements.unary, 4))
"""What adds to a network the operators that most have, and how often; they suit each other."""

STEPS: Steps = (
    *_USUAL,
    (bodies.branch, 1),
    (bodies.loop, 1),
    (elementwise.add_n, 1),
    (elementwise.another_input, 1),
    (elementwise.retyped, 4),
    (indices.embedding, 1),
    (indices.filled, 1),
    (indices.gather, 2),
    (indices.gather_nd, 1),
    (indices.reshaped, 1),
    (indices.shape_of, 1),
    (indices.updated, 1),
    (moves.expand_dims, 1),
    (moves.slice, 1),
    (moves.squeeze, 1),
    (moves.strided_slice, 1),
    (moves.transpose, 2),
    (numbers.numbers, 1),
    (numbers.quotient, 1),
    (numbers.zeros, 1),
    (picks.picked, 9),
    (recurrent.lstm, 1),
    (recurrent.svdf, 1),
    (recurrent.again, 1),
    (recurrent.variable, 1),
    (resizing.batch_matmul, 1),
    (resizing.resize_bilinear, 1),
    (resizing.transpose_conv, 2),
    (rows.cumsum, 1),
    (rows.extreme, 2),
    (rows.normalization, 2),
    (rows.reduction, 2),
    (splits.pack, 1),
    (splits.split, 1),
    (splits.split_v, 1),
    (splits.unpack, 1),
    (windows.dense_of_values, 1),
    (elements.unary, 4),
    (elements.pair, 3),
    (elements.real, 1),
    (elements.cast, 2),
    (elements.comparison, 3),
    (elements.decision, 2),
    (elements.logical, 2),
    (elements.selection, 2),
)
LENGTHS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8)
LONG = range(5, 41)
EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9)
ODD = (
    *((), (1, 2, 3, 2, 4), (2, 1, 3, 1, 2, 3), (1, 1, 2, 257), (1025,)),
    *((1, 1, 130, 3), (1, 70, 1, 5), (1, 33, 33, 1), (1, 1, 1, 1), (17, 2, 2, 3)),
)
"""Shapes that few networks have."""
TYPES = ("float32", "uint8", "int16", "int32", "int64", "bool")
USUAL = 1e-30, 1e30
"""Scales with which a float32 value stands for each quantised one exactly."""


def random_model(seed: int, steps: Steps = STEPS) -> Model:
    """Return the network of a seed, the same one every time that it is drawn from these steps."""
    chance = Random(f"network {seed}")
    net = Network(chance, extreme=chance.choice((0.0, 0.0, 0.0, 0.25)))
    net.input(_image(net))
    if net.likely(0.3):
        net.input(net.shape(0) if net.likely(0.5) else _image(net))
    none, long = net.likely(0.01), steps is STEPS and net.likely(0.15)
    length = 0 if none else chance.choice(LONG if long else LENGTHS)
    adders, weights = zip(*steps, strict=True)
    for _ in range(8 * length):
        if len(net.operators) < length:
            chance.choices(adders, weights)[0](net)
    recurrent.assigned(net)
    _unused_inputs(net)
    outputs = _outputs(net)
    return dressed(chance, _float_edges(net, outputs))


def _image(net: Network) -> tuple[int, ...]:
    pick = net.chance.choice
    if net.likely(0.04):
        return pick(ODD)
    image = (pick((1, 1, 1, 2, 3)), pick(EXTENTS), pick(EXTENTS), pick(windows.CHANNELS))
    return image if net.likely(0.8) else image[net.chance.randrange(1, 4) :]


def _unused_inputs(net: Network) -> None:
    """Add inputs that no operator reads, most of them int8."""
    while net.likely(0.12):
        shape, number = _image(net), len(net.values)
        net.input(shape)
        del net.values[number:]
        if net.likely(0.2):
            dtype = net.chance.choice(TYPES)
            net.tensors[-1] = Tensor(shape=shape, dtype=dtype, name=net.tensors[-1].name)


def _outputs(net: Network) -> list[int]:
    """Choose results, most of those that no operator reads and some that are read later.

    What is left out is a dead tail. An output may be declared twice, be an input or a constant.
    """
    read = {number for op in net.operators for number in op.inputs}
    outputs = [n for n in net.results if net.likely(0.25 if n in read else 0.75)]
    if not outputs:
        outputs = net.results[-1:] or net.inputs[:1]
    net.chance.shuffle(outputs)
    if net.likely(0.05):
        outputs.append(net.chance.choice(outputs))
    if net.likely(0.05):
        outputs.append(net.chance.choice(net.inputs))
    constants = [n for n, t in enumerate(net.tensors) if t.data is not None and t.dtype != "int4"]
    if constants and net.likely(0.03):
        outputs.append(net.chance.choice(constants))
    return outputs


def _float_edges(net: Network, outputs: list[int]) -> Model:
    """Make some inputs and outputs float32, as converters do."""
    model = net.model(outputs)
    for number in dict.fromkeys(outputs):
        if _usual(model, number) and net.likely(0.1):
            model = _with_float_output(model, number)
    for number in model.inputs:
        if _usual(model, number) and net.likely(0.1):
            model = _with_float_input(model, number)
    return model


def _usual(model: Model, number: int) -> bool:
    tensor = model.tensors[number]
    low, high = USUAL
    return tensor.dtype in MULTIPLIED and len(tensor.scales) == 1 and low < tensor.scales[0] < high


def _with_float_output(model: Model, number: int) -> Model:
    added = len(model.tensors)
    tensor = Tensor(shape=model.tensors[number].shape, dtype="float32", name=f"t{added}")
    op = Operator(code="DEQUANTIZE", inputs=(number,), outputs=(added,))
    return replace(
        model,
        tensors=(*model.tensors, tensor),
        operators=(*model.operators, op),
        outputs=tuple(added if n == number else n for n in model.outputs),
    )


def _with_float_input(model: Model, number: int) -> Model:
    added = len(model.tensors)
    tensor = Tensor(shape=model.tensors[number].shape, dtype="float32", name=f"t{added}")
    op = Operator(code="QUANTIZE", inputs=(added,), outputs=(number,))
    return replace(
        model,
        tensors=(*model.tensors, tensor),
        operators=(op, *model.operators),
        inputs=tuple(added if n == number else n for n in model.inputs),
    )
