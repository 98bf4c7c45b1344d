"""Records that C++ and Python share, field by field."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Number:
    """A little-endian number.

    Attributes:
        name: its type in C++.
        dtype: its type in NumPy.
    """

    name: str
    dtype: str


U32 = Number("uint32_t", "<u4")
U64 = Number("uint64_t", "<u8")


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
    def dtype(self) -> "np.dtype[Any]":
        """The record in NumPy."""
        import numpy as np  # `atoll check` needs no records

        return np.dtype([(name, field.type.dtype) for name, field in self.fields.items()])

    def row(self, **values: object) -> tuple[object, ...]:
        """Return the values in the order of the fields, which must be these."""
        assert values.keys() == self.fields.keys(), f"{self.name}: {sorted(values)}"
        return tuple(values[name] for name in self.fields)


def record(name: str, doc: str, **fields: "Number | Layout | Field") -> Layout:
    """Return a record; a field without words may be just its type."""
    given = {key: each if isinstance(each, Field) else Field(each) for key, each in fields.items()}
    return Layout(name, doc, given)
