# SPDX-License-Identifier: Apache-2.0
"""Short names for the tensors of a TFLite file, each a C identifier and unique in its graph.

Inputs keep their own name, sanitised and never starting with the name of an operator. A result
is ``<operator>_out``. A constant is named for its first reader, as that kind's form says:
``<operator>_filter`` and so on, or ``_constant_<position>`` where it is an ordinary operand; so is
a variable of one operator. Others are ``state_<name>``.
"""

from collections.abc import Callable

from atoll.frontend.network_names import identifier
from atoll.frontend.tflite.checks import is_constant
from atoll.frontend.tflite.reader import FileModel, FileOperator


def operator_name(op: FileOperator) -> str:
    """Return the name of an operator, such as ``conv_2d_3``."""
    return op.name or f"{op.kind}_{op.index}"


def tensor_names(model: FileModel) -> dict[int, str]:
    """Name every tensor in use by its number in the file."""
    names: dict[int, str] = {}
    prefixes = tuple(operator_name(op) for op in model.operators)
    taken = set(prefixes)

    def give(number: int, wanted: str) -> None:
        name, count = wanted, 1
        while name in taken:
            count += 1
            name = f"{wanted}_{count}"
        taken.add(name)
        names[number] = name

    for op in model.operators:
        _name_operands(model, op, names, give)
    for number in model.inputs:
        name = _input_name(model.tensors[number].name)
        give(number, f"input_{name}" if name.startswith(prefixes) else name)
    return names


def _name_operands(
    model: FileModel, op: FileOperator, names: dict[int, str], give: Callable[[int, str], None]
) -> None:
    roles, prefix = op.form.constants if op.form else {}, operator_name(op)
    for position, number in enumerate(op.inputs):
        if number < 0 or number in names:
            continue
        tensor = model.tensors[number]
        if tensor.initial is not None:
            give(number, f"state_{identifier(tensor.name, 'variable')}")
        elif is_constant(model, tensor) or tensor.variable:
            give(number, f"{prefix}_{roles.get(position, f'constant_{position}')}")
    for number in op.outputs:
        give(number, f"{prefix}_out")


def _input_name(text: str) -> str:
    """Drop what the converter adds to an input's name: path, signature prefix, output number."""
    bare = text.split(";")[0].split(":")[0].removeprefix("serving_default_")
    return identifier(bare, "input")
