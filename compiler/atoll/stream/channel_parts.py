# SPDX-License-Identifier: Apache-2.0
"""Cut an operator by its output channels, so that its constants come one part after the other.

Every part writes its channels one behind the other. Where the result has one position only, they
lie where they belong; otherwise they are blocks of a layout, which is then changed.
"""

from collections.abc import Iterator
from dataclasses import replace

from atoll.cost.copies import changes_layouts
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.registry import RELAYOUT
from atoll.reach.candidates import homes_of, needs_of
from atoll.reach.movers import covers
from atoll.resolve.soc import Access, ResolvedSoc

KINDS = frozenset({"conv_2d", "fully_connected"})
"""Kinds whose weights and biases have the output channels as their first axis."""

CHANNELS = 16
"""Output channels of a part are a multiple of these, since accelerators make several at once."""

ORDER = "CNHWc"
"""Blocks of channels, each with all positions of the result."""


def counts_of(op: Operator, graph: Graph) -> tuple[int, ...]:
    """Return into how many parts an operator can be cut, 1 included, in order."""
    channels = graph.results(op)[0].shape[-1]
    if op.kind not in KINDS or op.body is not None or channels % CHANNELS:
        return (1,)
    most = channels // CHANNELS
    return tuple(count for count in range(1, most + 1) if most % count == 0)


def with_parts(
    graph: Graph, soc: ResolvedSoc, operator: str, count: int
) -> tuple[Graph, tuple[str, ...]]:
    """Return a placed graph with an operator in `count` parts, and the names of these."""
    if count == 1:
        return graph, (operator,)
    (op,) = (each for each in graph.operators if each.name == operator)
    (result,) = graph.results(op)
    size, positions = result.size // count, result.elements // result.shape[-1]
    tensors: list[Tensor] = []
    storage = result
    if positions > 1:
        shape = (count, *result.shape[:-1], result.shape[-1] // count)
        storage = replace(result, name=f"{result.name}_blocks", shape=shape, index=-1, pools=())
        tensors.append(storage)
    made = tuple(_parts(op, graph, storage, size, count, tensors))
    operators = list(graph.operators)
    at = operators.index(op)
    operators[at : at + 1] = made
    graph = replace(graph, tensors=(*graph.tensors, *tensors), operators=tuple(operators))
    if positions > 1:
        graph = _join_blocks(graph, soc, op, storage, at + count)
    return graph, tuple(part.name for part in made)


def first_part(op: Operator, graph: Graph, count: int) -> Graph:
    """Return a graph in which `op` makes no more than the first of `count` parts."""
    (result,) = graph.results(op)
    shape = (*result.shape[:-1], result.shape[-1] // count)
    smaller = {result.name: replace(result, shape=shape, view="")}
    for name in filter(None, op.inputs[1:]):
        smaller[name] = replace(_channels(graph.tensor(name), 0, count), name=name)
    tensors = (smaller.get(each.name, each) for each in graph.tensors)
    return replace(graph, tensors=tuple(tensors))


def relayout_of(op: Operator, graph: Graph, count: int) -> tuple[Operator, Graph]:
    """Return what brings the channels of parts together, and a graph that it can be judged in."""
    (result,) = graph.results(op)
    laid = replace(result, name=f"{result.name}_laid", layout=_layout(result, count), index=-1)
    move = Operator(
        name=f"{op.name}_join",
        kind=RELAYOUT,
        inputs=(laid.name,),
        outputs=op.outputs,
        attributes={},
    )
    return move, replace(graph, tensors=(*graph.tensors, laid))


def mover_of_parts(move: Operator, graph: Graph, soc: ResolvedSoc, device: str) -> str:
    """Return who brings the channels together that `device` has made: a DMA engine, or the host."""
    needs = needs_of(graph, soc)
    laid, result = graph.tensor(move.inputs[0]), graph.results(move)[0]
    written = dict(needs[graph.storage(result.name)])
    written.pop(device, None)
    held = graph.tensor(graph.storage(result.name))
    for dma in soc.dmas:
        source = homes_of(soc, {device: Access.WRITE, dma.name: Access.READ}, laid)
        target = homes_of(soc, written | {dma.name: Access.WRITE}, held)
        if changes_layouts(dma) and covers(dma, soc, source, target):
            return dma.name
    return soc.host


def _layout(result: Tensor, count: int) -> Layout:
    channels = result.shape[-1]
    image = (1, 1, result.elements // channels, channels)
    return Layout(image=image, order=ORDER, block=channels // count)


def _parts(
    op: Operator, graph: Graph, storage: Tensor, size: int, count: int, tensors: list[Tensor]
) -> Iterator[Operator]:
    """Yield the parts of an operator, and add the tensors that they touch."""
    (result,) = graph.results(op)
    for number in range(count):
        inputs = list(op.inputs)
        for position in range(1, len(op.inputs)):
            if op.inputs[position]:
                tensors.append(_channels(graph.tensor(op.inputs[position]), number, count))
                inputs[position] = tensors[-1].name
        part = replace(
            result,
            name=f"{result.name}_part{number}",
            shape=(*result.shape[:-1], result.shape[-1] // count),
            index=-1,
            pools=(),
            view=storage.view or storage.name,
            offset=storage.offset + number * size,
        )
        tensors.append(part)
        yield replace(
            op,
            name=f"{op.name}_part{number}",
            inputs=tuple(inputs),
            outputs=(part.name,),
            index=-1,
        )


def _channels(constant: Tensor, number: int, count: int) -> Tensor:
    """Return the weights or biases of a part."""
    assert constant.data is not None
    size, channels = constant.size // count, constant.shape[0] // count
    held = constant.quantization
    if held and len(held.scales) > 1:
        chosen = slice(number * channels, (number + 1) * channels)
        held = replace(held, scales=held.scales[chosen], zero_points=held.zero_points[chosen])
    return replace(
        constant,
        name=f"{constant.name}_part{number}",
        shape=(channels, *constant.shape[1:]),
        data=constant.data[number * size : (number + 1) * size],
        quantization=held,
        index=-1,
    )


def _join_blocks(graph: Graph, soc: ResolvedSoc, op: Operator, blocks: Tensor, at: int) -> Graph:
    """Return a graph in which the blocks of channels become the result, as operator `at`."""
    move, graph = relayout_of(op, graph, blocks.shape[0])
    tensors = (
        replace(each, view=blocks.name) if each.name == move.inputs[0] else each
        for each in graph.tensors
    )
    graph = replace(graph, tensors=tuple(tensors))
    move = replace(move, device=mover_of_parts(move, graph, soc, op.device))
    operators = (*graph.operators[:at], move, *graph.operators[at:])
    return graph.with_operators(operators)
