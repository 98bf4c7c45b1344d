# SPDX-License-Identifier: Apache-2.0
"""Read the TFLite file that Vela writes: its custom operators and its estimates."""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from tflite.Model import Model

from atoll.diagnostics.errors import ModelError
from atoll.records import dataclass
from atoll.vela.allocation import Locations, allocations
from atoll.vela.payload import UPDATE, Payload, read_second
from atoll.vela.run_vela import WITHOUT, VelaOutput, VelaRefusalError

CUSTOM = "ethos-u"
_FIXED = 4
"""Inputs of the custom operator before its activations: payload, constants, scratch, fast one."""

WEIGHTS_REGION, SCRATCH_REGION = range(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuCall:
    """One custom operator `ethos-u`.

    Attributes:
        payload: the commands.
        weights: the constants, region 0; b"" if it has none.
        scratch: bytes of region 1, 0 if it needs none.
        inputs, outputs: names of tensors as the file has them.
        locations: where the commands have them.
    """

    payload: Payload
    weights: bytes
    scratch: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    locations: Locations


def calls_in(output: VelaOutput) -> tuple[NpuCall, ...]:
    """Return the custom operators of Vela's file in their order.

    Raises:
        ModelError: E143; they are not as Atoll knows them.
    """
    model = Model.GetRootAs(output.network)
    counts = [len([*_custom(model, at)]) for at in range(model.SubgraphsLength())]
    if any(counts[1:]):
        message = (
            "Vela compiles functions that operators such as WHILE run, which Atoll does not take"
        )
        raise VelaRefusalError("E143", message, remedy=WITHOUT)
    found = allocations(output.said)
    if len(found) != sum(counts):
        message = f"Vela wrote {sum(counts)} operators, and said of {len(found)} where tensors are"
        raise ModelError("E143", message, remedy=UPDATE)
    first = zip(_custom(model, 0), found, strict=False)
    return tuple(_call(model, model.Subgraphs(0), op, where) for op, where in first)


def _custom(model: Any, subgraph: int) -> Iterator[Any]:
    graph = model.Subgraphs(subgraph)
    for op in map(graph.Operators, range(graph.OperatorsLength())):
        if model.OperatorCodes(op.OpcodeIndex()).CustomCode() == CUSTOM.encode():
            yield op


def _call(model: Any, graph: Any, op: Any, locations: Locations) -> NpuCall:
    inputs, outputs = op.InputsAsNumpy().tolist(), op.OutputsAsNumpy().tolist()
    if len(inputs) < _FIXED:
        message = f"Vela's operator has {len(inputs)} inputs, of which {_FIXED} are its own"
        raise ModelError("E143", message, remedy=UPDATE)
    stream, weights, scratch, fast = inputs[:_FIXED]
    if fast != scratch and _size(graph, fast):
        message = f"Vela wants a second scratch of {_size(graph, fast)} bytes"
        raise ModelError("E143", message, remedy=UPDATE)
    return NpuCall(
        payload=read_second(_data(model, graph, stream)),
        weights=_data(model, graph, weights),
        scratch=_size(graph, scratch),
        inputs=tuple(_name(graph, index) for index in inputs[_FIXED:]),
        outputs=tuple(_name(graph, index) for index in outputs),
        locations=locations,
    )


def _data(model: Any, graph: Any, index: int) -> bytes:
    buffer = model.Buffers(graph.Tensors(index).Buffer())
    return bytes(buffer.DataAsNumpy()) if buffer.DataLength() else b""


def _size(graph: Any, index: int) -> int:
    shape = graph.Tensors(index).ShapeAsNumpy() if graph.Tensors(index).ShapeLength() else ()
    size = 1
    for extent in shape:
        size *= int(extent)
    return size


def _name(graph: Any, index: int) -> str:
    return (graph.Tensors(index).Name() or b"").decode(errors="replace")


def estimated_cycles(output: VelaOutput, first: str) -> Mapping[str, int]:
    """Return what Vela estimates for each of its layers on the NPU, by the tensor that it makes.

    A layer that makes no tensor of the file counts for the one before it, or for `first`.
    """
    cycles: dict[str, int] = {}
    last = first
    for row in csv.DictReader(io.StringIO(output.layers)):
        if row.get("Target") == "NPU":
            last = row.get("Name") or last
            cycles[last] = cycles.get(last, 0) + int(float(row.get("Op Cycles") or 0))
    return cycles
