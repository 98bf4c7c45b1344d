"""Made from lagoon.yaml and tiny.tflite by `atoll bsp`; edits are refused, see README.md.

Memory planning of ExecuTorch for the pools of 'lagoon':

    from executorch.exir import ExecutorchBackendConfig
    from memory_planning import memory_planning_pass

    config = ExecutorchBackendConfig(memory_planning_pass=memory_planning_pass())
    program = to_edge(exported).to_executorch(config)

Each tensor lies in one pool, where it overlaps no other that is alive at a time. The largest are
placed first, in the first pool with room. Pools stand in the order of `memory.h`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from executorch.exir.memory_planning import (
    MemoryAlgoResult,
    MemoryPlanningAlgorithmSuite,
    SpecAllocResult,
)
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.tensor import TensorSpec

Placed = list[tuple[int, TensorSpec]]
"""Offsets of tensors in a pool, in bytes."""


@dataclass(frozen=True)
class Pool:
    """A part of a memory, in bytes; a tensor's `mem_id` is the number of its pool, from 1."""

    name: str
    address: int
    size: int


ALIGNMENT = 16
POOLS = [
    Pool("private", 0x10003100, 49152),
    Pool("shared", 0x20000000, 262144),
]


def memory_planning_pass(**options: Any) -> MemoryPlanningPass:
    """Return the pass that plans these pools; `options` are those of `MemoryPlanningPass`."""
    suite = MemoryPlanningAlgorithmSuite(algo_list=[plan_pools])
    return MemoryPlanningPass(**{"memory_planning_algo": suite, "alignment": ALIGNMENT, **options})


def plan_pools(
    alignment: int,
    specs: Collection[TensorSpec],
    graph_module: Any,
    graph_signature: Any,
    extra_padding: int = 0,
) -> MemoryAlgoResult:
    """Place tensors; see `executorch.exir.memory_planning.greedy`, whose arguments these are.

    A tensor that has a `mem_id` already stays in that pool.

    Raises:
        ValueError: no pool has room for a tensor, or its `mem_id` is that of none.
    """
    reserved = list(getattr(graph_module, "input_mem_buffer_sizes", None) or ())
    reserved += [0] * (len(POOLS) + 1 - len(reserved))
    ends, result = list(reserved), MemoryAlgoResult({}, [])
    placed: list[Placed] = [[] for _ in reserved]
    for spec in specs:
        spec.realign(max(alignment, ALIGNMENT))
    bases = [spec for spec in specs if spec.storage_base is None]
    for spec in sorted(bases, key=lambda each: -each.allocated_memory):
        numbers = range(1, len(POOLS) + 1) if spec.mem_id is None else (spec.mem_id,)
        if not 1 <= numbers[0] <= len(POOLS):
            raise ValueError(f"there is no pool for mem_id {spec.mem_id}: 1 to {len(POOLS)} are")
        for number in numbers:
            room = POOLS[number - 1].size - extra_padding
            offset = _find_room(spec, placed[number], reserved[number])
            if offset + spec.allocated_memory <= room:
                break
        else:
            tried = ", ".join(f"'{POOLS[n - 1].name}' of {POOLS[n - 1].size} B" for n in numbers)
            raise ValueError(
                f"no room for a tensor of {spec.allocated_memory} B and shape {list(spec.shape)} "
                f"beside what is alive then, in {tried}"
            )
        placed[number].append((offset, spec))
        ends[number] = max(ends[number], offset + spec.allocated_memory)
        result.spec_dict[spec] = SpecAllocResult(number, None, offset)
    for spec in specs:
        base, within = spec, 0
        while base.storage_base is not None:
            base, within = base.storage_base, within + base.storage_base_offset
        at = result.spec_dict[base]
        result.spec_dict[spec] = SpecAllocResult(at.mem_id, None, at.mem_offset + within)
    result.bufsizes = [end + extra_padding * (end > 0) for end in ends]
    return result


def _find_room(spec: TensorSpec, placed: Placed, begin: int) -> int:
    """Return the lowest offset at which a tensor overlaps none that is alive when it is."""
    first, last = spec.lifetime
    alive = sorted(
        (offset, offset + other.allocated_memory)
        for offset, other in placed
        if other.lifetime[0] <= last and first <= other.lifetime[1]
    )
    size: int = spec.allocated_memory
    step: int = max(ALIGNMENT, spec.alignment)
    offset = -(-begin // step) * step
    for start, end in alive:
        if offset + size <= start:
            break
        offset = max(offset, -(-end // step) * step)
    return offset
