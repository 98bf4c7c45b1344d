# SPDX-License-Identifier: Apache-2.0
"""Do with every core that ships all that can be done with it, and print what came of it.

Run as ``python -m benchmarks.cores NETWORK.tflite...``. The core runs the whole network, on the
chip `lagoon` without its accelerator, and on a machine of QEMU of `examples/08_qemu_machines`.
Every byte of every layer is held against the reference. Sizes, bounds and counts are the same on
every machine with the same tools.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.bsp.toolchain import TOOLCHAINS
from atoll.cli.output import as_command
from atoll.cli.working import show_work
from atoll.description.core_files import find_core, known_cores, load_core
from atoll.diagnostics.progress import Progress
from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import Vectors
from atoll.utils.scratch import temporary_folder
from benchmarks.core_cells import COLUMNS, Cell, Row

NETWORKS = [Path(__file__).parents[1] / "examples" / "01_digits" / "digits_int8.tflite"]
UNITS = {"instructions": "instr.", "cycles": "cycles"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A row with its cells, by column."""

    core: str
    isa: str
    network: str
    cells: Mapping[str, Cell]

    def as_json(self) -> dict[str, object]:
        """Return the row for programs."""
        cells = {column: cell.as_json() for column, cell in self.cells.items()}
        return {"core": self.core, "isa": self.isa, "network": self.network, "cells": cells}


def pairs(cores: Sequence[str], *, every: bool = False) -> Iterator[tuple[str, str]]:
    """Yield each core with the instruction sets that it has, or the usual one of each width.

    With vectors of RISC-V there is another usual one.

    Raises:
        AtollError: there is no such core.
    """
    for core in cores or known_cores():
        kinds = set()
        for isa in load_core(find_core(core, "", Path(), None), None).model.isas:
            instructions = instruction_set(isa)
            kind = instructions.bits, instructions.vectors is Vectors.RVV
            if every or kind not in kinds:
                yield core, isa
            kinds.add(kind)


def measure(
    networks: Sequence[Path],
    rows: Sequence[tuple[str, str]],
    columns: Mapping[str, str],
    tell: Progress,
    toolchain: str | None = None,
) -> Iterator[Measured]:
    """Yield row after row of each network; `toolchain` is as in `Row`."""
    for network in networks:
        for core, isa in rows:
            with temporary_folder() as folder:
                row = Row(core, isa, network, folder, toolchain)
                cells = dict(zip(columns, row.cells(columns, tell), strict=True))
            yield Measured(core=core, isa=isa, network=network.stem, cells=cells)


def markdown(rows: Sequence[Measured]) -> Iterator[str]:
    """Yield the lines of a table for each network, and of one of the cells that do not exist."""
    for network in dict.fromkeys(row.network for row in rows):
        mine = [row for row in rows if row.network == network]
        columns = [COLUMNS[column] for column in mine[0].cells]
        yield from ("", f"## {network}", "")
        yield _line([*("core", "instruction set"), *columns])
        yield _line(["---"] * (2 + len(columns)))
        for row in mine:
            yield _line([f"`{row.core}`", row.isa, *map(cell_text, row.cells.values())])
    reasons = _reasons(rows)
    if reasons:
        yield from ("", "## Cells that do not exist", "")
        yield from (_line(["code", "cells", "the program says"]), _line(["---"] * 3))
        for (code, message), cells in sorted(reasons.items()):
            yield _line([code, ", ".join(dict.fromkeys(cells)), message])


def cell_text(cell: Cell) -> str:
    """Return what a table says of a cell."""
    if cell.fault:
        return cell.fault.code if cell.good else f"**fails: {cell.fault.code}**"
    sizes = [f"{cell.numbers[name]:,}" for name in cell.numbers if name.endswith("_bytes")]
    counts = [
        f"{cell.numbers[name]:,} {unit}" for name, unit in UNITS.items() if name in cell.numbers
    ]
    ran = {None: [], True: ["equal"], False: ["**differs**"]}[cell.equal]
    place = [cell.where] if cell.where not in ("", "rtl") else []
    return ", ".join([*([" + ".join(sizes)] if sizes else []), *ran, *counts, *place])


def _reasons(rows: Sequence[Measured]) -> Mapping[tuple[str, str], list[str]]:
    """Return the cells without anything by code and message."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for column, cell in row.cells.items():
            if cell.fault:
                key = (cell.fault.code, cell.fault.message.splitlines()[0])
                found.setdefault(key, []).append(f"`{row.core}` {COLUMNS[column]}")
    return found


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main(words: Sequence[str] | None = None) -> int:
    """Print tables in Markdown, or JSON; the status is 1 if a cell is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", type=Path, default=NETWORKS, metavar="NETWORK")
    parser.add_argument("--core", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--all", action="store_true", help="all instruction sets of each core")
    parser.add_argument(
        "--only", nargs="+", choices=COLUMNS, default=[*COLUMNS], help="only these columns"
    )
    parser.add_argument("--toolchain", choices=TOOLCHAINS, help="instead of each core's own")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(words)
    columns = {name: title for name, title in COLUMNS.items() if name in arguments.only}
    chosen = list(pairs(arguments.core, every=arguments.all))
    with show_work("looking for cores") as tell:
        rows = list(measure(arguments.networks, chosen, columns, tell, arguments.toolchain))
    if arguments.json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    else:
        print(*markdown(rows), sep="\n")
    return 0 if all(cell.good for row in rows for cell in row.cells.values()) else 1


if __name__ == "__main__":
    sys.exit(as_command(main))
