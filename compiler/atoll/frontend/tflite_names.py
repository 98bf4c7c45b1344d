"""Short names for the tensors of a TFLite file, each a C identifier and unique in its graph.

Inputs keep their own name, sanitised and never starting with the name of an operator. A result
is ``<operator>_out``. A constant is named for its first reader: ``<operator>_filter`` and
``_bias``, ``_paddings``, ``_axes``, or ``_constant_<position>`` where it is an ordinary operand.
"""

import re
from collections.abc import Callable
from pathlib import Path

from atoll.frontend.tflite_checks import is_constant
from atoll.frontend.tflite_reader import FileModel, FileOperator

LONGEST = 40

_ROLES = {
    "CONV_2D": {1: "filter", 2: "bias"},
    "DEPTHWISE_CONV_2D": {1: "filter", 2: "bias"},
    "FULLY_CONNECTED": {1: "filter", 2: "bias"},
    "PAD": {1: "paddings"},
    "MEAN": {1: "axes"},
}

# Words of C99 and C++20 that an identifier made here could equal.
_KEYWORD = re.compile(
    r"alignas|alignof|and|asm|auto|bitand|bitor|bool|break|case|catch|char|class|compl|"
    r"concept|const|consteval|constexpr|constinit|continue|decltype|default|delete|do|"
    r"double|else|enum|explicit|export|extern|false|float|for|friend|goto|if|inline|int|"
    r"long|main|mutable|namespace|new|noexcept|not|nullptr|operator|or|private|protected|"
    r"public|register|reinterpret_cast|requires|restrict|return|short|signed|sizeof|"
    r"static|struct|switch|template|this|throw|true|try|typedef|typeid|typename|union|"
    r"unsigned|using|virtual|void|volatile|while|xor"
)


def operator_name(op: FileOperator) -> str:
    """Return the name of an operator, such as ``conv_2d_3``."""
    return f"{op.code.lower()}_{op.index}"


def identifier(text: str, fallback: str) -> str:
    """Make a C identifier of at most 40 characters; `fallback` where nothing is left."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")[:LONGEST].strip("_") or fallback
    return f"{fallback}_{name}" if name[0].isdigit() or _KEYWORD.fullmatch(name) else name


def network_name(path: Path) -> str:
    """Return what the network of a file is called."""
    return identifier(path.stem, "model")


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
    roles, prefix = _ROLES.get(op.code, {}), operator_name(op)
    for position, number in enumerate(op.inputs):
        if number >= 0 and number not in names and is_constant(model, model.tensors[number]):
            give(number, f"{prefix}_{roles.get(position, f'constant_{position}')}")
    for number in op.outputs:
        give(number, f"{prefix}_out")


def _input_name(text: str) -> str:
    """Drop what the converter adds to an input's name: path, signature prefix, output number."""
    bare = text.split(";")[0].split(":")[0].removeprefix("serving_default_")
    return identifier(bare, "input")
