# SPDX-License-Identifier: Apache-2.0
"""The data cache of a core, or of an accelerator. Plain data."""

from atoll.records import dataclass
from atoll.resolve.register_steps import CacheSteps

REGISTERS = "registers"
"""What maintains a data cache whose core cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """The data cache of a device, which no other one sees but cores that share it.

    Attributes:
        line: bytes that it takes in and writes back at once.
        write_back: stores stay in it until their line is cleaned or evicted.
        size: its bytes; None if that is not said.
        ways: lines of each set; None if `size` is.
        shared: its name, which all cores bear that have this one; "" if one core alone has it.
        maintenance: registers that maintain it, which the host does for an accelerator; None where
            the core does by itself.
        memories: those that it keeps lines of; () if it keeps all that any data cache does.
    """

    line: int
    write_back: bool
    size: int | None = None
    ways: int | None = None
    shared: str = ""
    maintenance: CacheSteps | None = None
    memories: tuple[str, ...] = ()

    @property
    def sets(self) -> int:
        """How many sets it has, 0 if nobody said how large it is."""
        return self.size // (self.line * self.ways) if self.size and self.ways else 0

    @property
    def is_countable(self) -> bool:
        """Whether the lines that come and go can be counted.

        Not without its size, nor where other cores use it, too: how many of its lines each of them
        has is not known.
        """
        return self.sets > 0 and not self.shared
