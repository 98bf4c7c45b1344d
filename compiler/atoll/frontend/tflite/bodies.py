# SPDX-License-Identifier: Apache-2.0
"""A model in the making, in which the operators of several subgraphs follow each other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.tflite.checks import constant_faults, describe, is_constant, place
from atoll.frontend.tflite.edges import RESHAPE
from atoll.frontend.tflite.islands import FUNCTIONS
from atoll.frontend.tflite.known import Known, known_values
from atoll.frontend.tflite.reader import FileBuffer, FileModel, FileOperator, FileTensor, Held
from atoll.frontend.tflite.tensor_names import operator_name
from atoll.ir.graph import ITEM_BYTES
from atoll.ops.checks import QUANTIZED
from atoll.ops.elements.choices import SELECT_V2
from atoll.ops.tflite_form import TfliteForm

_OF_ONE = frozenset({*FUNCTIONS, "QUANTIZE"})
_NO_LIST = "export without a list of results: Keras layers of recurrence take unroll=True"
_REMEDY = "convert the model again, with fixed shapes, quantised alike inside and outside of bodies"


def all_constant_faults(model: FileModel) -> Iterator[Fault]:
    """Yield what is wrong with the bytes of constants, of all subgraphs."""
    for number, tensors in enumerate((model.tensors, *(each.tensors for each in model.others))):
        for tensor in tensors:
            sized = tensor.dtype in ITEM_BYTES and min(tensor.shape, default=1) > 0
            if sized or tensor.buffer >= len(model.buffers):
                where = f"{describe(tensor)} of subgraph {number}" if number else describe(tensor)
                yield from constant_faults(model, tensor, where)


class Bodies(Known):
    """Tensors, buffers and operators so far; tensors are known by number.

    Attributes:
        operators: those that are left to run.
    """

    def __init__(self, model: FileModel) -> None:
        super().__init__([*model.tensors], [*model.buffers])
        self.operators: list[FileOperator] = []
        self._choices: dict[int, tuple[int, tuple[int, int]]] = {}
        self._read: set[int] = set()
        self._made: dict[tuple[object, ...], int] = {}
        self._nothing = len(self.buffers)
        self.buffers.append(FileBuffer(data=memoryview(b""), external=False))
        self._index = max(op.index for op in model.operators)

    def another(self, tensor: FileTensor) -> int:
        """Add a tensor like one of the file."""
        number = tensor.number if tensor.number >= 0 else tensor.index
        self.tensors.append(replace(tensor, index=len(self.tensors), number=number))
        return len(self.tensors) - 1

    def add(self, op: FileOperator) -> None:
        """Add an operator, or what it makes if that is known.

        What converts or computes each real number by itself does so in front of a choice.
        """
        if op.inputs[:1] and op.inputs[0] in self._choices and op.code in _OF_ONE:
            self._add_to_sides(op)
            return
        _check_extents(self, op)
        self._read.update(op.inputs)
        result = self.tensors[op.outputs[0]] if len(op.outputs) == 1 else None
        if result is None or is_constant(self, result) or result.index in self._read:
            self._emit(op)  # more than one result, or one at a wrong place, which checks report
            return
        key = self._key(op, result)
        if key in self._made:
            self.tensors[result.index] = replace(result, buffer=self._made[key])
        elif (values := known_values(self, op)) is not None:
            self._made[key] = len(self.buffers)
            self.hold(result.index, values)
        else:
            self._emit(op)

    def _key(self, op: FileOperator, result: FileTensor) -> tuple[object, ...]:
        """Return what the value of a result follows from, if its operands are constants."""
        operands = [self.tensors[number] if number >= 0 else None for number in op.inputs]
        given = (each and (each.buffer, each.shape, _type(each)) for each in operands)
        return (op.code, id(op.options), *given, result.shape, _type(result))

    def remaining_operators(self, outputs: Sequence[int]) -> tuple[FileOperator, ...]:
        """Return the operators that are left to run, without choices of numbers nothing reads."""
        needed, kept = {*outputs}, list[FileOperator]()
        for op in reversed(self.operators):
            if op.outputs[:1] and op.outputs[0] in self._choices.keys() - needed:
                continue
            needed.update(op.inputs)
            kept.append(op)
        return tuple(reversed(kept))

    def truth(self, number: int) -> bool | None:
        """Return the value of a condition, None if a run decides."""
        tensor = self.tensors[number]
        return any(self.buffers[tensor.buffer].data) if is_constant(self, tensor) else None

    def alike(
        self, op: FileOperator, values: Sequence[int], wanted: Sequence[FileTensor], name: str
    ) -> list[int]:
        """Return values as tensors like others: TFLM copies the bytes, of whatever shape.

        Args:
            op: whose subgraph gets or returns them.
            values: their numbers.
            wanted: the others.
            name: what the names of copies begin with.

        Raises:
            ModelError: E054; types, sizes or quantisation differ.
        """
        pairs = enumerate(zip(values, wanted, strict=True))
        return [self._alike(op, value, tensor, f"{name}_{at}") for at, (value, tensor) in pairs]

    def _alike(self, op: FileOperator, value: int, wanted: FileTensor, name: str) -> int:
        tensor = self.tensors[value]
        if _type(tensor) == _type(wanted) and tensor.shape == wanted.shape:
            return value
        known = is_constant(self, tensor)
        scaled = known or _type(tensor) == _type(wanted)
        if not (
            tensor.dtype == wanted.dtype and prod(tensor.shape) == prod(wanted.shape) and scaled
        ):
            words = f"{place(op)}: {_describe(tensor)} is copied to {_describe(wanted)}"
            raise ModelError("E054", words, remedy=_REMEDY)
        result = self.another(replace(wanted, buffer=tensor.buffer if known else self._nothing))
        if not known:
            self._make(name, "reshape", RESHAPE, (value,), result)
        return result

    def select(self, condition: int, pair: tuple[int, int], name: str) -> int:
        """Return one of two tensors that are alike, by a condition of one element."""
        then, other = pair
        if then == other:
            return then
        result = self.another(replace(self.tensors[then], buffer=self._nothing))
        self._choose(condition, pair, name, result)
        return result

    def _add_to_sides(self, op: FileOperator) -> None:
        """Add an operator on both of what is chosen of, and choose of its results."""
        condition, pair = self._choices[op.inputs[0]]
        (result,), name, sides = op.outputs, operator_name(op), list[int]()
        for word, side in zip(("then", "else"), pair, strict=True):
            sides.append(self.another(self.tensors[result]))
            self.add(replace(op, inputs=(side,), outputs=(sides[-1],), name=f"{name}_{word}"))
        self._choose(condition, (sides[0], sides[1]), f"{name}_select_v2", result)

    def _choose(self, condition: int, pair: tuple[int, int], name: str, result: int) -> None:
        test, wanted = self.tensors[condition], self.tensors[result]
        if wanted.dtype == "float32":
            self._choices[result] = (condition, pair)
        if len(test.shape) > len(wanted.shape):
            flat = self.another(replace(test, shape=(1,) * len(wanted.shape), buffer=self._nothing))
            self._make(f"{name}_condition", "reshape", RESHAPE, (condition,), flat)
            condition = flat
        self._make(name, "select_v2", SELECT_V2.tflite, (condition, *pair), result)

    def _make(
        self, name: str, kind: str, form: TfliteForm, inputs: tuple[int, ...], result: int
    ) -> None:
        self._emit(
            FileOperator(
                index=-1,
                code=form.code,
                kind=kind,
                form=form,
                inputs=inputs,
                outputs=(result,),
                options=None,
                options_table="",
                name=name,
            )
        )

    def _emit(self, op: FileOperator) -> None:
        if op.name:
            self._index += 1
            op = replace(op, index=self._index)
        self.operators.append(op)


def _check_extents(model: Held, op: FileOperator) -> None:
    """Refuse a SLICE of a body that takes as much as a counter says.

    Files say 1 for extents that they do not know. TensorFlow writes so into a list.
    """
    if op.code != "SLICE" or not op.name or len(op.inputs) != 3 or min(op.inputs) < 0:
        return
    sizes, (result,) = model.tensors[op.inputs[2]], (model.tensors[n] for n in op.outputs[:1])
    if sizes.dtype != "int32" or not is_constant(model, sizes):
        return
    taken = np.frombuffer(model.buffers[sizes.buffer].data, np.int32).tolist()
    pairs = zip(taken, result.shape, strict=False)
    if any(size not in (-1, extent) for size, extent in pairs):
        message = (
            f"{place(op, result)}: has shape {list(result.shape)}, of which {taken} is taken: "
        )
        message += "the shape is another one in each turn"
        raise ModelError("E054", message, remedy=_NO_LIST)


def _type(tensor: FileTensor) -> tuple[object, ...]:
    """Return what a tensor's bytes mean."""
    scaled = (tensor.scales, tensor.zero_points) if tensor.dtype in QUANTIZED else ()
    return (tensor.dtype, *scaled)


def _describe(tensor: FileTensor) -> str:
    scale = f", scale {tensor.scales[0]:g}" if tensor.scales else ""
    point = f", zero point {tensor.zero_points[0]}" if tensor.zero_points else ""
    return f"{describe(tensor)} of {tensor.dtype} {list(tensor.shape)}{scale}{point}"
