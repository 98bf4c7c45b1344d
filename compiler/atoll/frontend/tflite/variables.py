# SPDX-License-Identifier: Apache-2.0
"""Resource variables of a model: each becomes a tensor that operators read, and one changes.

VAR_HANDLE, READ_VARIABLE and CALL_ONCE are left out. What is read is the variable itself, or the
value that the same run has assigned before. Of several ASSIGN_VARIABLE of one variable the last
stays; all of them come last, behind everything that reads the variables.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.checks import (
    GREATEST_STATE,
    bytes_of,
    describe,
    is_constant,
    place,
    too_large,
)
from atoll.frontend.tflite.edges import copy_of
from atoll.frontend.tflite.reader import (
    FileBuffer,
    FileModel,
    FileOperator,
    FileSubgraph,
    FileTensor,
)
from atoll.records import dataclass

HANDLE, READ, ASSIGN, ONCE = "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"
_CODES = frozenset({HANDLE, READ, ASSIGN, ONCE})
_REMEDY = "convert the model again with a current TFLite converter"

Key = tuple[bytes, bytes]
"""Container and name of a variable."""


def with_variables(model: FileModel) -> FileModel:
    """Return a model whose references are right without handles of variables.

    Raises:
        ModelError: E055; a variable has no type, several ones, or a first value that is computed.
    """
    if not any(op.code in _CODES for op in model.operators):
        return model
    return _Variables(model).model_without()


def move_assignments_last(model: FileModel) -> FileModel:
    """Return the model with what changes variables behind all that reads them."""
    ordered = sorted(model.operators, key=lambda op: op.code == ASSIGN)
    return replace(model, operators=tuple(ordered))


@dataclass
class _Variables:
    """Follows the operators in their order.

    Attributes:
        model: as the file has it.
        tensors: of the model returned.
        buffers: likewise.
        instead: tensors that are read in the place of others.
        values: what each variable holds after the operators so far.
        handles: the variable that each handle is of.
        variables: tensor of each variable.
    """

    model: FileModel
    tensors: list[FileTensor] = field(init=False)
    buffers: list[FileBuffer] = field(init=False)
    instead: dict[int, int] = field(default_factory=dict)
    values: dict[Key, int] = field(default_factory=dict)
    handles: Mapping[int, Key] = field(default_factory=dict)
    variables: dict[Key, int] = field(default_factory=dict)
    number: int = 0

    def __post_init__(self) -> None:
        self.tensors, self.buffers = list(self.model.tensors), list(self.model.buffers)
        self.number = max((op.index for op in self.model.operators), default=-1)

    def model_without(self) -> FileModel:
        model = self.model
        whole = FileSubgraph(model.tensors, model.operators, model.inputs, model.outputs)
        self.handles = _handles(whole)
        self._declare(_first_values(model))
        kept: list[FileOperator] = []
        last: dict[Key, FileOperator] = {}
        for op in model.operators:
            if op.code == READ:
                self.instead[op.outputs[0]] = self.values[self._key(op)]
            elif op.code == ASSIGN:
                self.values[self._key(op)] = self._read(op.inputs[1])
                last[self._key(op)] = op
            elif op.code not in _CODES:
                kept.append(replace(op, inputs=tuple(map(self._read, op.inputs))))
        for key, op in last.items():
            kept += self._assign(key, op)
        return replace(
            model,
            buffers=tuple(self.buffers),
            tensors=tuple(self.tensors),
            operators=tuple(kept),
            outputs=tuple(map(self._read, model.outputs)),
            others=(),
        )

    def _key(self, op: FileOperator) -> Key:
        number = op.inputs[0] if op.inputs else -1
        if number not in self.handles:
            raise _fault(f"{place(op)}: its variable is no result of a VAR_HANDLE")
        return self.handles[number]

    def _read(self, number: int) -> int:
        return self.instead.get(number, number)

    def _declare(self, firsts: Mapping[Key, bytes]) -> None:
        """Add a tensor for each variable: one that changes is kept, others are constants."""
        assigned = {self._key(op) for op in self.model.operators if op.code == ASSIGN}
        for key, tensors in self._types().items():
            (tensor, *others) = tensors
            for other in others:
                if _type(other) != _type(tensor):
                    message = f"{describe(other)} and {describe(tensor)}: are of one variable"
                    raise _fault(f"{message} and differ in type, shape or quantisation")
            size = bytes_of(tensor)
            if size > GREATEST_STATE:
                raise _fault(too_large(tensor))
            if key not in firsts and key not in assigned:
                raise _fault(f"{describe(tensor)}: is of a variable that nothing assigns")
            # TFLM sets all bytes to the zero point: `MicroResourceVariables::Allocate`
            zero = tensor.zero_points[0] if tensor.zero_points else 0
            first = firsts.get(key, bytes([zero & 0xFF]) * size)
            if len(first) != size:
                raise _fault(f"{describe(tensor)}: has {size} bytes, its first value {len(first)}")
            kept = key in assigned
            self.buffers.append(FileBuffer(data=memoryview(b"" if kept else first), external=False))
            self.variables[key] = self.values[key] = len(self.tensors)
            self.tensors.append(
                replace(
                    tensor,
                    index=len(self.tensors),
                    name=key[1].decode(errors="replace"),
                    buffer=len(self.buffers) - 1,
                    variable=kept,
                    initial=first if kept else None,
                )
            )

    def _types(self) -> Mapping[Key, list[FileTensor]]:
        """Return the tensors that hold each variable's values."""
        found: dict[Key, list[FileTensor]] = {}
        for op in self.model.operators:
            if op.code == READ and len(op.outputs) == 1:
                found.setdefault(self._key(op), []).append(self.tensors[op.outputs[0]])
            elif op.code == ASSIGN and len(op.inputs) == 2 and op.inputs[1] >= 0:
                found.setdefault(self._key(op), []).append(self.tensors[op.inputs[1]])
            elif op.code in (READ, ASSIGN):
                raise _fault(f"{place(op)}: has other operands than a variable and a value")
        return found

    def _assign(self, key: Key, op: FileOperator) -> Iterator[FileOperator]:
        """Yield what changes a variable: nothing where it keeps its value."""
        value, variable = self.values[key], self.variables[key]
        if value == variable:
            return
        if self.tensors[value].variable:  # it may change before it is read
            self.number += 1
            self.tensors.append(
                replace(
                    self.tensors[value],
                    index=len(self.tensors),
                    variable=False,
                    initial=None,
                )
            )
            yield copy_of(self.number, value, len(self.tensors) - 1)
            value = len(self.tensors) - 1
        yield replace(op, inputs=(value, variable), outputs=())


def _handles(subgraph: FileSubgraph) -> Mapping[int, Key]:
    """Return the variable of each handle; names are those of the options."""
    return {
        op.outputs[0]: (op.options.Container() or b"", op.options.SharedName() or b"")
        for op in subgraph.operators
        if op.code == HANDLE and op.outputs and op.options is not None
    }


def _first_values(model: FileModel) -> Mapping[Key, bytes]:
    """Return what the subgraphs that run once assign, which are constants."""
    firsts: dict[Key, bytes] = {}
    for subgraph in initialization_subgraphs(model):
        handles = _handles(subgraph)
        for op in subgraph.operators:
            if op.code == HANDLE:
                continue
            known = op.code == ASSIGN and len(op.inputs) == 2 and op.inputs[0] in handles
            value = subgraph.tensors[op.inputs[1]] if known and op.inputs[1] >= 0 else None
            if value is None or not is_constant(model, value):
                message = f"{place(op)} of a subgraph that runs once: computes something"
                raise _fault(f"{message}; only constants that are assigned are supported")
            firsts[handles[op.inputs[0]]] = bytes(model.buffers[value.buffer].data)
    return firsts


def initialization_subgraphs(model: FileModel) -> Iterable[FileSubgraph]:
    """Return the subgraphs that CALL_ONCE names."""
    found: list[FileSubgraph] = []
    for op in (each for each in model.operators if each.code == ONCE):
        (number,) = op.calls or (0,)
        if not 1 <= number <= len(model.others):
            raise _fault(f"{place(op)}: calls subgraph {number}; there are {model.subgraphs}")
        found.append(model.others[number - 1])
    return found


def _type(tensor: FileTensor) -> object:
    return (tensor.shape, tensor.dtype, tensor.scales, tensor.zero_points)


def _fault(message: str) -> ModelError:
    return ModelError("E055", message, remedy=_REMEDY)
