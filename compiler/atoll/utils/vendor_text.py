# SPDX-License-Identifier: Apache-2.0
"""Text of a vendor's file that a description names."""

from pathlib import Path

from atoll.diagnostics.errors import SourceLoc, UsageError

MOST_CHARACTERS = 2**20
"""What such a file may have; whoever parses it says so of a longer one."""


def vendor_text(path: Path, at: SourceLoc | None, remedy: str) -> str:
    """Return the text of a file, a little more than `MOST_CHARACTERS` of a longer one.

    Args:
        path: the file.
        at: where the description names it.
        remedy: what to name there instead.

    Raises:
        UsageError: E138; it cannot be read, or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            return stream.read(4 * MOST_CHARACTERS + 1).decode("utf-8-sig")
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
        raise UsageError("E138", f"cannot read '{path}': {reason}", at=at, remedy=remedy) from fault
