"""Add metadata to a TFLite file without touching what is in it.

FlatBuffers offsets only point forward. So a new root table, with longer lists of buffers and of
metadata, goes in front of the old file; all its other fields point at what was there before.
"""

from collections.abc import Iterator, Mapping, Sequence
from struct import pack, unpack_from

from tflite.Model import Model

from atoll.frontend import flatbuffer
from atoll.frontend.flatbuffer import Children, Schema, Vector
from atoll.frontend.flatbuffer import Scalar as Number
from atoll.frontend.tflite_reader import IDENTIFIER
from atoll.frontend.tflite_schema import SCHEMA

ALIGNMENT = 16
_SLOTS = 8
_VERSION, _BUFFERS, _METADATA = 0, 4, 6
_SCHEMA: Schema = {
    **SCHEMA,
    "model": {**SCHEMA["model"], _METADATA: Children("Metadata", "metadata")},
    "Metadata": {0: Vector(1), 1: Number(4)},
}


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
    front = _Front()
    slots = front.root(dict(_fields(old, source)))
    last_buffer = front.list(slots[_BUFFERS], buffers)
    last_entry = front.list(slots[_METADATA], kept)
    front.entry(last_entry, name, len(buffers))
    front.buffer(last_buffer, data)
    return front.before(source)


def _fields(model: Model, source: bytes) -> Iterator[tuple[int, int]]:
    """Yield each field of the root table that is present: the number, or where it points."""
    for slot in range(_SLOTS):
        if distance := model._tab.Offset(4 + 2 * slot):
            position = model._tab.Pos + distance
            (value,) = unpack_from("<I", source, position)
            yield slot, value if slot == _VERSION else position + value


class _Front:
    """The bytes that go in front of a file; links are filled in when its length is known."""

    def __init__(self) -> None:
        self._data = bytearray(pack("<I4s", 0, IDENTIFIER))
        self._links: list[tuple[int, int]] = []
        self._old_links: list[tuple[int, int]] = []

    def root(self, fields: Mapping[int, int]) -> Sequence[int]:
        """Add the root table with every field but those that are absent; return their places."""
        present = {*fields, _BUFFERS, _METADATA}
        used = [4 * slot + 4 if slot in present else 0 for slot in range(_SLOTS)]
        table = self._table(used)
        self._links.append((0, table))
        for slot, value in fields.items():
            if slot == _VERSION:
                self._data[table + 4 : table + 8] = pack("<I", value)
            elif slot not in (_BUFFERS, _METADATA):
                self._old_links.append((table + used[slot], value))
        return [table + offset for offset in used]

    def list(self, link: int, old: Sequence[int]) -> int:
        """Add a list of old tables and of a new one; return the place of the new one's link."""
        begin = self._add(pack(f"<I{len(old) + 1}I", len(old) + 1, *(0,) * (len(old) + 1)))
        self._links.append((link, begin))
        self._old_links += [(begin + 4 + 4 * index, target) for index, target in enumerate(old)]
        return begin + 4 + 4 * len(old)

    def entry(self, link: int, name: str, buffer: int) -> None:
        """Add a metadata entry whose content is in a buffer of this number."""
        table = self._table([4, 8])
        self._links.append((link, table))
        self._data[table + 8 : table + 12] = pack("<I", buffer)
        text = name.encode()
        self._links.append((table + 4, self._add(pack("<I", len(text)) + text + b"\0")))

    def buffer(self, link: int, data: bytes) -> None:
        """Add a buffer."""
        table = self._table([4])
        self._links.append((link, table))
        self._data += bytes(-(len(self._data) + 4) % ALIGNMENT)
        self._links.append((table + 4, self._add(pack("<I", len(data)) + data)))

    def before(self, source: bytes) -> bytes:
        """Return these bytes and `source` behind them, all linked."""
        self._data += bytes(-len(self._data) % ALIGNMENT)
        length = len(self._data)
        behind = [(at, length + target) for at, target in self._old_links]
        for at, target in (*self._links, *behind):
            self._data[at : at + 4] = pack("<I", target - at)
        return bytes(self._data) + source

    def _table(self, offsets: Sequence[int]) -> int:
        """Add a table of words with its vtable; return where it begins."""
        size = 4 + 2 * len(offsets)
        vtable = self._add(pack(f"<{2 + len(offsets)}H", size, 4 * len(offsets) + 4, *offsets))
        table = self._add(bytes(4 * len(offsets) + 4))
        self._data[table : table + 4] = pack("<i", table - vtable)
        return table

    def _add(self, data: bytes) -> int:
        """Append at a multiple of 4 and return where."""
        self._data += bytes(-len(self._data) % 4)
        self._data += data
        return len(self._data) - len(data)
