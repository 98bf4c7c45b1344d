# SPDX-License-Identifier: Apache-2.0
"""Read the bytes of a model file."""

import stat
from pathlib import Path

from atoll.diagnostics.errors import ModelError

GREATEST_FILE = 64 * 2**20


def file_bytes(path: Path, suffix: str) -> bytes:
    """Return what is in a model file.

    Args:
        path: of the file.
        suffix: what files of its format end with, for the remedy.

    Raises:
        ModelError: E050, the file is unreadable or too large.
    """
    remedy = f"give the path of a readable {suffix} file"
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise ModelError("E050", "is not a regular file", remedy=remedy)
        data = path.read_bytes() if status.st_size <= GREATEST_FILE else b""
    except OSError as fault:
        raise ModelError("E050", f"cannot be read: {fault.strerror}", remedy=remedy) from fault
    if status.st_size > GREATEST_FILE:
        message = f"has {status.st_size} bytes, the greatest size is {GREATEST_FILE}"
        raise ModelError("E050", message, remedy="give a smaller model, for a microcontroller")
    return data
