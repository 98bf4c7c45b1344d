# SPDX-License-Identifier: Apache-2.0
"""Judge what a TFLite file states as a whole: references, tensors, constants and order."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import prod

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.tflite.reader import (
    FileModel,
    FileOperator,
    FileSubgraph,
    FileTensor,
    Held,
)
from atoll.ir.graph import ITEM_BYTES

VERSION = 3
GREATEST_ELEMENTS = 2**31
GREATEST_RANK = 8
GREATEST_STATE = 2**26
"""Bytes of a variable; its first value is part of the image."""


def check_references(model: FileModel) -> None:
    """Require one subgraph of schema version 3 whose numbers refer to something.

    Raises:
        ModelError: E055 for another version or other subgraphs, E052 for a wrong number.
    """
    faults = tuple(_layout(model)) or tuple(_references(model))
    if faults:
        raise ModelError.all(faults)


def check_content(model: FileModel) -> None:
    """Require usable tensors, and an order in which each is written before it is read.

    Raises:
        ModelError: E052, E055 or E056; every fault of the file.
    """
    faults = (*_tensors(model), *_variables(model), *_interface(model), *_order(model))
    if faults:
        raise ModelError.all(faults)


def place(op: FileOperator, tensor: FileTensor | None = None) -> str:
    """Name an operator, and one of its tensors, as the file numbers them."""
    words = f"operator {op.label} ({op.code})"
    return f"{words}, {describe(tensor)}" if tensor is not None else words


def describe(tensor: FileTensor) -> str:
    """Name a tensor as the file does, long names shortened."""
    name = tensor.name if len(tensor.name) <= 60 else f"{tensor.name[:57]}..."
    number = tensor.number if tensor.number >= 0 else tensor.index
    return f"tensor {number} ('{name}')"


def _layout(model: FileModel) -> Iterator[Fault]:
    if model.version != VERSION:
        message = f"has schema version {model.version} instead of {VERSION}"
        yield _fault("E055", message, "convert the model with a current TFLite converter")
    bodies = (model.operators, *(each.operators for each in model.others))
    called = [(op, number) for body in bodies for op in body for number in op.calls]
    wrong = [(op, number) for op, number in called if not 0 <= number < len(bodies)]
    for op, number in wrong:
        yield _damage(f"{place(op)}: runs subgraph {number}; there are {len(bodies)}")
    used = _used_subgraphs(bodies)
    others = {*model.signatures.values()} - used
    if not (model.subgraphs and (wrong or model.chosen or not others)):
        message = f"has {model.subgraphs} subgraphs instead of {len(used)}"
        yield _fault("E055", message, _one_function([*model.signatures]))


def _used_subgraphs(bodies: Sequence[Sequence[FileOperator]]) -> set[int]:
    """Return the subgraphs that the first one runs, itself included."""
    found, new = {0}, {0}
    while new:
        new = {number for at in new for op in bodies[at] for number in op.calls}
        new = {number for number in new - found if 0 <= number < len(bodies)}
        found |= new
    return found


def _one_function(signatures: Sequence[str]) -> str:
    """Say how a file of several functions is given."""
    if not signatures:
        return "convert one function, and of other subgraphs only what it runs"
    return f"choose one of its signatures: put #{' or #'.join(signatures)} behind the file's name"


def _references(model: FileModel) -> Iterator[Fault]:
    first = FileSubgraph(model.tensors, model.operators, model.inputs, model.outputs)
    for at, each in enumerate((first, *model.others)):
        count, of = len(each.tensors), f"subgraph {at}'s" if at else "the model's"
        yield from _within(each.operators, count)
        for side, numbers in (("input", each.inputs), ("output", each.outputs)):
            for number in numbers:
                if not 0 <= number < count:
                    yield _damage(f"{of} {side}s name tensor {number}; there are {count}")


def _within(operators: Iterable[FileOperator], count: int) -> Iterator[Fault]:
    """Require operators to have codes, and tensors that there are."""
    for op in operators:
        if not op.code:
            yield _damage(f"operator {op.label} has no operator code")
        for number in (*op.inputs, *op.outputs):
            absent = number == -1 and number in op.inputs and number not in op.outputs
            if not 0 <= number < count and not absent:
                yield _damage(f"{place(op)} names tensor {number}; there are {count}")


def _tensors(model: FileModel) -> Iterator[Fault]:
    for number, where in _first_places(model).items():
        tensor = model.tensors[number]
        faults = tuple(_shape(tensor, where))
        yield from faults
        yield from _quantization(tensor, where)
        if not faults:
            yield from constant_faults(model, tensor, where)


def _first_places(model: FileModel) -> dict[int, str]:
    """Map every tensor in use to the place to report it at."""
    places: dict[int, str] = {}
    for op in model.operators:
        for number in (*op.inputs, *op.outputs):
            if number >= 0:
                places.setdefault(number, place(op, model.tensors[number]))
    for side, numbers in (("input", model.inputs), ("output", model.outputs)):
        for number in numbers:
            places.setdefault(number, f"the model's {side}, {describe(model.tensors[number])}")
    return places


def _shape(tensor: FileTensor, where: str) -> Iterator[Fault]:
    remedy = "convert the model for inference, with fixed and smaller shapes"
    for oddity in tensor.oddities:
        yield _fault("E055", f"{where}: {oddity}, which is not supported", remedy)
    if tensor.dtype not in ITEM_BYTES:
        yield _fault("E055", f"{where}: has type {tensor.dtype}, which is not supported", remedy)
    if any(extent < 0 for extent in tensor.shape):
        message = f"{where}: has shape {list(tensor.shape)}, which is not known at compile time"
        yield _fault("E055", message, remedy)
    elif 0 in tensor.shape:
        message = f"{where}: has shape {list(tensor.shape)}, and so no elements"
        yield _fault("E055", message, "convert the model again without what computes with nothing")
    elif len(tensor.shape) > GREATEST_RANK:
        message = f"{where}: has {len(tensor.shape)} dimensions, the most is {GREATEST_RANK}"
        yield _fault("E055", message, remedy)
    elif prod(tensor.shape) > GREATEST_ELEMENTS:
        message = f"{where}: has {prod(tensor.shape)} elements, the most is {GREATEST_ELEMENTS}"
        yield _fault("E055", message, remedy)


def _quantization(tensor: FileTensor, where: str) -> Iterator[Fault]:
    scales, points = tensor.scales, tensor.zero_points
    remedy = "convert the model again with a representative data set"
    wrong = [scale for scale in scales if not (math.isfinite(scale) and scale > 0)]
    if wrong:
        message = f"{where}: has scale {wrong[0]:g}; a scale is finite and above 0"
        yield _fault("E056", message, remedy)
    if len(scales) != len(points):
        message = f"{where}: has {len(scales)} scales but {len(points)} zero points"
        yield _fault("E056", message, remedy)
    if tensor.dtype == "int8" and not all(-128 <= point <= 127 for point in points):
        yield _fault("E056", f"{where}: has a zero point outside -128 to 127", remedy)
    if len(scales) > 1 and len(scales) != _channels(tensor):
        message = f"{where}: has {len(scales)} scales for {_channels(tensor)} channels"
        yield _fault("E056", message, remedy)


def _variables(model: FileModel) -> Iterator[Fault]:
    """Require each variable to be read once, where its operator has a state."""
    remedy = "convert the model for inference; docs/operators.md lists what may have variables"
    users = Counter(number for op in model.operators for number in op.inputs)
    for op in model.operators:
        places = op.form.states if op.form else ()
        for at, number in enumerate(op.inputs):
            tensor = model.tensors[number] if number >= 0 else None
            if tensor is not None and (fault := _wrong_variable(tensor, at in places, users)):
                yield _fault("E055", f"{place(op, tensor)}: {fault}", remedy)
    written = {number for op in model.operators for number in op.outputs}
    others = written.union(model.inputs, model.outputs)
    for tensor in model.tensors:
        if tensor.variable and bytes_of(tensor) > GREATEST_STATE:
            yield _fault("E055", too_large(tensor), remedy)
        if tensor.variable and (tensor.index in others or is_constant(model, tensor)):
            message = f"{describe(tensor)}: is a variable, and an input, output, constant or result"
            yield _fault("E055", message, remedy)


def bytes_of(tensor: FileTensor) -> int:
    """Return the size of a tensor; extents and types that cannot be count as nothing."""
    return prod(max(extent, 0) for extent in tensor.shape) * ITEM_BYTES.get(tensor.dtype, 0)


def too_large(tensor: FileTensor) -> str:
    """Say that a variable is."""
    size, most = bytes_of(tensor), GREATEST_STATE
    return f"{describe(tensor)}: is a variable of {size} bytes, the most is {most}"


def _wrong_variable(tensor: FileTensor, wanted: bool, users: Counter[int]) -> str:
    if tensor.initial is not None:
        return ""
    if tensor.variable and not wanted:
        return "is a variable, which is not supported here"
    if tensor.variable and users[tensor.index] > 1:
        return "is a variable that is read twice"
    return "is no variable" if wanted and not tensor.variable else ""


def _channels(tensor: FileTensor) -> int:
    """Count what `scales` run along; the axis of a bias is often wrong and never used."""
    if len(tensor.shape) == 1:
        return tensor.shape[0]
    return tensor.shape[tensor.axis] if 0 <= tensor.axis < len(tensor.shape) else 1


def constant_faults(model: Held, tensor: FileTensor, where: str) -> Iterator[Fault]:
    """Require the bytes of a constant, whose type is known."""
    if tensor.buffer >= len(model.buffers):
        message = f"{where}: names buffer {tensor.buffer}; there are {len(model.buffers)}"
        yield _damage(message)
        return
    buffer = model.buffers[tensor.buffer]
    wanted, found = prod(tensor.shape) * ITEM_BYTES[tensor.dtype], len(buffer.data)
    if buffer.external:
        message = f"{where}: its data lies outside the model's tables, which is not supported"
        yield _fault("E055", message, "convert the model to a file of less than 2 GiB in one piece")
    elif found not in (0, wanted):
        yield _damage(f"{where}: needs {wanted} bytes of data, its buffer has {found}")


def _interface(model: FileModel) -> Iterator[Fault]:
    written = {number for op in model.operators for number in op.outputs}
    for side, numbers in (("input", model.inputs), ("output", model.outputs)):
        if not numbers and side == "output":
            yield _fault("E055", "has no outputs", "give a model with outputs")
        for number in sorted({number for number in numbers if numbers.count(number) > 1}):
            where = describe(model.tensors[number])
            yield _damage(f"{where} appears more than once among the model's {side}s")
    for number in model.outputs:
        if number not in written:
            yield _output_fault(model, model.tensors[number])


def _output_fault(model: FileModel, tensor: FileTensor) -> Fault:
    """Refuse an output that no operator writes and that cannot be copied either."""
    where = f"the model's output, {describe(tensor)}"
    if tensor.index not in model.inputs and not is_constant(model, tensor):
        return _damage(f"{where}: nothing writes it")
    message = f"{where}: is no result and cannot be copied: only integers with one scale can"
    return _fault("E055", message, "remove the output; its values are known before the run")


def _order(model: FileModel) -> Iterator[Fault]:
    """Report reads before writes, second writes and writes to constants and inputs."""
    writers = {number: op for op in reversed(model.operators) for number in op.outputs}
    known = {
        tensor.index
        for tensor in model.tensors
        if is_constant(model, tensor) or (tensor.variable and tensor.index not in writers)
    }
    for number in sorted(known.intersection(model.inputs)):
        yield _damage(f"the model's input, {describe(model.tensors[number])}: is a constant")
    empty = (tensor.index for tensor in model.tensors if 0 in tensor.shape)
    known.update(model.inputs, {*empty} - writers.keys())
    for op in model.operators:
        for number in dict.fromkeys(op.inputs):
            if number >= 0 and number not in known:
                yield _early(op, model.tensors[number], writers.get(number))
        for number in op.outputs:
            if number in known:
                where = place(op, model.tensors[number])
                yield _damage(f"{where}: is written but already has a value")
            known.add(number)


def _early(op: FileOperator, tensor: FileTensor, writer: FileOperator | None) -> Fault:
    if writer is None:
        return _damage(f"{place(op, tensor)}: is read but nothing writes it")
    cause = "the operators form a cycle or are out of order"
    return _damage(f"{place(op, tensor)}: is read before {place(writer)} writes it: {cause}")


def is_constant(model: Held, tensor: FileTensor) -> bool:
    """Tell whether the file holds the tensor's values."""
    return tensor.buffer < len(model.buffers) and len(model.buffers[tensor.buffer].data) > 0


def _damage(message: str) -> Fault:
    return _fault("E052", message, "convert the model again; the file contradicts itself")


def _fault(code: str, message: str, remedy: str) -> Fault:
    return Fault(code=code, message=message, remedy=remedy)
