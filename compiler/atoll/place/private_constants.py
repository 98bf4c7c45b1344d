# SPDX-License-Identifier: Apache-2.0
"""Bring packed constants into the private memory of accelerators that reach no constants."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.formulas import packed_constants
from atoll.ops.registry import COPY
from atoll.place.capabilities import takes_constants
from atoll.place.replicas import copy_names
from atoll.reach.candidates import WORKSPACE_ROLES, pools_for
from atoll.reach.movers import mover_of
from atoll.resolve.soc import Access, Npu, ResolvedSoc


def with_private_constants(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a placed graph in which such operators read copies of their packed constants.

    The constants themselves lie where whoever copies them reaches them. Planning the result again
    changes nothing.

    Raises:
        AtollError: E041, E111, E112; the function that packs them fails.
    """
    tensors: list[Tensor] = list(graph.tensors)
    operators: list[Operator] = []
    names = copy_names(graph)
    for op in graph.operators:
        npu = soc.device(op.device)
        if not isinstance(npu, Npu) or op.packed or not takes_constants(npu, soc):
            operators.append(op)
            continue
        pairs = tuple(_pairs(op, graph, npu))
        for constant, copy in pairs:
            tensors += (constant, copy)
            mover = _mover(constant, npu, soc)
            operators.append(
                Operator(
                    name=next(names),
                    kind=COPY,
                    inputs=(constant.name,),
                    outputs=(copy.name,),
                    attributes={},
                    device=mover,
                )
            )
        operators.append(replace(op, packed=tuple(copy.name for _, copy in pairs)))
    return replace(graph, tensors=tuple(tensors), operators=tuple(operators))


def _pairs(op: Operator, graph: Graph, npu: Npu) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield each packed constant, and the tensor that it is copied to."""
    for constant in packed_constants(op, graph, npu):
        yield constant, replace(constant, name=f"{constant.name}_private", data=None)


def _mover(constant: Tensor, npu: Npu, soc: ResolvedSoc) -> str:
    pools = pools_for(soc, {npu.name: Access.READ}, WORKSPACE_ROLES, constant.size)
    movers = [mover_of(constant, None, (pool,), soc) for pool in pools]
    return next((name for name in movers if name != soc.host), soc.host)
