# SPDX-License-Identifier: Apache-2.0
"""Traces of runs and estimates, for Perfetto."""

from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.driver import Compiled
from atoll.api.runs import Run
from atoll.diagnostics.errors import UsageError
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import is_no_source, require_writable

_HEAD = 4096


def require_trace(path: Path | str | None, cpu: str = "") -> Path | None:
    """Return where a trace goes; refuse one that cannot be written, before the work it shows.

    Raises:
        UsageError: E090, E231; a package is missing; E091, another file is there; E092, the file
            cannot be written; E230, no clock runs where `cpu` plays the cores.
    """
    if path is None:
        return None
    if cpu == "native":
        raise UsageError(
            "E230",
            "a native core counts no cycles, by which a trace is laid out",
            remedy="leave --trace out, or use --cpu rtl, --cpu iss or --cpu qemu;"
            " atoll estimate --trace shows what cycles are expected",
        )
    function_of("atoll_trace.api:require_perfetto", "trace")()
    require_writable(Path(path), _is_no_text)
    return Path(path)


def require_clock(path: Path | str | None, cpu: str, soc: ResolvedSoc) -> None:
    """Refuse a trace of a chip whose code QEMU runs on a machine that is not the chip.

    Raises:
        UsageError: E230.
    """
    if path is not None and cpu == "qemu" and not soc.qemu_machine:
        raise UsageError(
            "E230",
            f"QEMU counts no cycles of '{soc.name}', which is none of its machines",
            remedy="leave --trace out, or use another --cpu that 'atoll check' says plays the chip;"
            " atoll estimate --trace shows what cycles are expected",
        )


def _is_no_text(path: Path) -> bool:
    try:
        getincrementaldecoder("utf-8")().decode(path.read_bytes()[:_HEAD])
    except UnicodeDecodeError:
        return is_no_source(path)
    return False


def write_run_trace(path: Path | None, compiled: Sequence[Compiled], found: Run) -> None:
    """Write the trace of a run, if one is requested."""
    if path is not None:
        documents = [each.to_json() for each in found]
        basis = found.networks[0].total_cycles_basis
        function_of("atoll_trace.api:write_run", "trace")(path, compiled, documents, basis)


def write_estimate_trace(
    path: Path, compiled: Sequence[Compiled], documents: Sequence[Mapping[str, Any]]
) -> None:
    """Write the trace of an estimate, of which `documents` are the JSON."""
    function_of("atoll_trace.api:write_estimate", "trace")(path, compiled, documents)
