# SPDX-License-Identifier: Apache-2.0
"""Load int8 TFLite models: read, judge, and name what a file holds."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.front_end import FrontEnd, load_with
from atoll.frontend.tflite.checks import check_content, check_references, place
from atoll.frontend.tflite.edges import strip_float_edges, with_own_outputs, with_signed_edges
from atoll.frontend.tflite.empties import without_empties
from atoll.frontend.tflite.filters import with_symmetric_filters
from atoll.frontend.tflite.flow import with_bodies
from atoll.frontend.tflite.int4 import with_int8_filters
from atoll.frontend.tflite.islands import with_tables
from atoll.frontend.tflite.known import with_known
from atoll.frontend.tflite.operators import (
    graph_operator,
    graph_tensor,
    next_name,
    output_of,
)
from atoll.frontend.tflite.reader import (
    FileModel,
    is_tflite,
    model_bytes,
    read_file,
)
from atoll.frontend.tflite.tensor_names import tensor_names
from atoll.frontend.tflite.variables import move_assignments_last, with_variables
from atoll.frontend.unsupported import Unsupported, list_unsupported, operator_faults
from atoll.ir.graph import Graph, Operator


class Tflite(FrontEnd):
    """The format of TensorFlow Lite, schema version 3; `model.tflite#encode` names a signature.

    IF and WHILE become what they run. A QUANTIZE of a float input and a DEQUANTIZE to a float
    output are left out. What real numbers compute of one int8 value is a table. An output that is
    an input or a constant is a copy.
    """

    suffix = ".tflite"

    def recognises(self, path: Path) -> bool:
        """Look at the suffix, else for the identifier behind the first word."""
        return super().recognises(path) or is_tflite(path)

    def data(self, path: Path) -> bytes:
        """Return the file, with the function that `path` chooses first."""
        return model_bytes(path)

    def load(self, path: Path) -> Graph:
        """Read, judge, and name what the file holds."""
        model = read_file(path)
        check_references(model)
        model = without_empties(with_bodies(model))
        total = len(model.operators)
        model = with_variables(with_symmetric_filters(with_int8_filters(model)))
        model = strip_float_edges(with_signed_edges(model))
        model = move_assignments_last(with_own_outputs(with_tables(model)))
        _require_kinds(model, total)
        check_content(model)
        return _graph(with_known(model))


TFLITE = Tflite()


def load_tflite(path: Path) -> Graph:
    """Turn a TFLite file into a graph whose every operator can be compiled.

    Raises:
        ModelError: as `load_with`.
    """
    return load_with(TFLITE.load, path)


def _require_kinds(model: FileModel, total: int) -> None:
    """Refuse operators that no kind serves, and say in the same run what is wrong with others.

    Args:
        model: without what is left out at its edges.
        total: operators that the file has.
    """
    unknown = [
        Unsupported(op.code, op.label, place(op, output_of(model, op)))
        for op in model.operators
        if not op.form
    ]
    if not unknown:
        return
    raise ModelError.all((*list_unsupported(unknown, total), *_others(model)))


def _others(model: FileModel) -> tuple[Fault, ...]:
    """Return what kinds refuse of a model some of whose operators none serves."""
    known = _without_unknown(model)
    with suppress(ModelError):
        check_content(known)
        try:
            return operator_faults(_graph(known))
        except ModelError as error:
            return error.faults
    return ()


def _without_unknown(model: FileModel) -> FileModel:
    """Return the model with inputs in the place of what operators without a kind make."""
    made = {number for op in model.operators if not op.form for number in op.outputs}
    return replace(
        model,
        operators=tuple(op for op in model.operators if op.form),
        inputs=tuple({*model.inputs} | made),
        outputs=tuple(number for number in model.outputs if number not in made),
    )


def _graph(model: FileModel) -> Graph:
    names = tensor_names(model)
    faults: list[Fault] = []
    operators: list[Operator] = []
    for op in model.operators:
        try:
            operators.append(graph_operator(model, op, names))
        except ModelError as error:
            faults += error.faults
    if faults:
        raise ModelError.all(faults)
    used = {operand for op in operators for operand in (*op.inputs, *op.outputs)}
    interface = {names[number] for number in (*model.inputs, *model.outputs)}
    tensors = [
        graph_tensor(model, model.tensors[number], names[number])
        for number in sorted(names)
        if names[number] in used | interface
    ]
    changed = [
        replace(tensor, name=next_name(tensor.name), view=tensor.name, initial=None, index=-1)
        for tensor in tensors
        if tensor.initial is not None
    ]
    return Graph(
        name="",
        tensors=(*tensors, *changed),
        operators=tuple(operators),
        inputs=tuple(names[number] for number in model.inputs),
        outputs=tuple(names[number] for number in model.outputs),
    )
