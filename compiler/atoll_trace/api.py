# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `trace=` of `atoll.run`, `atoll.simulate` and `atoll.estimate`."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from atoll.diagnostics.errors import UsageError
from atoll.driver.compiled import Compiled
from atoll.utils.files import write_bytes
from atoll_trace.content import Document, draw_estimate, draw_run


def require_perfetto() -> None:
    """Refuse a trace where the package is missing that has its format.

    Raises:
        UsageError: E231.
    """
    if find_spec("perfetto") is None:
        raise UsageError(
            "E231",
            "a trace needs the package 'perfetto', which is not installed",
            remedy="install it with: pip install 'atoll[trace]'",
        )


def write_run(
    path: Path, compiled: Sequence[Compiled], documents: Sequence[Document], basis: str
) -> None:
    """Write a trace of a run."""
    _write(path, draw_run(tuple(zip(compiled, documents, strict=True)), basis))


def write_estimate(path: Path, compiled: Sequence[Compiled], documents: Sequence[Document]) -> None:
    """Write a trace of an estimate."""
    _write(path, draw_estimate(tuple(zip(compiled, documents, strict=True))))


def _write(path: Path, drawing: Any) -> None:
    require_perfetto()
    from atoll_trace.perfetto_file import encode

    write_bytes(path, encode(drawing))
