# SPDX-License-Identifier: Apache-2.0
"""A new root table in front of a TFLite file, without touching what is in it.

FlatBuffers offsets only point forward. So the root table can be another one, with other lists, in
front of the old file; all its other fields point at what was there before.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from struct import pack, unpack_from

from tflite.Model import Model

from atoll.frontend.tflite.schema import IDENTIFIER

ALIGNMENT = 16
SLOTS = 8
_VERSION = 0


def fields_of(model: Model, source: bytes) -> Iterator[tuple[int, int]]:
    """Yield each field of the root table that is present: the number, or where it points."""
    for slot in range(SLOTS):
        if distance := model._tab.Offset(4 + 2 * slot):
            position = model._tab.Pos + distance
            (value,) = unpack_from("<I", source, position)
            yield slot, value if slot == _VERSION else position + value


class Front:
    """The bytes that go in front of a file; links are filled in when its length is known."""

    def __init__(self) -> None:
        self._data = bytearray(pack("<I4s", 0, IDENTIFIER))
        self._links: list[tuple[int, int]] = []
        self._old_links: list[tuple[int, int]] = []

    def root(self, fields: Mapping[int, int], own: Collection[int]) -> Sequence[int]:
        """Add the root table with old fields, and others that `list` fills; return their places."""
        present = {*fields, *own}
        used = [4 * slot + 4 if slot in present else 0 for slot in range(SLOTS)]
        table = self._table(used)
        self._links.append((0, table))
        for slot, value in fields.items():
            if slot == _VERSION:
                self._data[table + 4 : table + 8] = pack("<I", value)
            elif slot not in own:
                self._old_links.append((table + used[slot], value))
        return [table + offset for offset in used]

    def list(self, link: int, old: Sequence[int], new: int = 0) -> int:
        """Add a list of old tables and of new ones; return where the first new one is linked."""
        count = len(old) + new
        begin = self._add(pack(f"<I{count}I", count, *(0,) * count))
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
