# SPDX-License-Identifier: Apache-2.0
"""Kernels that ran on the instruction-set simulator: what estimates know of them, and where from.

What a kernel runs rests on its operator and the core's code, and neither on clocks, latencies and
pools nor on the rest of the network; where its path rests on data, on the sample that was run.
"""

from collections.abc import Hashable, Mapping
from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.resolve.specs import KernelRun
from atoll.utils.remember import Alike

Which = tuple[int, int]
"""The number of a network, and that of an operator of it."""

Runs = Mapping[Hashable, tuple[KernelRun, ...]]
"""Kernels by `key_of`: what each core ran that made a part of one."""


def key_of(op: Operator, graph: Graph, core: Cpu) -> Hashable:
    """Return what tells a kernel on a core from others; the pools of its tensors do not."""
    tensors = [graph.tensor(name) for name in filter(None, (*op.inputs, *op.outputs))]
    cache = core.spec.timing.cache if core.spec.timing else None
    return Alike(
        (op.name, op.kind, op.inputs, op.outputs, op.target, len(op.devices), core.spec.name),
        (op.attributes, op.body),
        [(each.shape, each.dtype, each.quantization, each.data) for each in tensors],
        [(each.view, each.offset, each.first_row, each.layout) for each in tensors],
        (core.instructions, core.unit, core.toolchain, core.commands),
        (cache.size, cache.line) if cache else None,
    )


def runs_of(op: Operator, graph: Graph, core: Cpu) -> tuple[KernelRun, ...]:
    """Return what each core ran that made a part of a kernel, () if it did not run."""
    if not core.ran or core.spec.timing is None:
        return ()
    return core.ran.get(key_of(op, graph, core), ())


def runs_of_placed(op: Operator, graph: Graph, soc: ResolvedSoc) -> tuple[KernelRun, ...]:
    """Return what ran of an operator on its device, () if that is no core or did not run."""
    device = soc.device(op.device)
    return runs_of(op, graph, device) if isinstance(device, Cpu) else ()


def with_runs(soc: ResolvedSoc, runs: Runs) -> ResolvedSoc:
    """Return a chip whose cores know what kernels ran: the same one if that is nothing new."""
    if all(each.ran == runs for each in soc.cpus):
        return soc
    devices = (replace(each, ran=runs) if isinstance(each, Cpu) else each for each in soc.devices)
    return replace(soc, devices=tuple(devices))
