# SPDX-License-Identifier: Apache-2.0
"""What a core does to its data cache."""

from typing import Protocol


class CacheControl(Protocol):
    """The data cache of a core, as what is around its instructions drives it.

    Attributes:
        line: bytes of a line; 0 if there is no cache.
    """

    line: int

    def maintain(self, address: int, *, cleans: bool) -> None:
        """Clean, or invalidate, the line of an address."""
        ...

    def turn_on(self, *, forgotten: bool) -> None:
        """Let the core use it; unless all lines are forgotten, they hold what nobody stored."""
        ...
