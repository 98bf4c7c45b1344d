# SPDX-License-Identifier: Apache-2.0
"""Names in the order in which people count."""

import re
from functools import lru_cache


@lru_cache(maxsize=1024)
def natural(name: str) -> tuple[tuple[str | int, ...], str]:
    """Return a sort key under which ``npu2`` comes before ``npu10``."""
    parts = re.split(r"([0-9]+)", name)
    return tuple(int(part) if part.isdigit() else part for part in parts), name
