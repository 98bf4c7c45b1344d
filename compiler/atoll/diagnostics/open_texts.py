# SPDX-License-Identifier: Apache-2.0
"""Texts of files that are open in an editor: they count, not what is on disk."""

import os
from collections.abc import Mapping
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType

OPEN_TEXTS: ContextVar[Mapping[Path, str]] = ContextVar("OPEN_TEXTS", default=MappingProxyType({}))
"""By absolute path."""


def open_text(path: Path) -> str | None:
    """Return the text of a file as an editor has it, None if none has it open."""
    texts = OPEN_TEXTS.get()
    return texts.get(Path(os.path.normpath(path.absolute()))) if texts else None
