# SPDX-License-Identifier: Apache-2.0
"""What a core waits for memories beside what its operators were measured with."""

from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll.place.measured import (
    ACCESS_BYTES,
    MEASURED_DATA_LATENCY,
    MEASURED_LATENCY,
    OTHER_CYCLES,
)
from atoll.resolve.soc import Cpu, ResolvedSoc


def fetched(cycles: int, core: Cpu, soc: ResolvedSoc, other: int = OTHER_CYCLES) -> int:
    """Return what `cycles` become with the latency of the memory of the core's instructions.

    `other` is what passes between two fetches besides it.
    """
    latency = soc.memory(core.code.memory).read_latency
    return -(-cycles * (other + latency) // (other + MEASURED_LATENCY))


def waiting_cycles(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> int:
    """Return what a core waits for activations in far memory, as far as the graph says where.

    Operators that move bytes take a word at a time, others an element, and pooling one for each
    tap. Those with products are not counted: most copy their windows to their stack first.
    """
    features = kind_of(op).features(op, graph)
    if core.cache or features["macs"]:
        return 0
    taps = features.get("kernel_h", 1) * features.get("kernel_w", 1)
    read = graph.results(op)[0].elements * taps if taps > 1 else 0
    cycles = 0
    for name in (*op.reads, *op.outputs):
        tensor = graph.tensor(name)
        if tensor.data is None and tensor.pool:
            latency = soc.memory(soc.pool(tensor.pool).region.memory).read_latency
            count = tensor.elements if name in op.outputs else read or tensor.elements
            if "bytes" in features:
                count = tensor.size // ACCESS_BYTES
            cycles += count * max(0, latency - MEASURED_DATA_LATENCY)
    return cycles
