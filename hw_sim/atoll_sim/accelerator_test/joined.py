# SPDX-License-Identifier: Apache-2.0
"""One network of operators that were drawn one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll_sim.accelerator_test.draw import Drawn


def join(drawn: Sequence[Drawn]) -> Graph:
    """Return a network of operators side by side, each with inputs and a result of its own."""
    tensors: list[Tensor] = []
    operators: list[Operator] = []
    inputs: list[str] = []
    outputs: list[str] = []
    for number, each in enumerate(drawn):
        tensors += _name_tensors(each.graph, number)
        (op,) = each.graph.operators
        operators.append(
            Operator(
                name=f"{op.kind}_{number}",
                kind=op.kind,
                inputs=tuple(f"{word}_{number}" if word else "" for word in op.inputs),
                outputs=tuple(f"{word}_{number}" for word in op.outputs),
                attributes=op.attributes,
                index=number,
                body=op.body,
            )
        )
        inputs += [f"{word}_{number}" for word in each.graph.inputs]
        outputs += [f"{word}_{number}" for word in each.graph.outputs]
    return Graph("drawn", tuple(tensors), tuple(operators), tuple(inputs), tuple(outputs))


def _name_tensors(graph: Graph, number: int) -> Iterator[Tensor]:
    for tensor in graph.tensors:
        yield replace(tensor, name=f"{tensor.name}_{number}")
