# SPDX-License-Identifier: Apache-2.0
"""An entry of a protection unit's table."""

from atoll.records import dataclass
from atoll.resolve.protection.area import Area


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry, in use.

    Attributes:
        area: what it opens, or a part of that; None if it opens nothing.
        begin, end: first address that it is about, and first past it; one address if it does no
            more than tell the next entry where to begin.
        form: how it says so, such as ``TOR``.
        words: what its registers are set to, in the unit's own order.
    """

    area: Area | None
    begin: int
    end: int
    form: str
    words: tuple[int, ...]

    @property
    def access(self) -> str:
        """``ro``, ``rw``, ``rx`` or ``none``."""
        return self.area.access if self.area else "none"

    @property
    def what(self) -> str:
        """The regions and register blocks that it opens."""
        if self.area:
            return ", ".join(self.area.names)
        if self.begin == self.end:
            return "begin of the next"
        return "all else" if not self.begin else "closed, within the next that opens"
