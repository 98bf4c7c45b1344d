# SPDX-License-Identifier: Apache-2.0
"""The tables and fields of a TFLite file that Atoll reads; operators' kinds add their options.

Slot numbers are field positions in the public schema (`schema.fbs`, version 3), as in the
`tflite` package.
"""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.frontend.tflite.flatbuffer import Child, Children, Schema, Union, Vector
from atoll.frontend.tflite.flatbuffer import Scalar as Number

_BYTE, _WORD, _LONG = Number(1), Number(4), Number(8)
_TEXT, _WORDS, _LONGS = Vector(1), Vector(4), Vector(8)

IDENTIFIER = b"TFL3"
SCHEMA: Schema = MappingProxyType(
    {
        "model": {
            0: _WORD,
            1: Children("OperatorCode", "operator code"),
            2: Children("SubGraph", "subgraph"),
            4: Children("Buffer", "buffer"),
            7: Children("SignatureDef", "signature"),
        },
        "OperatorCode": {0: _BYTE, 1: _TEXT, 3: _WORD},
        "SubGraph": {
            0: Children("Tensor", "tensor"),
            1: _WORDS,
            2: _WORDS,
            3: Children("Operator", "operator"),
        },
        "Buffer": {0: _TEXT, 1: _LONG, 2: _LONG},
        "Tensor": {
            0: _WORDS,
            1: _BYTE,
            2: _WORD,
            3: _TEXT,
            4: Child("QuantizationParameters"),
            5: _BYTE,
            6: Child("SparsityParameters"),
            10: _WORD,
        },
        "QuantizationParameters": {2: _WORDS, 3: _LONGS, 4: _BYTE, 6: _WORD},
        "SparsityParameters": {},
        "Operator": {0: _WORD, 1: _WORDS, 2: _WORDS, 3: _BYTE, 5: _TEXT},
        "VarHandleOptions": {0: _TEXT, 1: _TEXT},
        "CallOnceOptions": {0: _WORD},
        "IfOptions": {0: _WORD, 1: _WORD},
        "WhileOptions": {0: _WORD, 1: _WORD},
        "SignatureDef": {2: _TEXT, 4: _WORD},
    }
)


def with_options(numbers: Mapping[int, str], fields: Mapping[str, Mapping[int, int]]) -> Schema:
    """Return the schema with the option tables of operators.

    Args:
        numbers: what each table is called, by its number among the schema's options.
        fields: bytes of the numbers in each table, by slot.
    """
    tables = {
        name: {slot: Number(size) for slot, size in sizes.items()} for name, sizes in fields.items()
    }
    return {**SCHEMA, **tables, "Operator": {**SCHEMA["Operator"], 4: Union(3, numbers)}}
