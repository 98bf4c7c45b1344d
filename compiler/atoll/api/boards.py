# SPDX-License-Identifier: Apache-2.0
"""Board support packages for a firmware team."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.compilation import Compilation
from atoll.api.notebook import Row, html_table
from atoll.api.samples import Samples, samples_for
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardPackage:
    """A board support package on disk, and what became of its files.

    Attributes:
        written: paths of files that are new or changed.
        same: paths of files that were as they should be.
        kept: paths of the user's files that were there.
        removed: paths of files that no emitter makes any more.
        undriven: accelerators of which nothing says how they are driven.
    """

    folder: Path
    soc: str
    written: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    undriven: tuple[str, ...] = ()

    def rows(self) -> list[Row]:
        """Return the files, each with what became of it."""
        return [{"path": path, "file": state} for state in _STATES for path in getattr(self, state)]

    def summary(self) -> str:
        """Say in one line what became of the files."""
        counts = ((len(getattr(self, state)), word) for state, word in _STATES.items())
        return ", ".join(f"{count} {word}" for count, word in counts if count)

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll bsp --json`` prints."""
        files = {state: list(getattr(self, state)) for state in _STATES}
        return {"folder": str(self.folder), "soc": self.soc, **files}

    def _repr_html_(self) -> str:
        return html_table(str(self.folder), self.rows())


_STATES = {"written": "written", "same": "as they were", "kept": "yours", "removed": "removed"}
"""What became of files, and the word for people."""


def write_bsp(
    soc: SocSource,
    folder: Path | str,
    *,
    networks: Compilation | None = None,
    samples: Samples = None,
    only: Sequence[str] = (),
    selftest: bool = False,
    serial: str | None = None,
    check: bool = False,
) -> BoardPackage:
    """Write a board support package: generated files, and those that are the user's from then on.

    Args:
        soc: the chip, or what `load_soc` takes.
        folder: of the package.
        networks: that its firmware runs.
        samples: of them, as in `run`; the first one is the example's.
        only: names of the emitters that run; none for all.
        selftest: add a self-test of the chip.
        serial: the UART, such as ``"ns16550@0x10000000"``, over which an image beside the
            application serves `run_on_board`; None adds none.
        check: write nothing, and refuse a folder whose files are not the chip's.

    Raises:
        UsageError: E090, the package `atoll_board` is missing; E094, there is no such emitter;
            E270, there is no such UART; E092, the folder cannot be written.
        AtollError: the files are not the chip's; a tool is missing or failed.
    """
    write = function_of("atoll_board.api:write_board", "write_bsp")
    compiled = networks._compiled if networks else ()
    found: BoardPackage = write(
        load_soc(soc)._resolved,
        compiled,
        samples_for(compiled, samples) if compiled else (),
        Path(folder),
        only=only,
        selftest=selftest,
        serial=serial,
        check=check,
    )
    return found
