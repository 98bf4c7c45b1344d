# SPDX-License-Identifier: Apache-2.0
"""Numbers, types and shapes of the messages of which an ONNX file consists."""

from collections.abc import Iterable

import numpy as np
from onnx import GraphProto, TensorProto, ValueInfoProto, numpy_helper

from atoll.diagnostics.errors import ModelError
from atoll.frontend.onnx.model import Array, Value, short

AGAIN = "export the model again; the file contradicts itself"
_NARROW = {"int4": "int8", "uint4": "uint8"}


def arrays_of(tensors: Iterable[TensorProto]) -> dict[str, Array]:
    """Return the values of constants by name; those of 4 bits take a byte each.

    Raises:
        ModelError: E052; the values of one do not fit its shape or type.
    """
    return {tensor.name: _array(tensor) for tensor in tensors}


def _array(tensor: TensorProto) -> Array:
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, OverflowError) as fault:
        message = f"constant '{short(tensor.name)}': its values do not fit its shape or type"
        raise ModelError("E052", message, remedy=AGAIN) from fault
    narrow = _NARROW.get(array.dtype.name)
    return array.astype(narrow) if narrow else array


def values_of(graph: GraphProto) -> dict[str, Value]:
    """Return types and shapes of the values whose shapes are known."""
    infos = (*graph.input, *graph.output, *graph.value_info)
    found = ((each.name, _value(each)) for each in infos)
    return {name: value for name, value in found if value is not None}


def _value(info: ValueInfoProto) -> Value | None:
    """Return type and shape, None unless both are known."""
    tensor = info.type.tensor_type
    extents = [each.dim_value if each.HasField("dim_value") else -1 for each in tensor.shape.dim]
    if not tensor.HasField("shape") or any(extent < 0 for extent in extents):
        return None
    name = TensorProto.DataType.Name(tensor.elem_type).lower()
    return Value(dtype=name, shape=tuple(extents))
