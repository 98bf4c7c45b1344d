# SPDX-License-Identifier: Apache-2.0
"""A part of a network as a TFLite file of its own.

Vela has one address for each tensor, also of two operators that share it: the one for the operator
that it came to last. What lies there for the other one may be another tensor (seen with 5.2). So a
network of which Vela makes several operators is compiled again, part by part. A part is the same
file with fewer operators, and with the part's edges as inputs and outputs.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

from tflite.Model import Model

_SUBGRAPHS, _SIGNATURES = 2, 7
_INPUTS, _OUTPUTS, _OPERATORS = 1, 2, 3
"""Fields of the tables Model and SubGraph, by their place in the schema."""


def part_of(data: bytes, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
    """Return a file with the operators that make some tensors of others, and nothing else.

    Args:
        data: the whole network; its first subgraph is meant.
        inputs: tensors that it begins with, by their numbers.
        outputs: tensors that it makes, likewise.
    """
    file = bytearray(data)
    model = Model.GetRootAs(data)
    graph = model.Subgraphs(0)
    operators = _between(graph, inputs, outputs)
    at = _field(graph._tab, _OPERATORS)
    vector = at + struct.unpack_from("<I", file, at)[0]
    entries = [vector + 4 + 4 * n for n in range(graph.OperatorsLength())]
    tables = [each + struct.unpack_from("<I", file, each)[0] for each in entries]
    struct.pack_into("<I", file, vector, len(operators))
    for entry, number in zip(entries, operators, strict=False):
        struct.pack_into("<I", file, entry, tables[number] - entry)
    for field, numbers in ((_INPUTS, inputs), (_OUTPUTS, outputs)):
        file += bytes(-len(file) % 4)
        place = _field(graph._tab, field)
        struct.pack_into("<I", file, place, len(file) - place)
        file += struct.pack(f"<I{len(numbers)}i", len(numbers), *numbers)
    _drop(file, model._tab, _SIGNATURES)
    return bytes(file)


def first_alone(data: bytes) -> bytes:
    """Return a file with its first subgraph, which runs no other, and nothing else.

    Vela would compile the others as well, and says only of the first where tensors are.
    """
    file, model = bytearray(data), Model.GetRootAs(data)
    at = _field(model._tab, _SUBGRAPHS)
    struct.pack_into("<I", file, at + struct.unpack_from("<I", file, at)[0], 1)
    _drop(file, model._tab, _SIGNATURES)
    return bytes(file)


def _between(graph: Any, inputs: Iterable[int], outputs: Iterable[int]) -> list[int]:
    """Return the numbers of the operators that make `outputs` of `inputs`."""
    operators = [graph.Operators(number) for number in range(graph.OperatorsLength())]
    writers = {
        op.Outputs(at): number
        for number, op in enumerate(operators)
        for at in range(op.OutputsLength())
    }
    wanted, known, found = [*outputs], {*inputs}, set[int]()
    while wanted:
        tensor = wanted.pop()
        if tensor in known or tensor not in writers:
            continue
        known.add(tensor)
        number = writers[tensor]
        found.add(number)
        op = operators[number]
        wanted += [op.Inputs(at) for at in range(op.InputsLength())]
    return sorted(found)


def _slot(table: Any, field: int) -> int:
    """Return where the table of fields says where `field` is; 0 if it has no place for it."""
    (back,) = struct.unpack_from("<i", table.Bytes, table.Pos)
    fields = table.Pos - back
    (size,) = struct.unpack_from("<H", table.Bytes, fields)
    slot = 4 + 2 * field
    return fields + slot if slot < size else 0


def _field(table: Any, field: int) -> int:
    slot = _slot(table, field)
    (offset,) = struct.unpack_from("<H", table.Bytes, slot) if slot else (0,)
    assert offset, f"the table has no field {field}"
    return int(table.Pos) + int(offset)


def _drop(file: bytearray, table: Any, field: int) -> None:
    if slot := _slot(table, field):
        struct.pack_into("<H", file, slot, 0)
