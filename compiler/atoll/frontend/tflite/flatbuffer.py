# SPDX-License-Identifier: Apache-2.0
"""Check that every offset a reader follows in a FlatBuffers file stays within the file.

Generated readers trust the file. After `verify`, each field that the schema lists can be read
without a check: its table, vector or string lies within the file.
"""

from collections.abc import Mapping

from atoll.diagnostics.errors import ModelError
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number stored in its table; `size` in bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector of numbers, or a string; `size` of one item in bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Child:
    """A table of the kind named."""

    table: str


@dataclass(frozen=True, slots=True)
class Children:
    """A vector of tables of the kind named; errors call one of them `label`."""

    table: str
    label: str


@dataclass(frozen=True, slots=True)
class Union:
    """A table whose kind follows from the number in slot `tag`; others are not read."""

    tag: int
    tables: Mapping[int, str]


Field = Scalar | Vector | Child | Children | Union
Schema = Mapping[str, Mapping[int, Field]]


def verify(data: bytes, schema: Schema, root: str) -> None:
    """Walk every table that the schema names.

    Args:
        data: the file.
        schema: fields by slot number for each kind of table.
        root: kind of the root table.

    Raises:
        ModelError: E051, an offset leads out of the file.
    """
    walk = _Walk(data, schema)
    walk.table(walk.read_unsigned(0, 4, root), root, root)


class _Walk:
    def __init__(self, data: bytes, schema: Schema) -> None:
        self.data = data
        self.schema = schema
        self.seen: set[tuple[str, int]] = set()

    def table(self, position: int, kind: str, place: str) -> None:
        """Check one table and, once per position, what its fields point at."""
        if (kind, position) in self.seen:
            return
        self.seen.add((kind, position))
        slots = self.slots(position, place)
        for slot, field in self.schema[kind].items():
            if slot < len(slots) and slots[slot]:
                self.field(position + slots[slot], field, place, (position, slots))

    def slots(self, position: int, place: str) -> tuple[int, ...]:
        """Return the table's field offsets, 0 where a field is absent."""
        distance = self.read_unsigned(position, 4, place)
        vtable = position - (distance - 2**32 if distance >= 2**31 else distance)
        size = self.read_unsigned(vtable, 2, place)
        if size < 4 or size % 2:
            raise _damage(place, f"its field table has a size of {size} bytes")
        self.read_unsigned(vtable, size, place)
        return tuple(self.read_unsigned(vtable + at, 2, place) for at in range(4, size, 2))

    def field(self, at: int, field: Field, place: str, owner: tuple[int, tuple[int, ...]]) -> None:
        """Check one field that is present."""
        match field:
            case Scalar(size):
                self.read_unsigned(at, size, place)
            case Vector(size):
                self.vector(at, size, place)
            case Child(kind):
                self.table(self.target(at, place), kind, place)
            case Children(kind, label):
                start, count = self.vector(at, 4, place)
                for index in range(count):
                    name = f"{label} {index}"
                    self.table(self.target(start + 4 * index, name), kind, name)
            case Union(tag, tables):
                position, slots = owner
                chosen = self.data[position + slots[tag]] if slots[tag] else 0
                if chosen in tables:
                    self.table(self.target(at, place), tables[chosen], place)

    def vector(self, at: int, size: int, place: str) -> tuple[int, int]:
        """Return where the items start and how many there are."""
        start = self.target(at, place)
        count = self.read_unsigned(start, 4, place)
        if start + 4 + count * size > len(self.data):
            raise _damage(place, f"a list of {count} items of {size} bytes passes its end")
        return start + 4, count

    def target(self, at: int, place: str) -> int:
        """Follow the offset stored at `at`."""
        return at + self.read_unsigned(at, 4, place)

    def read_unsigned(self, at: int, size: int, place: str) -> int:
        """Read a little-endian number."""
        if not 0 <= at <= len(self.data) - size:
            raise _damage(place, f"it leads to byte {at} of a file of {len(self.data)} bytes")
        return int.from_bytes(self.data[at : at + size], "little")


def _damage(place: str, reason: str) -> ModelError:
    return ModelError(
        "E051",
        f"{place}: the file is damaged or cut off: {reason}",
        remedy="download or convert the model again",
    )
