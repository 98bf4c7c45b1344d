# SPDX-License-Identifier: Apache-2.0
"""A placed network as machine code of this computer: the bytes of the chip, without the chip."""

from collections.abc import Iterable, Mapping
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from atoll.artifacts.samples import Sample
from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Entry, IRModule, Lowered
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import with_callees
from atoll.ops import reference
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.resolve.soc import Engine, ResolvedSoc

ALIGNMENT = 64
"""Of every tensor, bytes."""


_ON_STACK = SpecializeStorage(max_alloca=1 << 22, max_stack=1 << 22, pools=())
"""Kernels' own buffers lie on the stack of a thread, which has twice as much."""


class HostNetwork:
    """Kernels of all operators, those on accelerators too, where they compute as kinds say.

    What an accelerator rounds in its own way, and what it runs as one operator of several, is
    computed by the references.
    """

    def __init__(self, graph: Graph, soc: ResolvedSoc) -> None:
        """Compile; `graph` is placed on the chip."""
        self._graph, self._soc = graph, soc
        self._lowered = {
            op.name: kind_of(op).lower(op, graph) for op in graph.operators if self._has_kernel(op)
        }
        functions = [each.function for each in self._lowered.values()]
        library = dict.fromkeys(f for each in self._lowered.values() for f in each.library)
        nothing = Entry((), (), (), (), ())
        module = IRModule(graph.name, with_callees(functions, library), nothing)
        self._program = NativeProgram(_ON_STACK.run(module))

    def workspace(self) -> "Workspace":
        """Return memory for one run at a time."""
        made = (tensor for each in self._lowered.values() for tensor in each.constants)
        return Workspace(self._graph, made)

    def run(self, sample: Sample, workspace: "Workspace") -> dict[str, NDArray[np.generic]]:
        """Return the outputs of one sample, copies of their own; states are as at first."""
        graph = self._graph
        for name in graph.inputs:
            workspace.put(name, sample[name])
        for name in graph.states:
            workspace.put(name, reference.first_value(graph.tensor(name)))
        for op in graph.operators:
            if lowered := self._lowered.get(op.name):
                self._program.call(lowered.function.name, workspace.addresses(op, lowered))
            else:
                self._refer(op, workspace)
        return {name: workspace.get(name) for name in graph.outputs}

    def _has_kernel(self, op: Operator) -> bool:
        device = self._soc.device(op.device)
        own = isinstance(device, Engine) and device.spec.support(op.kind).reference
        return op.body is None and kind_of(op).on_cores and not own

    def _refer(self, op: Operator, workspace: "Workspace") -> None:
        inputs = [workspace.get(name) if name else None for name in op.inputs]
        made = reference.compute(op, self._graph, inputs, self._soc)
        for name, values in zip(op.outputs, made, strict=True):
            workspace.put(name, values)


@dataclass(slots=True)
class Workspace:
    """The bytes of all tensors of a network, constants included."""

    graph: Graph
    made: Iterable[Tensor]
    _bytes: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    _addresses: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Give every tensor that is no view bytes of its own."""
        tensors = (*self.graph.tensors, *self.made)
        for tensor in tensors:
            if not tensor.view:
                self._bytes[tensor.name] = _aligned_bytes(tensor.size)
                if tensor.data is not None:
                    self._bytes[tensor.name][:] = np.frombuffer(tensor.data, np.uint8)
        for tensor in tensors:
            if tensor.view:
                whole = self._bytes[tensor.view]
                self._bytes[tensor.name] = whole[tensor.offset : tensor.offset + tensor.size]

    def put(self, name: str, values: NDArray[np.generic]) -> None:
        """Store the values of a tensor."""
        data = self.graph.tensor(name).bytes_of(np.ascontiguousarray(values))
        self._bytes[name][:] = np.frombuffer(data, np.uint8)

    def get(self, name: str) -> NDArray[np.generic]:
        """Return a copy of the values of a tensor."""
        return self.graph.tensor(name).values_in(self._bytes[name].tobytes())

    def addresses(self, op: Operator, lowered: Lowered) -> tuple[int, ...]:
        """Return where the buffers of an operator's kernel are."""
        if op.name not in self._addresses:
            self._addresses[op.name] = tuple(
                int(self._bytes[name].ctypes.data) for name in lowered.arguments
            )
        return self._addresses[op.name]


def _aligned_bytes(size: int) -> NDArray[np.uint8]:
    whole = np.zeros(size + ALIGNMENT, np.uint8)
    start = -whole.ctypes.data % ALIGNMENT
    return whole[start : start + size]


def outputs_equal(first: Mapping[str, NDArray[np.generic]], second: Sample) -> bool:
    """Tell whether two runs made the same bytes."""
    return all(np.array_equal(values, second[name]) for name, values in first.items())
