# SPDX-License-Identifier: Apache-2.0
"""Read a TFLite file into plain records; nothing of the content is judged here."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from flatbuffers.number_types import Int32Flags
from tflite.Model import Model
from tflite.TensorType import TensorType
from tflite.utils import BUILTIN_OPCODE2NAME

from atoll.diagnostics.errors import ModelError
from atoll.frontend.file_bytes import file_bytes
from atoll.frontend.tflite import flatbuffer
from atoll.frontend.tflite.forms import CUSTOM, Forms, forms_for
from atoll.frontend.tflite.schema import IDENTIFIER
from atoll.frontend.tflite.signatures import file_of, functions, signature_of, with_function_first
from atoll.ops.tflite_form import TfliteForm
from atoll.records import dataclass

_TYPE_NAMES = {
    number: name.lower() for name, number in vars(TensorType).items() if isinstance(number, int)
}

_BUILTIN_CODE, _EXTERNAL_BUFFER = 3, 10
"""Slots of an operator code, whose accessor answers with another field, and of a tensor."""

_EMPTY_TABLE = (bytes([4, 0, 4, 0, 4, 0, 0, 0]), 4)
"""A table without fields, and where it begins."""
_WIDE = ("int32", "int64")

_CALLS: Mapping[str, tuple[str, ...]] = {
    "CALL_ONCE": ("Init",),
    "IF": ("Then", "Else"),
    "WHILE": ("Cond", "Body"),
}
"""What of their options names subgraphs, by operators."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTensor:
    """A tensor as the file states it.

    Attributes:
        name: as written, undecodable bytes replaced.
        dtype: lower-case name of the TFLite type, "type 99" if unknown.
        scales, zero_points, axis: quantisation; no scales if there is none.
        buffer: number of the tensor's buffer.
        variable: it keeps its value from run to run.
        initial: first bytes of a variable that operators other than the one that changes it read,
            None for others.
        number: its place in its own subgraph, -1 if that is the first.
        oddities: features that Atoll refuses, in words.
    """

    index: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int
    buffer: int
    variable: bool
    oddities: tuple[str, ...]
    initial: bytes | None = None
    number: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOperator:
    """An operator as the file states it.

    Attributes:
        index: no other operator has it; of the first subgraph, its place.
        name: what it is called in a graph if it is of another subgraph, else "".
        code: upper-case name in the schema, "" if the file gives none.
        kind: which kind of operators serves that code, "" if none does.
        form: how files hold that kind.
        options: reader of its option table, None if absent or of a kind that Atoll does not read;
            the bytes of a custom operator's.
        options_table: name of that table in the schema, "" if None.
    """

    index: int
    code: str
    kind: str
    form: TfliteForm | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Any
    options_table: str
    name: str = ""

    @property
    def label(self) -> str:
        """What messages call it."""
        return self.name or str(self.index)

    @property
    def calls(self) -> tuple[int, ...]:
        """Numbers of the subgraphs that the operator runs, none where it does not say."""
        names = _CALLS.get(self.code, ()) if self.options is not None else ()
        return tuple(getattr(self.options, f"{name}SubgraphIndex")() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBuffer:
    """Bytes of a constant, a view of the file; `external` ones lie outside its tables."""

    data: memoryview
    external: bool


@dataclass(frozen=True, slots=True)
class FileSubgraph:
    """A function of the file."""

    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileModel:
    """A TFLite file; tensors and operators are those of the first subgraph.

    Attributes:
        subgraphs: how many there are.
        signatures: numbers of subgraphs, by what the file calls them.
        chosen: the user chose one of them; others count for nothing.
        others: the subgraphs behind the first.
    """

    version: int
    subgraphs: int
    signatures: Mapping[str, int]
    buffers: tuple[FileBuffer, ...]
    tensors: tuple[FileTensor, ...]
    operators: tuple[FileOperator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    others: tuple[FileSubgraph, ...] = ()
    chosen: bool = False


class Held(Protocol):
    """What operators refer to: a `FileModel`, or one in the making."""

    @property
    def tensors(self) -> Sequence[FileTensor]:
        """By number."""

    @property
    def buffers(self) -> Sequence[FileBuffer]:
        """By number."""


def read_file(path: Path) -> FileModel:
    """Read the file at `path`.

    Raises:
        ModelError: E050, the file is unreadable, too large or no TFLite file; E051, it is damaged.
    """
    data = model_bytes(path)
    own = forms_for(())
    flatbuffer.verify(data, own.schema, "model")
    model = Model.GetRootAs(data)
    codes = tuple(_code(code) for code in _all(model, "OperatorCodes"))
    forms = forms_for(codes)
    if forms is not own:
        flatbuffer.verify(data, forms.schema, "model")
    return replace(_model(model, codes, forms), chosen=bool(signature_of(path)))


def model_bytes(path: Path) -> bytes:
    """Return what a file holds, the function of the signature that `path` chooses in front.

    Raises:
        ModelError: E050, as `read_file`; E051, E055, it has no such signature.
    """
    data, signature = file_bytes(file_of(path), ".tflite"), signature_of(path)
    if data[4:8] != IDENTIFIER:
        message = f"is not a TFLite file: bytes 4 to 7 are not '{IDENTIFIER.decode()}'"
        raise ModelError("E050", message, remedy="give a model that the TFLite converter wrote")
    return with_function_first(data, signature) if signature else data


def is_tflite(path: Path) -> bool:
    """Tell whether a file can be read and says that it is one."""
    try:
        with file_of(path).open("rb") as file:
            return file.read(8)[4:] == IDENTIFIER
    except OSError:
        return False


def _model(model: Any, codes: tuple[str, ...], forms: Forms) -> FileModel:
    read = (_subgraph(each, codes, forms) for each in _all(model, "Subgraphs"))
    first, *others = read if model.SubgraphsLength() else (FileSubgraph((), (), (), ()),)
    return FileModel(
        version=model.Version(),
        subgraphs=model.SubgraphsLength(),
        signatures=functions(model),
        buffers=tuple(_buffer(buffer) for buffer in _all(model, "Buffers")),
        tensors=first.tensors,
        operators=first.operators,
        inputs=first.inputs,
        outputs=first.outputs,
        others=tuple(others),
    )


def _subgraph(subgraph: Any, codes: tuple[str, ...], forms: Forms) -> FileSubgraph:
    tensors = enumerate(_all(subgraph, "Tensors"))
    operators = enumerate(_all(subgraph, "Operators"))
    return FileSubgraph(
        tensors=tuple(_tensor(index, tensor) for index, tensor in tensors),
        operators=tuple(_operator(index, op, codes, forms) for index, op in operators),
        inputs=_numbers(subgraph, "Inputs"),
        outputs=_numbers(subgraph, "Outputs"),
    )


def _all(table: Any, field: str) -> Iterator[Any]:
    """Yield the items of a vector of tables."""
    count = getattr(table, f"{field}Length")() if table is not None else 0
    return (getattr(table, field)(index) for index in range(count))


def _numbers(table: Any, field: str) -> tuple[Any, ...]:
    """Return the items of a vector of numbers."""
    if table is None or not getattr(table, f"{field}Length")():
        return ()
    return tuple(getattr(table, f"{field}AsNumpy")().tolist())


def _number(table: Any, slot: int) -> int:
    """Return a number of 32 bits that package `tflite` hides or lacks, 0 where it is absent."""
    offset = table._tab.Offset(4 + 2 * slot)
    return int(table._tab.Get(Int32Flags, offset + table._tab.Pos)) if offset else 0


def _code(code: Any) -> str:
    number = max(code.DeprecatedBuiltinCode(), _number(code, _BUILTIN_CODE))
    name = BUILTIN_OPCODE2NAME.get(number, f"operator code {number}")
    custom = (code.CustomCode() or b"").decode(errors="replace")
    return f"{CUSTOM}{custom}" if name == "CUSTOM" else str(name)


def _buffer(buffer: Any) -> FileBuffer:
    data = buffer.DataAsNumpy() if buffer.DataLength() else b""
    return FileBuffer(data=memoryview(data), external=buffer.Offset() > 1 or buffer.Size() > 1)


def _tensor(index: int, tensor: Any) -> FileTensor:
    quantization = tensor.Quantization()
    custom = quantization is not None and quantization.DetailsType() != 0
    oddities = {
        "is sparse": tensor.Sparsity() is not None,
        "has custom quantisation": custom,
        "has its data in another file": _number(tensor, _EXTERNAL_BUFFER) != 0,
    }
    dtype = _TYPE_NAMES.get(tensor.Type(), f"type {tensor.Type()}")
    scales, points = (_numbers(quantization, part) for part in ("Scale", "ZeroPoint"))
    if dtype in _WIDE and not any((*scales, *points)):
        scales, points = (), ()  # of a bias: to TFLM a scale of 0 and none are the same
    return FileTensor(
        index=index,
        name=(tensor.Name() or b"").decode(errors="replace"),
        shape=_numbers(tensor, "Shape"),
        dtype=dtype,
        scales=scales,
        zero_points=points,
        axis=quantization.QuantizedDimension() if quantization is not None else 0,
        buffer=tensor.Buffer(),
        variable=bool(tensor.IsVariable()),
        oddities=tuple(words for words, present in oddities.items() if present),
    )


def _operator(index: int, op: Any, codes: tuple[str, ...], forms: Forms) -> FileOperator:
    code = codes[op.OpcodeIndex()] if op.OpcodeIndex() < len(codes) else ""
    table, options = _options(op, code, forms)
    return FileOperator(
        index=index,
        code=code,
        kind=forms.kinds.get(code, ""),
        form=forms.by_code.get(code),
        inputs=_numbers(op, "Inputs"),
        outputs=_numbers(op, "Outputs"),
        options=options,
        options_table=table,
    )


def _options(op: Any, code: str, forms: Forms) -> tuple[str, Any]:
    """Return the name of the option table and its reader, if somebody reads such a table."""
    if code.startswith(CUSTOM):
        return "", bytes(op.CustomOptionsAsNumpy()) if op.CustomOptionsLength() else b""
    name = forms.tables.get(op.BuiltinOptionsType(), "")
    table = op.BuiltinOptions() if name else None
    if table is not None:
        return name, _table(name, table.Bytes, table.Pos)
    form = forms.by_code.get(code)
    if form is not None and form.may_lack_table and (name or not op.BuiltinOptionsType()):
        return form.table, _table(form.table, *_EMPTY_TABLE)
    return "", None


def _table(name: str, data: bytes, position: int) -> Any:
    """Return the reader of an option table."""
    options = getattr(import_module(f"tflite.{name}"), name)()
    options.Init(data, position)
    return options
