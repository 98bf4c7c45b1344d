# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: what has been asked is never lost, and goes on where it ended.

The rows of a stage come in parts, each written whole or not at all; when the stage has ended, they
are one file in the order of their points, and the parts are gone.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path

import pyarrow as pa

from atoll.description.sweep import CONFIRMED, PLAN, Sweep
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.records import dataclass
from atoll.utils.files import require_writable, unwritable
from atoll_sweep.asker import CRASHED, KILLED, Row
from atoll_sweep.question import Question, question_of
from atoll_sweep.table import (
    SWEEP_KEY,
    damage_error,
    read_schema,
    read_tables,
    to_table,
    write_table,
)

MARKER, FIRST = "sweep.json", "results"
"""What tells the folder of a sweep, and the name of the table that has all its points."""

AGAIN = ("E041", "E070", "E077", "E092", "E100", "E111", KILLED, CRASHED)
"""What `--resume` asks again: a user's own code or a tool that failed, and what broke."""


@dataclass(frozen=True)
class Results:
    """The rows of one stage.

    Attributes:
        name: of its file: `FIRST`, or a later stage.
    """

    folder: Path
    name: str
    schema: pa.Schema

    def add(self, rows: Sequence[Row], question: Question) -> None:
        """Keep rows.

        Raises:
            UsageError: E092; they cannot be written.
        """
        parts = self._parts
        number = int(parts[-1].stem) + 1 if parts else 1
        self._part_folder.mkdir(parents=True, exist_ok=True)
        table = to_table(rows, question.sweep(), self.schema)
        write_table(self._part_folder / f"{number:06}.parquet", table)

    def finish(self) -> pa.Table:
        """Write all rows as one file, and return them."""
        table = self.table()
        write_table(self._whole, table)
        for path in self._parts:
            path.unlink()
        if self._part_folder.is_dir():
            self._part_folder.rmdir()
        return table

    def table(self) -> pa.Table:
        """Return all rows so far."""
        return read_tables(_files_in(self.folder, self.name), self.schema)

    @property
    def known(self) -> set[int]:
        """The points that need not be asked again."""
        table = self.table()
        rows = zip(*(table.column(name).to_pylist() for name in ("point", "status")), strict=True)
        return {point for point, status in rows if status not in AGAIN}

    @property
    def _whole(self) -> Path:
        return self.folder / f"{self.name}.parquet"

    @property
    def _part_folder(self) -> Path:
        return self.folder / f"{self.name}.parts"

    @property
    def _parts(self) -> list[Path]:
        return sorted(self._part_folder.glob("[0-9]*.parquet"))


@contextmanager
def hold(folder: Path, question: Question) -> Iterator[None]:
    """Take a folder that `require_folder` let pass, and keep others out until the block ends.

    The lock is on the marker, and ends with this process.

    Raises:
        UsageError: E092, it cannot be written; E246, another process is computing into it.
    """
    sweep = {"folder": question.folder, "sweep": json.loads(question.document)}
    text = json.dumps(_signs(question) | sweep, indent=2) + "\n"
    with ExitStack() as ends:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            marker = ends.enter_context((folder / MARKER).open("ab", buffering=0))
            _lock(marker)
            if not os.fstat(marker.fileno()).st_size:
                _fill(marker, text.encode())
        except BlockingIOError as fault:
            raise UsageError(
                "E246",
                f"another process is computing points into {folder}",
                remedy="wait until it has ended, or name another folder with -o",
            ) from fault
        except OSError as fault:
            raise unwritable(folder, fault) from fault
        require_writable(folder / f"{FIRST}.parquet", lambda _: True)
        yield


def _lock(marker: FileIO) -> None:
    """Lock a file, unless its disk knows no locks."""
    try:
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError as fault:
        if fault.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS):
            raise


def _fill(marker: FileIO, data: bytes) -> None:
    """Write a file, or leave it empty."""
    try:
        if marker.write(data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        with suppress(OSError):
            marker.truncate(0)
        raise


def require_folder(folder: Path, question: Question, *, resume: bool) -> None:
    """Refuse a folder that has something else.

    Raises:
        UsageError: E092, it is none; E246, it has other files, results of another sweep, or results
            of this one without `resume`.
    """
    marker = folder / MARKER
    if marker.is_file() and marker.stat().st_size:
        known, said = _marker_in(folder), _signs(question)
        if {key: known.get(key) for key in said} != said:
            raise UsageError(
                "E246",
                f"{folder} has results of another sweep, of other chips or networks, or of another"
                " version of Atoll",
                remedy="name another folder with -o",
            )
        if not resume:
            raise UsageError(
                "E246",
                f"{folder} has results of this sweep",
                remedy="go on with --resume, or name another folder with -o",
            )
        return
    try:
        others = folder.exists() and any(path.name != MARKER for path in folder.iterdir())
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    if others:
        raise UsageError(
            "E246",
            f"{folder} has files, and no sweep wrote them",
            remedy="name another folder with -o",
        )


def _signs(question: Question) -> dict[str, object]:
    return {
        "digest": question.digest,
        "version": question.version,
        "functions": sorted(question.functions),
    }


def require_unchanged(sweep: Sweep, folder: Path) -> None:
    """Refuse a sweep whose chips, networks or parts are others than when it was computed.

    Raises:
        UsageError: E246.
    """
    try:
        same = question_of(sweep, {}).digest == _marker_in(folder).get("digest")
    except AtollError:
        same = False
    if not same:
        raise UsageError(
            "E246",
            f"{folder} has figures of other files than the sweep names now",
            remedy="compute it again into another folder",
        )


def is_finished(folder: Path, later: Sequence[str]) -> bool:
    """Tell whether a folder has all that a sweep asks for, also in stages after the first one."""
    whole = all((folder / f"{name}.parquet").is_file() for name in (FIRST, *later))
    return whole and not any(folder.glob("*.parts"))


def document_in(folder: Path) -> tuple[str, Path]:
    """Return the sweep file whose results a folder has, and the folder of its paths.

    Raises:
        UsageError: E246; no sweep wrote there.
    """
    known = _marker_in(folder)
    try:
        return json.dumps(known["sweep"], indent=2), Path(str(known["folder"]))
    except (KeyError, TypeError) as fault:
        raise _no_sweep(folder) from fault


def tables_in(folder: Path) -> dict[str, pa.Table]:
    """Return the rows of all stages of which a folder has some, by the names of their files.

    Raises:
        UsageError: E246; it has none.
    """
    found, document = {}, json.loads(document_in(folder)[0])
    for name in (FIRST, PLAN, *CONFIRMED):
        if files := _files_in(folder, name):
            schema = read_schema(files[0])
            if json.loads(schema.metadata[SWEEP_KEY]) != document:
                raise damage_error(files[0])
            found[name] = read_tables(files, schema)
    if FIRST not in found:
        raise UsageError(
            "E246", f"{folder} has no points yet", remedy="go on with 'atoll sweep --resume'"
        )
    return found


def _files_in(folder: Path, name: str) -> list[Path]:
    """Return the table of a stage, and then its parts: of a point, the last row counts."""
    parts = sorted(folder.glob(f"{name}.parts/[0-9]*.parquet"))
    return [*folder.glob(f"{name}.parquet"), *parts]


def _marker_in(folder: Path) -> dict[str, object]:
    try:
        known = json.loads((folder / MARKER).read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise _no_sweep(folder) from fault
    return known if isinstance(known, dict) else {}


def _no_sweep(folder: Path) -> UsageError:
    return UsageError(
        "E246",
        f"{folder} has no results of a sweep",
        remedy="name a folder that 'atoll sweep' wrote",
    )
