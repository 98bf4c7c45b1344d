# SPDX-License-Identifier: Apache-2.0
"""Records that C++ and Python share, field by field."""

import struct
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A little-endian number.

    Attributes:
        name: its type in C++.
        code: its letter in `struct`.
    """

    name: str
    code: str

    def pack(self, rows: Iterable[object]) -> bytes:
        """Return numbers as C++ reads them."""
        return b"".join(struct.pack(f"<{self.code}", row) for row in rows)


U32 = Number("uint32_t", "I")
U64 = Number("uint64_t", "Q")


@dataclass(frozen=True, slots=True)
class Field:
    """A field, and what one must know to read it."""

    type: "Number | Layout"
    doc: str = ""


@dataclass(frozen=True)
class Layout:
    """A record without gaps.

    Attributes:
        name: its type in C++.
        doc: one sentence.
        fields: by name, in their order.
    """

    name: str
    doc: str
    fields: Mapping[str, Field]

    @cached_property
    def code(self) -> str:
        """The letters of its numbers in `struct`."""
        return "".join(field.type.code for field in self.fields.values())

    @property
    def size(self) -> int:
        """Its bytes."""
        return struct.calcsize(f"<{self.code}")

    def pack(self, rows: Iterable[object]) -> bytes:
        """Return what `row` made as C++ reads it."""
        return b"".join(struct.pack(f"<{self.code}", *_flat(row)) for row in rows)

    def unpack(self, data: bytes) -> Iterator[Mapping[str, int]]:
        """Yield the records that C++ wrote; none of their fields is a record."""
        for row in struct.iter_unpack(f"<{self.code}", data):
            yield dict(zip(self.fields, row, strict=True))

    def row(self, **values: object) -> tuple[object, ...]:
        """Return the values in the order of the fields, which must be these."""
        assert values.keys() == self.fields.keys(), f"{self.name}: {sorted(values)}"
        return tuple(values[name] for name in self.fields)


def _flat(row: object) -> Iterator[object]:
    if isinstance(row, tuple):
        for each in row:
            yield from _flat(each)
    else:
        yield row


def record(name: str, doc: str, **fields: "Number | Layout | Field") -> Layout:
    """Return a record; a field without words may be just its type."""
    given = {key: each if isinstance(each, Field) else Field(each) for key, each in fields.items()}
    return Layout(name, doc, given)
