"""The tables and fields of a TFLite file that Atoll reads.

Slot numbers are field positions in the public schema (`schema.fbs`, version 3), as in the
`tflite` package.
"""

from types import MappingProxyType

from tflite.BuiltinOptions import BuiltinOptions

from atoll.frontend.flatbuffer import Child, Children, Schema, Union, Vector
from atoll.frontend.flatbuffer import Scalar as Number

_BYTE, _WORD, _LONG = Number(1), Number(4), Number(8)
_TEXT, _WORDS, _LONGS = Vector(1), Vector(4), Vector(8)

OPTION_TABLES = MappingProxyType(
    {
        BuiltinOptions.Conv2DOptions: "Conv2DOptions",
        BuiltinOptions.DepthwiseConv2DOptions: "DepthwiseConv2DOptions",
        BuiltinOptions.FullyConnectedOptions: "FullyConnectedOptions",
        BuiltinOptions.Pool2DOptions: "Pool2DOptions",
        BuiltinOptions.AddOptions: "AddOptions",
        BuiltinOptions.MulOptions: "MulOptions",
        BuiltinOptions.SoftmaxOptions: "SoftmaxOptions",
        BuiltinOptions.ConcatenationOptions: "ConcatenationOptions",
        BuiltinOptions.ReducerOptions: "ReducerOptions",
    }
)

SCHEMA: Schema = MappingProxyType(
    {
        "model": {
            0: _WORD,
            1: Children("OperatorCode", "operator code"),
            2: Children("SubGraph", "subgraph"),
            4: Children("Buffer", "buffer"),
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
        },
        "QuantizationParameters": {2: _WORDS, 3: _LONGS, 4: _BYTE, 6: _WORD},
        "SparsityParameters": {},
        "Operator": {0: _WORD, 1: _WORDS, 2: _WORDS, 3: _BYTE, 4: Union(3, OPTION_TABLES)},
        "Conv2DOptions": {0: _BYTE, 1: _WORD, 2: _WORD, 3: _BYTE, 4: _WORD, 5: _WORD},
        "DepthwiseConv2DOptions": {
            **{0: _BYTE, 1: _WORD, 2: _WORD, 3: _WORD},
            **{4: _BYTE, 5: _WORD, 6: _WORD},
        },
        "FullyConnectedOptions": {0: _BYTE, 1: _BYTE, 2: _BYTE},
        "Pool2DOptions": {0: _BYTE, 1: _WORD, 2: _WORD, 3: _WORD, 4: _WORD, 5: _BYTE},
        "AddOptions": {0: _BYTE},
        "MulOptions": {0: _BYTE},
        "SoftmaxOptions": {0: _WORD},
        "ConcatenationOptions": {0: _WORD, 1: _BYTE},
        "ReducerOptions": {0: _BYTE},
    }
)
