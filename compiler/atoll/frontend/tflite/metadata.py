# SPDX-License-Identifier: Apache-2.0
"""Metadata of a TFLite file: read, or added by a new root table with longer lists."""

from tflite.Model import Model

from atoll.frontend.tflite import flatbuffer
from atoll.frontend.tflite.flatbuffer import Children, Schema, Vector
from atoll.frontend.tflite.flatbuffer import Scalar as Number
from atoll.frontend.tflite.root_table import Front, fields_of
from atoll.frontend.tflite.schema import SCHEMA

_BUFFERS, _METADATA = 4, 6
_SCHEMA: Schema = {
    **SCHEMA,
    "model": {**SCHEMA["model"], _METADATA: Children("Metadata", "metadata")},
    "Metadata": {0: Vector(1), 1: Number(4)},
}


def metadata_of(source: bytes, name: str) -> bytes | None:
    """Return the content of a metadata entry of a TFLite file; None if it has none of that name.

    Raises:
        ModelError: E051; an offset leads out of the file.
    """
    flatbuffer.verify(source, _SCHEMA, "model")
    model = Model.GetRootAs(source, 0)
    for entry in (model.Metadata(index) for index in range(model.MetadataLength())):
        if entry.Name() == name.encode() and entry.Buffer() < model.BuffersLength():
            buffer = model.Buffers(entry.Buffer())
            return bytes(buffer.DataAsNumpy()) if buffer.DataLength() else b""
    return None


def with_metadata(source: bytes, name: str, data: bytes) -> bytes:
    """Return a TFLite file with one more metadata entry; one of the same name is replaced.

    Args:
        source: a TFLite file.
        name: ASCII.
        data: its content, which will start at a multiple of 16 bytes.

    Raises:
        ModelError: E051; an offset leads out of the file.
    """
    flatbuffer.verify(source, _SCHEMA, "model")
    old = Model.GetRootAs(source, 0)
    buffers = [old.Buffers(index)._tab.Pos for index in range(old.BuffersLength())]
    entries = (old.Metadata(index) for index in range(old.MetadataLength()))
    kept = [entry._tab.Pos for entry in entries if entry.Name() != name.encode()]
    front = Front()
    slots = front.root(dict(fields_of(old, source)), (_BUFFERS, _METADATA))
    last_buffer = front.list(slots[_BUFFERS], buffers, 1)
    last_entry = front.list(slots[_METADATA], kept, 1)
    front.entry(last_entry, name, len(buffers))
    front.buffer(last_buffer, data)
    return front.before(source)
