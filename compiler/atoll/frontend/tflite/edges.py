# SPDX-License-Identifier: Apache-2.0
"""The edges of a model: no uint8, no conversions from and to float, each output a tensor alone."""

from collections.abc import Sequence
from dataclasses import replace

from atoll.frontend.tflite.checks import is_constant
from atoll.frontend.tflite.reader import FileBuffer, FileModel, FileOperator, FileTensor
from atoll.ops.checks import MOVED, QUANTIZED
from atoll.ops.moves.movement import Reshape

RESHAPE = Reshape.tflite
BETWEEN = ("QUANTIZE", "DEQUANTIZE")


def with_signed_edges(model: FileModel) -> FileModel:
    """Let uint8 values that only QUANTIZE and DEQUANTIZE touch be int8, less by 128.

    Converters make such inputs and outputs of a network that computes with int8. Scaling them
    makes the same bytes of both: values and zero points differ alike.
    """
    touching: dict[int, set[str]] = {}
    for op in model.operators:
        for number in (*op.inputs, *op.outputs):
            touching.setdefault(number, set()).add(op.code)

    def to_signed(tensor: FileTensor) -> FileTensor:
        if tensor.dtype != "uint8" or not touching.get(tensor.index, {""}).issubset(BETWEEN):
            return tensor
        if is_constant(model, tensor) or len(tensor.zero_points) != 1:
            return tensor
        return replace(tensor, dtype="int8", zero_points=(tensor.zero_points[0] - 128,))

    return replace(model, tensors=tuple(map(to_signed, model.tensors)))


def strip_float_edges(model: FileModel) -> FileModel:
    """Move the model's interface to the quantised side of its outermost QUANTIZE and DEQUANTIZE.

    An input moves if QUANTIZEs to int8 or int16 are all that reads it, an output if a DEQUANTIZE
    from one of them writes it and nothing else reads it. What stays float is left for the checks
    to refuse. The quantised input takes over the name of the float one; there is one for each way
    in which that is quantised. An input that is declared twice is one.
    """
    readers = _users(model, "inputs")
    entries: dict[int, list[int]] = {}
    instead: dict[int, int] = {}
    for number in dict.fromkeys(model.inputs):
        ops = readers.get(number, [])
        if ops and all(_converts(model, op, "QUANTIZE", ("float32",), QUANTIZED) for op in ops):
            grids: dict[object, int] = {}
            for op in ops:
                result = model.tensors[op.outputs[0]]
                grid = (result.dtype, result.scales, result.zero_points, result.shape)
                instead[result.index] = grids.setdefault(grid, result.index)
            entries[number] = [*grids.values()]
    writers = _users(model, "outputs")
    exits = {
        number: op
        for number in model.outputs
        for op in writers.get(number, ())
        if number not in readers and _converts(model, op, "DEQUANTIZE", QUANTIZED, ("float32",))
    }
    left_out = (op.index for number in entries for op in readers[number])
    stripped = {*left_out, *(op.index for op in exits.values())}
    names = {n: model.tensors[number].name for number, made in entries.items() for n in made}
    outputs = (exits[n].inputs[0] if n in exits else n for n in model.outputs)
    return replace(
        model,
        tensors=tuple(replace(t, name=names.get(t.index, t.name)) for t in model.tensors),
        operators=tuple(
            replace(op, inputs=tuple(instead.get(n, n) for n in op.inputs))
            for op in model.operators
            if op.index not in stripped
        ),
        inputs=tuple(
            n for number in dict.fromkeys(model.inputs) for n in entries.get(number, [number])
        ),
        outputs=tuple(instead.get(n, n) for n in outputs),
    )


def with_own_outputs(model: FileModel) -> FileModel:
    """Copy what the model hands out without making it: inputs, constants, variables, repetitions.

    Each output of the model returned is then written by one operator and is no input, so that
    every member of the C interface has bytes of its own. Outputs that nothing writes, and those
    that no operator can copy, stay for the checks to refuse.
    """
    tensors, operators, outputs = list(model.tensors), list(model.operators), list[int]()
    nothing = len(model.buffers)
    given = set(model.inputs)
    number = max((op.index for op in operators), default=-1) + 1
    for output in model.outputs:
        tensor = model.tensors[output]
        owned = output not in given and not is_constant(model, tensor) and not tensor.variable
        if owned or not _is_copied(tensor):
            outputs.append(output)
            given.add(output)
            continue
        outputs.append(len(tensors))
        kept = replace(tensor, index=len(tensors), buffer=nothing, variable=False, initial=None)
        tensors.append(kept)
        operators.append(copy_of(number, output, outputs[-1]))
        number += 1
    empty = FileBuffer(data=memoryview(b""), external=False)
    return replace(
        model,
        buffers=(*model.buffers, empty),
        tensors=tuple(tensors),
        operators=tuple(operators),
        outputs=tuple(outputs),
    )


def _is_copied(tensor: FileTensor) -> bool:
    """Tell whether a tensor has a type that is moved, quantised as a whole where it is by type."""
    return tensor.dtype in MOVED and (tensor.dtype not in QUANTIZED or len(tensor.scales) == 1)


def copy_of(index: int, source: int, target: int) -> FileOperator:
    """Return an operator that moves all bytes of a tensor to another one."""
    return FileOperator(
        index=index,
        code=RESHAPE.code,
        kind="reshape",
        form=RESHAPE,
        inputs=(source,),
        outputs=(target,),
        options=None,
        options_table="",
    )


def _users(model: FileModel, side: str) -> dict[int, list[FileOperator]]:
    """Map tensors to the operators that have them among their inputs or outputs."""
    users: dict[int, list[FileOperator]] = {}
    for op in model.operators:
        for number in dict.fromkeys(getattr(op, side)):
            users.setdefault(number, []).append(op)
    return users


def _converts(
    model: FileModel,
    op: FileOperator,
    code: str,
    sources: Sequence[str],
    results: Sequence[str],
) -> bool:
    if op.code != code or (len(op.inputs), len(op.outputs)) != (1, 1) or -1 in op.inputs:
        return False
    source, result = model.tensors[op.inputs[0]], model.tensors[op.outputs[0]]
    return source.dtype in sources and result.dtype in results
