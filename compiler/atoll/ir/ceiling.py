# SPDX-License-Identifier: Apache-2.0
"""How high in a pool a buffer may end."""

from atoll.diagnostics.errors import SourceLoc
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """Bytes from the start of a pool within which a buffer ends there.

    Attributes:
        asked: what asks for it, for people.
        at: where that was written, if in a file.
    """

    pool: str
    size: int
    asked: str = ""
    at: SourceLoc | None = None
