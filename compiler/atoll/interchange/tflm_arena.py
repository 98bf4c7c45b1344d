# SPDX-License-Identifier: Apache-2.0
"""A network's tensors in the single arena of TensorFlow Lite for Microcontrollers (TFLM).

TFLM reads a plan from the metadata entry `OfflineMemoryAllocation`: little-endian int32 words, a
version (1), the number of the subgraph, how many tensors it has, and for each the offset in the
arena, or -1 for what TFLM shall place itself or what is no activation.
"""

from struct import pack

from atoll.ir.graph import Graph
from atoll.memory.problem import Buffer, MemoryPlan, PoolSpace, Problem

METADATA = "OfflineMemoryAllocation"
ARENA = "arena"
ALIGNMENT = 16
UNLIMITED = 1 << 31

VERSION = 1
_SUBGRAPH, _NOWHERE = 0, -1


def arena_problem(graph: Graph, capacity: int = UNLIMITED) -> Problem:
    """Return the activations of a network as TFLM places them: step by step, none overlapping.

    Args:
        graph: as the model file has it: not placed, no operator added.
        capacity: bytes of the arena.
    """
    first: dict[str, int] = dict.fromkeys(graph.inputs, 0)
    last: dict[str, int] = dict.fromkeys(graph.inputs, 0)
    for step, op in enumerate(graph.operators):
        for name in filter(None, (*op.inputs, *op.outputs)):
            if graph.tensor(name).data is None:
                first.setdefault(name, step)
                last[name] = step
    last |= dict.fromkeys(graph.outputs, max(0, len(graph.operators) - 1))
    pool = PoolSpace(name=ARENA, origin=0, size=capacity, alignment=ALIGNMENT)
    buffers = (
        Buffer(
            name=name,
            size=-(-graph.tensor(name).size // ALIGNMENT) * ALIGNMENT,
            alignment=ALIGNMENT,
            live=((begin, last[name] + 1),),
            pools=(ARENA,),
        )
        for name, begin in first.items()
    )
    return Problem(pools=(pool,), buffers=tuple(buffers))


def offline_allocation(graph: Graph, plan: MemoryPlan, tensors: int) -> bytes:
    """Return the content of the metadata entry.

    Args:
        graph: what `plan` is for.
        plan: an answer to `arena_problem(graph)`.
        tensors: how many the subgraph of the file has.
    """
    offsets = [_NOWHERE] * tensors
    for placement in plan.placements.values():
        offsets[graph.tensor(placement.buffer).index] = placement.offset
    return pack(f"<{3 + tensors}i", VERSION, _SUBGRAPH, tensors, *offsets)
