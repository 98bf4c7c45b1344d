# SPDX-License-Identifier: Apache-2.0
"""The reader sees what the tables of a file hold, whatever the accessors of a package hide."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import flatbuffers
import numpy as np
import pytest
from flatbuffers import number_types
from tests.element_samples import elements
from tests.flow_samples import branched, looped
from tests.operator_samples import moves, picks, windows_and_reductions
from tests.recurrent_samples import recurrent
from tflite.utils import BUILTIN_OPCODE2NAME

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite import reader
from atoll.frontend.tflite.forms import forms_for
from atoll.frontend.tflite.load import load_tflite

# The public schema, version 3: slot, name, type and the value of an absent field.
FIELDS = """
Model                0 Version u32 0, 1 OperatorCodes tables, 2 Subgraphs tables, 4 Buffers tables,
                     7 SignatureDefs tables
OperatorCode         0 DeprecatedBuiltinCode i8 0, 1 CustomCode text, 3 BuiltinCode i32 0
SubGraph             0 Tensors tables, 1 Inputs i32s, 2 Outputs i32s, 3 Operators tables
Buffer               0 Data u8s, 1 Offset u64 0, 2 Size u64 0
Tensor               0 Shape i32s, 1 Type i8 0, 2 Buffer u32 0, 3 Name text, 4 Quantization table,
                     5 IsVariable bool 0, 6 Sparsity table, 10 ExternalBuffer u32 0
QuantizationParameters 2 Scale f32s, 3 ZeroPoint i64s, 4 DetailsType u8 0,
                     6 QuantizedDimension i32 0
SparsityParameters
Operator             0 OpcodeIndex u32 0, 1 Inputs i32s, 2 Outputs i32s,
                     3 BuiltinOptionsType u8 0, 4 BuiltinOptions table, 5 CustomOptions u8s
SignatureDef         2 SignatureKey text, 4 SubgraphIndex u32 0
VarHandleOptions     0 Container text, 1 SharedName text
CallOnceOptions      0 InitSubgraphIndex i32 0
IfOptions            0 ThenSubgraphIndex i32 0, 1 ElseSubgraphIndex i32 0
WhileOptions         0 CondSubgraphIndex i32 0, 1 BodySubgraphIndex i32 0
AddOptions           0 FusedActivationFunction i8 0
BatchMatMulOptions   0 AdjX bool 0, 1 AdjY bool 0, 2 AsymmetricQuantizeInputs bool 0
ConcatenationOptions 0 Axis i32 0, 1 FusedActivationFunction i8 0
Conv2DOptions        0 Padding i8 0, 1 StrideW i32 0, 2 StrideH i32 0,
                     3 FusedActivationFunction i8 0, 4 DilationWFactor i32 1,
                     5 DilationHFactor i32 1, 6 QuantizedBiasType i8 0
CumsumOptions        0 Exclusive bool 0, 1 Reverse bool 0
DepthToSpaceOptions  0 BlockSize i32 0
DepthwiseConv2DOptions 0 Padding i8 0, 1 StrideW i32 0, 2 StrideH i32 0, 3 DepthMultiplier i32 0,
                     4 FusedActivationFunction i8 0, 5 DilationWFactor i32 1,
                     6 DilationHFactor i32 1
DivOptions           0 FusedActivationFunction i8 0
FullyConnectedOptions 0 FusedActivationFunction i8 0, 1 WeightsFormat i8 0, 2 KeepNumDims bool 0,
                     4 QuantizedBiasType i8 0
GatherOptions        0 Axis i32 0, 1 BatchDims i32 0
GeluOptions          0 Approximate bool 0
L2NormOptions        0 FusedActivationFunction i8 0
LeakyReluOptions     0 Alpha f32 0
MirrorPadOptions     0 Mode i8 0
MulOptions           0 FusedActivationFunction i8 0
PackOptions          0 ValuesCount i32 0, 1 Axis i32 0
Pool2DOptions        0 Padding i8 0, 1 StrideW i32 0, 2 StrideH i32 0, 3 FilterWidth i32 0,
                     4 FilterHeight i32 0, 5 FusedActivationFunction i8 0
ReducerOptions       0 KeepDims bool 0
ResizeBilinearOptions 2 AlignCorners bool 0, 3 HalfPixelCenters bool 0
ResizeNearestNeighborOptions 0 AlignCorners bool 0, 1 HalfPixelCenters bool 0
ShapeOptions         0 OutType i8 0
SoftmaxOptions       0 Beta f32 0
SpaceToDepthOptions  0 BlockSize i32 0
StridedSliceOptions  0 BeginMask i32 0, 1 EndMask i32 0, 2 EllipsisMask i32 0, 3 NewAxisMask i32 0,
                     4 ShrinkAxisMask i32 0, 5 Offset bool 0
SubOptions           0 FusedActivationFunction i8 0
SVDFOptions          0 Rank i32 0
TransposeConvOptions 0 Padding i8 0, 1 StrideW i32 0, 2 StrideH i32 0,
                     3 FusedActivationFunction i8 0
UnidirectionalSequenceLSTMOptions 0 FusedActivationFunction i8 0, 1 CellClip f32 0,
                     2 ProjClip f32 0, 3 TimeMajor bool 0, 4 AsymmetricQuantizeInputs bool 0,
                     5 DiagonalRecurrentTensors bool 0
UnpackOptions        0 Num i32 0, 1 Axis i32 0
"""

NUMBERS = {
    "bool": (number_types.BoolFlags, (False, True)),
    "i8": (number_types.Int8Flags, (-128, 0, 3, 127)),
    "u8": (number_types.Uint8Flags, (0, 3, 255)),
    "i32": (number_types.Int32Flags, (-(2**31), 0, 7, 2**31 - 1)),
    "u32": (number_types.Uint32Flags, (0, 7, 2**32 - 1)),
    "u64": (number_types.Uint64Flags, (0, 7, 2**64 - 1)),
    "f32": (number_types.Float32Flags, (-0.5, 0.0, 2.0)),
}
VECTORS = {"i32s": np.int32, "i64s": np.int64, "f32s": np.float32, "u8s": np.uint8}
HIDDEN = {("OperatorCode", "BuiltinCode"), ("Tensor", "ExternalBuffer")}
"""Fields whose accessor lies or is absent; the reader does not use it."""

Row = tuple[str, int, str, str, str]


def rows() -> Iterator[Row]:
    """Yield table, slot, name, type and default."""
    table = ""
    for line in FIELDS.split("\n"):
        if line[:1].strip():
            table, _, line = line.partition(" ")
            yield table, -1, "", "", ""
        for field in filter(None, map(str.strip, line.split(","))):
            slot, name, kind, *default = field.split()
            yield table, int(slot), name, kind, *(default or [""])  # type: ignore[misc]


ROWS = [row for row in rows() if row[1] >= 0]


def accessors(table: str) -> Any:
    return getattr(import_module(f"tflite.{table}"), table)


def raw(slot: int, put: Any = None, kind: Any = None, value: Any = None) -> bytes:
    """Return a file whose root table has at most one field."""
    builder = flatbuffers.Builder(64)
    builder.ForceDefaults(True)
    given = builder.CreateNumpyVector(value) if put == "vector" else value
    given = builder.CreateString(value) if put == "text" else given
    builder.StartObject(12)
    if put == "number":
        builder.PrependSlot(kind, slot, value, None)
    elif put:
        builder.PrependUOffsetTRelativeSlot(slot, given, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def read(table: str, data: bytes) -> Any:
    return accessors(table).GetRootAs(data, 0)


def test_the_schema_is_the_list_above() -> None:
    listed: dict[str, set[int]] = {}
    for table, slot, *_ in rows():
        listed.setdefault({"Model": "model"}.get(table, table), set()).update({slot} - {-1})
    assert listed == {table: {*fields} for table, fields in forms_for(()).schema.items()}


@pytest.mark.parametrize(("table", "slot", "name", "kind", "default"), ROWS)
def test_accessors_show_what_the_table_holds(
    table: str, slot: int, name: str, kind: str, default: str
) -> None:
    if (table, name) in HIDDEN:
        return
    absent = read(table, raw(slot))
    if kind in NUMBERS:
        flags, values = NUMBERS[kind]
        assert getattr(absent, name)() == float(default)
        for value in values:
            assert getattr(read(table, raw(slot, "number", flags, value)), name)() == value
    elif kind in VECTORS:
        assert reader._numbers(absent, name) == ()
        for items in ((), (1,), (3, 0, 5)):
            found = read(table, raw(slot, "vector", value=np.array(items, VECTORS[kind])))
            assert reader._numbers(found, name) == items
    elif kind == "text":
        assert getattr(absent, name)() is None
        for text in ("", "a", "encoder/x"):
            assert getattr(read(table, raw(slot, "text", value=text)), name)() == text.encode()
    elif kind == "tables":
        assert getattr(absent, f"{name}Length")() == 0
        none = read(table, raw(slot, "vector", value=np.array([], np.int32)))
        assert getattr(none, f"{name}Length")() == 0
    else:
        assert getattr(absent, name)() is None


@pytest.mark.parametrize(("old", "new"), [(True, True), (True, False), (False, True)])
def test_codes_old_and_new(
    old: bool, new: bool, tmp_path: Path, tflite_builder: ModuleType, monkeypatch: Any
) -> None:
    """The greater of both fields counts, as in TFLM (`GetBuiltinCode`)."""
    path, codes = tmp_path / "model.tflite", BUILTIN_OPCODE2NAME.items()

    def code(builder: Any, op: Any) -> int:
        number = getattr(tflite_builder.BuiltinOperator, op.code)
        parts = {"DeprecatedBuiltinCode": min(number, 127)} if old else {}
        return int(
            tflite_builder._table(
                builder, "OperatorCode", parts | ({"BuiltinCode": number} if new else {})
            )
        )

    monkeypatch.setattr(tflite_builder, "_code", code)
    names = [name for number, name in codes if (number < 127 or new) and name != "CUSTOM"]
    tensor = tflite_builder.Tensor(shape=(1,))
    operators = tuple(
        tflite_builder.Operator(code=name, inputs=(0,), outputs=(0,)) for name in names
    )
    model = tflite_builder.Model(tensors=(tensor,), operators=operators, inputs=(0,), outputs=(0,))
    path.write_bytes(tflite_builder.write(model))
    assert [op.code for op in reader.read_file(path).operators] == names


def test_data_in_another_file_is_refused(
    tmp_path: Path, tflite_builder: ModuleType, every_operator: Any, monkeypatch: Any
) -> None:
    ends = tflite_builder.import_module("tflite.Tensor")

    def end(builder: Any) -> int:
        builder.PrependUint32Slot(10, 1, 0)
        return int(builder.EndObject())

    monkeypatch.setattr(ends, "TensorStart", lambda builder: builder.StartObject(11))
    monkeypatch.setattr(ends, "TensorEnd", end)
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    with pytest.raises(ModelError, match="has its data in another file"):
        load_tflite(path)


def test_no_other_field_is_used(
    tmp_path: Path, tflite_builder: ModuleType, every_operator: Any, monkeypatch: Any
) -> None:
    used: set[tuple[str, str]] = set()
    for table in {table for table, *_ in rows()}:
        for name, function in vars(accessors(table)).items():
            if isinstance(function, FunctionType) and name != "Init":
                field = name.removesuffix("Length").removesuffix("AsNumpy")

                def logged(
                    *given: Any, _log: tuple[str, str] = (table, field), _call: Any = function
                ) -> Any:
                    used.add(_log)
                    return _call(*given)

                monkeypatch.setattr(accessors(table), name, logged)
    samples = (windows_and_reductions, moves, picks, elements, recurrent, looped, branched)
    models = [every_operator, *(sample(tflite_builder) for sample in samples)]
    for model in models:
        path = tmp_path / "model.tflite"
        path.write_bytes(tflite_builder.write(model))
        load_tflite(path)
    listed = {(table, name) for table, _, name, *_ in ROWS}
    assert used <= listed - HIDDEN
    assert len(used) > len(listed) / 2
