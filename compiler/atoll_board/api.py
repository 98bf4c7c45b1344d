# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.write_bsp`."""

from collections.abc import Sequence
from pathlib import Path

from atoll.api.boards import BoardPackage
from atoll.artifacts.samples import Sample
from atoll.bsp.missing_driver import undriven_engines
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll.resolve.soc import ResolvedSoc
from atoll_board.package import Board, package_files, require_emitters
from atoll_board.uart import parse_uart
from atoll_board.writer import Written, require_same, write_package

__all__ = ["parse_uart", "require_emitters", "write_board"]


def write_board(
    soc: ResolvedSoc,
    compiled: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    folder: Path,
    *,
    only: Sequence[str],
    selftest: bool,
    serial: str | None,
    check: bool,
) -> BoardPackage:
    """Write a package, or `check` that one is the chip's."""
    uart = None if serial is None else parse_uart(serial)
    current()("writing the package")
    files = package_files(Board.of(soc, compiled, samples, selftest=selftest, uart=uart), only)
    if check:
        require_same(files, folder)
        done = Written(same=tuple(sorted(path for each in files.values() for path in each)))
    else:
        done = write_package(soc.name, files, folder)
    return BoardPackage(
        folder=folder,
        soc=soc.name,
        written=done.written,
        same=done.same,
        kept=done.kept,
        removed=done.removed,
        undriven=tuple(sorted({engine.spec.name for engine in undriven_engines(soc)})),
    )
