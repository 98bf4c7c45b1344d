"""Read the TFLite file that Vela writes: its custom operators and its estimates."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tflite.Model import Model

from atoll.errors import ModelError
from atoll.vela.payload import UPDATE, Payload, read_second
from atoll.vela.run import VelaOutput

CUSTOM = "ethos-u"
_FIXED = 4
"""Inputs of the custom operator before its activations: payload, constants, scratch, fast one."""

WEIGHTS_REGION, SCRATCH_REGION, FAST_REGION, FIRST_REGION = range(4)
MOST_REGIONS = 8
"""Base addresses that the NPU has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuCall:
    """One custom operator `ethos-u`. Its activations have regions 3, 4 and so on, inputs first.

    Attributes:
        payload: the commands.
        weights: the constants, region 0; b"" if it has none.
        scratch: bytes of region 1, 0 if it needs none.
        inputs, outputs: names of tensors as the file has them.
    """

    payload: Payload
    weights: bytes
    scratch: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def calls_in(output: VelaOutput) -> tuple[NpuCall, ...]:
    """Return the custom operators of Vela's file in their order.

    Raises:
        ModelError: E143; they are not as Atoll knows them.
    """
    model = Model.GetRootAs(output.network)
    graph = model.Subgraphs(0)
    return tuple(_calls(model, graph))


def _calls(model: Any, graph: Any) -> Iterator[NpuCall]:
    for number in range(graph.OperatorsLength()):
        op = graph.Operators(number)
        if model.OperatorCodes(op.OpcodeIndex()).CustomCode() == CUSTOM.encode():
            inputs, outputs = op.InputsAsNumpy().tolist(), op.OutputsAsNumpy().tolist()
            yield _call(model, graph, inputs, outputs)


def _call(model: Any, graph: Any, inputs: list[int], outputs: list[int]) -> NpuCall:
    regions = FIRST_REGION + len(inputs) - _FIXED + len(outputs)
    if len(inputs) < _FIXED or regions > MOST_REGIONS:
        raise ModelError(
            "E143",
            f"Vela's operator has {max(0, len(inputs) - _FIXED)} inputs and {len(outputs)} outputs,"
            f" and the NPU has base addresses for {MOST_REGIONS - FIRST_REGION}",
            remedy="give the network fewer branches where it enters and leaves the NPU",
        )
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
