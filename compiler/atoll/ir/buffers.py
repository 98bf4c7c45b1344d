# SPDX-License-Identifier: Apache-2.0
"""What steps touch besides allocations: constants, and parts of allocations."""

from dataclasses import field

from atoll.ir.bytes_text import brief_text, bytes_text
from atoll.ir.statements import bracket
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Bytes that the image carries.

    Attributes:
        data: None while later stages make them, as for command lists.
        pools: candidate pools, best first.
    """

    name: str
    size: int
    align: int
    pools: tuple[str, ...]
    data: bytes | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self._text("later" if self.data is None else bytes_text(self.data, self.size))

    def brief(self) -> str:
        """Return the text with the checksum of long data instead of the data."""
        return self._text("later" if self.data is None else brief_text(self.data, self.size))

    def _text(self, data: str) -> str:
        return (
            f"constant {self.name}: {self.size} align {self.align} {bracket(self.pools)} = {data}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPart:
    """Some bytes of an allocation under a name of their own, for steps that touch no others."""

    name: str
    buffer: str
    offset: int
    size: int

    def __str__(self) -> str:
        return f"part {self.name}: {self.size} of {self.buffer} from {self.offset}"
